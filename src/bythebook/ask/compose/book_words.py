"""Verified sentences of a model -> the book's own sentences that they rest on.

No check tells every false wording near to a true one: a swapped noun, a turned role, a "may" for a "must not". So
a model chooses what to say and in which order, and the book says it.
"""

from collections.abc import Iterator, Sequence

from bythebook.ask.compose.trim import MOST_QUOTE, place_of
from bythebook.ask.guard import neutral
from bythebook.domain.answers import Citation, Evidence, Sentence
from bythebook.domain.books import Unit

# Of the chance to answer, which the judge shares among units: on pages held back, all but 2 in 100 sentences that
# answer have as much, and of the others not half.
LEAST_CHANCE = 0.003


class BookWords:
    """The sentences of one answer, each only once."""

    def __init__(self, question: str, evidence: Sequence[Evidence], most: int | None) -> None:
        self._question = question
        self._bearing = {place_of(one) for one in evidence if one.support >= LEAST_CHANCE}
        self._most = most
        self._said: set[tuple[str, int]] = set()

    def of(self, sentence: Sentence) -> Iterator[Sentence]:
        """Yield the whole units that a sentence quotes, if they are relevant to the question.

        Orders to the answering model are left out unless the question asks for such orders.
        """
        for citation in sentence.citations:
            for unit in _find_quoted_units(citation):
                place = citation.passage.chunk.chunk_id, unit.start
                full = self._most is not None and len(self._said) >= self._most
                shown = _cite(citation, unit)
                fresh = place in self._bearing and place not in self._said
                if fresh and not full and self._may_show(shown.quote):
                    self._said.add(place)
                    yield Sentence(shown.quote, (shown,), unit.kind)

    def _may_show(self, quote: str) -> bool:
        return neutral(quote, self._question) == quote


def _find_quoted_units(citation: Citation) -> Iterator[Unit]:
    """Return the units that a quote is in."""
    chunk = citation.passage.chunk
    start, end = citation.char_start - chunk.char_start, citation.char_end - chunk.char_start
    return (unit for unit in chunk.units if unit.start < end and start < unit.end)


def _cite(citation: Citation, unit: Unit) -> Citation:
    """Quote a whole unit; of a unit that is too long, only what was quoted of it."""
    chunk = citation.passage.chunk
    start, end = unit.start, unit.end
    if end - start > MOST_QUOTE:
        start = max(start, citation.char_start - chunk.char_start)
        end = min(end, citation.char_end - chunk.char_start, start + MOST_QUOTE)
    text = chunk.text[start:end]
    return Citation(citation.passage, text, chunk.char_start + start, chunk.char_start + end)
