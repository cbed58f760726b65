"""All words of a book in one row, with the documents that they stand in."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bythebook.cite.words import Runs, find_words, hash_run, hash_words
from bythebook.domain.books import DocumentText


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a document's text."""

    document_id: str
    start: int
    end: int


class WordRow:
    """The words of a book; a run never crosses from one document into the next."""

    def __init__(self, documents: Iterable[DocumentText]) -> None:
        self.documents = list(documents)
        self.numbers = {one.document_id: number for number, one in enumerate(self.documents)}
        starts: list[int] = []
        ends: list[int] = []
        hashes: list[int] = []
        firsts: list[int] = []
        for number, document in enumerate(self.documents):
            firsts.append(len(hashes))
            spans = find_words(document.text)
            starts += [start for start, _ in spans]
            ends += [end for _, end in spans]
            hashes += hash_words(document.text, spans)
            starts.append(-1)
            ends.append(-1)
            hashes.append(number)  # an end that no words equal
        self._firsts = np.array(firsts, np.int64)
        self._starts, self._ends = np.array(starts, np.int64), np.array(ends, np.int64)
        self.hashes = np.array(hashes, np.uint64)
        self.runs = Runs(self.hashes)

    def find(self, run: int, count: int) -> list[int]:
        """Return the places of a run of words, given by its hash."""
        return [int(at) for at in np.flatnonzero(self.runs.of(count) == np.uint64(run))]

    def has(self, at: int, run: int, count: int) -> bool:
        """Return True if a run of words begins at a place."""
        if at < 0 or at + count > len(self.hashes):
            return False
        return hash_run(int(one) for one in self.hashes[at : at + count]) == run

    def document_of(self, at: int) -> DocumentText:
        """Return the document that the word at a place is in."""
        return self.documents[int(np.searchsorted(self._firsts, at, side="right")) - 1]

    def start_of(self, at: int) -> int:
        """Return where the word at a place begins in its document."""
        return int(self._starts[at])

    def place_of(self, at: int, count: int) -> Place:
        """Return the span of a run of words in its document's text."""
        document = self.document_of(at)
        return Place(document.document_id, int(self._starts[at]), int(self._ends[at + count - 1]))

    def text_of(self, at: int, count: int) -> str:
        """Return the words of a run as they are written."""
        place = self.place_of(at, count)
        return self.document_of(at).text[place.start : place.end]

    def around(self, at: int, end: int) -> tuple[int, int]:
        """Cut a span of words to the document that its middle is in."""
        middle = min(max((at + end) // 2, 0), max(len(self.hashes) - 1, 0))
        number = int(np.searchsorted(self._firsts, middle, side="right")) - 1
        first = int(self._firsts[number])
        last = int(self._firsts[number + 1]) if number + 1 < len(self._firsts) else len(self.hashes)
        return max(at, first), min(end, last - 1)
