"""Passages -> numbered sentences for a prompt, and lines that cite the numbers -> drafts."""

from collections.abc import Iterator, Sequence

from bythebook.adapters.providers.agents.replies.line_reader import WrittenLine
from bythebook.adapters.providers.agents.roles.fence import format_heading
from bythebook.adapters.providers.agents.roles.guardrails import Neutralize
from bythebook.domain.answers import Draft, Passage
from bythebook.domain.books import Unit


class NumberedSentences:
    """The units of passages, numbered from 1 over all of them: the least that a line may cite."""

    def __init__(self, passages: Sequence[Passage], question: str, neutralize: Neutralize) -> None:
        self._units: list[tuple[Passage, Unit]] = []
        self.text = "\n".join(
            line for passage in passages for line in self._write(passage, question, neutralize)
        )

    def drafts(self, line: WrittenLine) -> Iterator[Draft]:
        """Yield a line with the quotes that it rests on; numbers alone stand for their sentences.

        Unknown numbers are dropped, and a quote is exact since the book is what is copied.
        """
        cited = [self._units[n - 1] for n in line.numbers if 0 < n <= len(self._units)]
        quotes = tuple((passage, _words(passage, unit)) for passage, unit in cited)
        if line.text:
            yield Draft(line.text, quotes)
        else:
            for (_, unit), quote in zip(cited, quotes, strict=True):
                yield Draft(quote[1], (quote,), unit.kind)

    def _write(self, passage: Passage, question: str, neutralize: Neutralize) -> Iterator[str]:
        """Write a passage under its heading; a unit that is only an order to a model is left out."""
        yield from filter(
            None, (format_heading(passage), neutralize(passage.chunk.header, question))
        )
        for unit in passage.chunk.units:
            if text := neutralize(_words(passage, unit), question).strip():
                self._units.append((passage, unit))
                yield f"[{len(self._units)}] {text}"


def _words(passage: Passage, unit: Unit) -> str:
    return passage.chunk.text[unit.start : unit.end]
