"""Verified sentences of a model -> the book's own sentences that they rest on.

No check tells every false wording near to a true one: a swapped noun, a turned role, a "may" for a "must not". So
a model chooses what to say and in which order, and the book says it.
"""

from collections.abc import Iterator, Sequence

from bythebook.ask.compose.trim import MOST_CHARACTERS, split_for_quotes
from bythebook.ask.guard import neutralize
from bythebook.domain.answers import Citation, Draft, Evidence, Passage, Sentence
from bythebook.domain.books import Unit

# Of the chance to answer, which the judge shares among units: on pages held back, all but 2 in 100 sentences that
# answer have as much, and of the others not half.
LEAST_CHANCE = 0.003
# A sentence that the judge rates as high answers by itself, whatever a model says of it.
SURE_CHANCE = 0.1


class BookWords:
    """The sentences of one answer, each only once."""

    def __init__(self, question: str, evidence: Sequence[Evidence], most: int | None) -> None:
        self._question = question
        self._bearing = {
            (one.passage.chunk.chunk_id, one.unit.start)
            for one in evidence
            if one.support >= LEAST_CHANCE
        }
        self._sure = {
            (one.passage.chunk.chunk_id, one.quote): one.unit.kind
            for one in evidence
            if one.support >= SURE_CHANCE
        }
        self._most = most
        self._room = MOST_CHARACTERS
        self._said: set[tuple[str, int]] = set()

    def choose(self, draft: Draft) -> Iterator[Draft]:
        """Yield the cited sentences that surely answer, in place of a line's wording, which is not shown."""
        chosen = [
            Draft(quote, ((passage, quote),), kind)
            for passage, quote in draft.quotes
            if (kind := self._sure.get((passage.chunk.chunk_id, quote)))
        ]
        yield from chosen or (draft,)

    def of(self, sentence: Sentence) -> Iterator[Sentence]:
        """Yield the whole units that a sentence quotes, if they are relevant to the question.

        Orders to the answering model are left out unless the question asks for such orders.
        """
        for citation in sentence.citations:
            for unit in _find_quoted_units(citation):
                place = citation.passage.chunk.chunk_id, unit.start
                full = self._most is not None and len(self._said) >= self._most
                words = citation.passage.chunk.text[unit.start : unit.end]
                fresh = place in self._bearing and place not in self._said
                if fresh and not full and self._may_show(words):
                    self._said.add(place)
                    self._room -= len(words)
                    yield Sentence(words, tuple(_cite(citation.passage, unit)), unit.kind)

    def _may_show(self, words: str) -> bool:
        return len(words) <= self._room and neutralize(words, self._question) == words


def _find_quoted_units(citation: Citation) -> Iterator[Unit]:
    """Return the units that a quote is in."""
    chunk = citation.passage.chunk
    start, end = citation.char_start - chunk.char_start, citation.char_end - chunk.char_start
    return (unit for unit in chunk.units if unit.start < end and start < unit.end)


def _cite(passage: Passage, unit: Unit) -> Iterator[Citation]:
    """Quote a whole unit, a long one piece by piece."""
    chunk, at = passage.chunk, unit.start
    for piece in split_for_quotes(chunk.text[unit.start : unit.end]):
        start = chunk.text.index(piece, at)
        at = start + len(piece)
        yield Citation(passage, piece, chunk.char_start + start, chunk.char_start + at)
