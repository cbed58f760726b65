"""Verified sentences -> text with numbered footnotes, piece by piece, so that it can be streamed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from bythebook.ask.show import answer_text, permalink, quote_link
from bythebook.domain.answers import HEAD_ROW, Citation, Sentence

_BLOCK = re.compile(r"\n\n\[1\] (?=\[|“)")  # where the footnotes begin
_MARKER = re.compile(r"[ \n]*\[\d{1,3}\](?=[ \n]|\[|$)")
_OWN_LINE = frozenset({"code", "formula"})


@dataclass(frozen=True, slots=True)
class NotedQuote:
    """A citation, under its number if its sentence answers, and the span of the text that it supports."""

    number: int | None  # None: the sentence is the context of one that answers
    sentence: int
    citation: Citation
    link: str
    permalink: str
    start: int
    end: int


@dataclass(slots=True)
class FootnotedText:
    """Writes an answer with numbers after the sentences that answer, and the footnotes at its end."""

    reader_url: str
    text: str = ""
    quotes: list[NotedQuote] = field(default_factory=list)
    _sentences: tuple[Sentence, ...] = ()
    _numbers: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def open(self, disclaimer: str | None) -> str:
        """Begin with the disclaimer, if there is one."""
        return self._append(f"{disclaimer} " if disclaimer else "")

    def add(self, sentence: Sentence) -> str:
        """Write the next sentence, with its separator and the numbers of its footnotes."""
        before = len(answer_text(self._sentences))
        index = len(self._sentences)
        self._sentences = (*self._sentences, sentence)
        words = answer_text(self._sentences)[before:]
        start = len(self.text) + len(words) - len(words.lstrip())
        numbers = [self._number(one) if sentence.key else None for one in sentence.citations]
        piece = self._append(words + _mark(sentence, filter(None, dict.fromkeys(numbers))))
        self.quotes += [
            NotedQuote(
                number,
                index,
                one,
                quote_link(one, self.reader_url),
                permalink(one, self.reader_url) or "",
                start,
                len(self.text),
            )
            for number, one in zip(numbers, sentence.citations, strict=True)
        ]
        return piece

    def close(self) -> str:
        """Write the footnotes: where each quote stands, and its words where the answer has others."""
        first = {one.number: one for one in reversed(self.quotes) if one.number}
        lines = (self._footnote(first[number]) for number in sorted(first))
        return self._append("".join(f"\n\n{line}" for line in lines))

    def _footnote(self, noted: NotedQuote) -> str:
        quote = " ".join(noted.citation.quote.split())
        own = " ".join(self._sentences[noted.sentence].text.split())
        shown = "" if quote in own else f"“{quote}” "
        name = re.sub(r"([\[\]\\])", r"\\\1", noted.citation.place or "The book")
        link = noted.link.replace("(", "%28").replace(")", "%29")
        return f"[{noted.number}] {shown}[{name}]({link})"

    def _number(self, citation: Citation) -> int:
        place = citation.passage.chunk.chunk_id, citation.char_start, citation.char_end
        return self._numbers.setdefault(place, len(self._numbers) + 1)

    def _append(self, piece: str) -> str:
        self.text += piece
        return piece


def _mark(sentence: Sentence, numbers: Iterable[int]) -> str:
    """Write the numbers after a sentence; code, formulas and the rule below a head row must stay whole."""
    marks = "".join(f"[{number}]" for number in numbers)
    if sentence.mark == HEAD_ROW or not marks:
        return ""
    return f"\n\n{marks}" if sentence.kind in _OWN_LINE else f" {marks}"


def remove_footnotes(text: str) -> str:
    """Return an answer without its footnotes and their numbers."""
    block = _BLOCK.search(text)
    return _MARKER.sub("", text[: block.start()] if block else text)
