"""Documents folded to letters and digits, to search them for a reader's selection."""

import threading
import unicodedata
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from bythebook.domain.books import Book, Document
from bythebook.ports import Library

MOST_KEPT = 40_000_000  # characters of folded books
_MOST_FOLDS = 20_000  # characters whose folding is remembered
_STEP = 20_000  # characters that are folded in one go, during which no other thread runs
_FARTHEST = 2_000  # folded characters between two lines of one selection


class _Folds(dict[int, str | None]):
    """The folded form of each character by itself, so that places in a text stay known."""

    def __missing__(self, code: int) -> str | None:
        plain = unicodedata.normalize("NFKD", chr(code)).casefold()
        kept = filter(_tells, unicodedata.normalize("NFKD", plain))
        folded = "".join(kept) or None
        if len(self) < _MOST_FOLDS:
            self[code] = folded
        return folded


def _tells(letter: str) -> bool:
    """Return True if a character is more than typography; vowel signs are, accents are not."""
    is_mark = unicodedata.category(letter)[0] == "M"
    return letter.isalnum() or (is_mark and not unicodedata.combining(letter))


_FOLDS = _Folds()


def fold(text: str) -> str:
    """Reduce a text to its letters and digits, without case, accents and typographic forms."""
    parts = (text[at : at + _STEP].translate(_FOLDS) for at in range(0, len(text), _STEP))
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class FoldedPage:
    """A document's folded text, and where its sections begin in it and in the plain text."""

    document_id: str
    text: str
    starts: tuple[int, ...]  # of sections in the folded text; the first at 0
    bounds: tuple[int, ...]  # of sections in the plain text: each one's start, then the end
    paths: tuple[tuple[str, ...], ...]
    bare: tuple[bool, ...]  # sections that have only a heading

    @classmethod
    def of(cls, document: Document) -> "FoldedPage":
        """Fold a document section by section."""
        later = [section.start for section in document.sections[1:]]
        bounds = (0, *later, len(document.text))
        parts = [fold(document.text[start:end]) for start, end in pairwise(bounds)]
        starts = tuple(accumulate(map(len, parts[:-1]), initial=0))
        paths = tuple(section.path for section in document.sections) or ((),)
        titled = Counter[int]()
        for block in document.blocks:
            if block.kind == "heading":
                place = bisect_right(bounds, block.start, hi=len(parts)) - 1
                titled[place] += len(fold(document.text[block.start : block.end]))
        bare = tuple(len(part) <= titled[place] for place, part in enumerate(parts))
        return cls(document.document_id, "".join(parts), starts, bounds, paths, bare)

    def find(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Return the bounds of the innermost section that holds folded lines, one after another."""
        at = self.text.find(lines[0])
        while at >= 0:
            end = self._follow(lines[1:], at + len(lines[0]))
            if end is not None:
                return self._around(self._section_at(at), self._section_at(end - 1))
            at = self.text.find(lines[0], at + 1)
        return None

    def _follow(self, lines: Sequence[str], end: int) -> int | None:
        for line in lines:
            at = self.text.find(line, end, end + _FARTHEST + len(line))
            if at < 0:
                return None
            end = at + len(line)
        return end

    def _section_at(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def _around(self, first: int, last: int) -> tuple[int, int]:
        """Return the section under the heading that is above all of several sections.

        A heading without text of its own stands for everything below it.
        """
        if first < last or self.bare[first]:
            depth = _depth_above(self.paths[first : last + 1])
            if depth < 1:
                return self.bounds[0], self.bounds[-1]
            while first > 0 and len(self.paths[first]) > depth:
                first -= 1
            while last + 1 < len(self.paths) and len(self.paths[last + 1]) > depth:
                last += 1
        return self.bounds[first], self.bounds[last + 1]


def _depth_above(paths: Sequence[tuple[str, ...]]) -> int:
    """Count the headings above all of several sections in a row."""
    shared = next(
        (depth for depth, titles in enumerate(zip(*paths, strict=False)) if len(set(titles)) > 1),
        min(map(len, paths)),
    )
    return min([shared, *(len(path) - 1 for path in paths[1:])])  # the same title may occur again


class FoldedShelf:
    """Books folded once per generation; the least recently used are dropped."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[tuple[int, str], _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._folding: dict[tuple[int, str], threading.Lock] = {}

    def pages(self, library: Library, book: Book) -> Sequence[FoldedPage]:
        """Return the pages of a book in reading order."""
        known = self._find(library, book)
        if known is not None:
            return known
        name = (id(library), book.book_id)
        with self._lock:
            turn = self._folding.setdefault(name, threading.Lock())
        try:
            with turn:  # a book is folded once, however many wait
                return self._find(library, book) or self._fold(library, book)
        finally:
            with self._lock:
                self._folding.pop(name, None)

    def _find(self, library: Library, book: Book) -> Sequence[FoldedPage] | None:
        name = (id(library), book.book_id)
        with self._lock:
            known = self._kept.get(name)
            if not known or known.library is not library or known.generation != book.generation:
                return None
            self._kept.move_to_end(name)
            return known.pages

    def _fold(self, library: Library, book: Book) -> Sequence[FoldedPage]:
        name = (id(library), book.book_id)
        pages = tuple(map(FoldedPage.of, library.documents(book.book_id)))
        with self._lock:
            self._kept[name] = _Kept(library, book.generation, pages)
            self._kept.move_to_end(name)
            self._let_go()
        return pages

    def _let_go(self) -> None:
        """Keep the last book used, however large, and as many others as there is room for."""
        latest, *others = reversed(self._kept)
        room = self._most_kept - self._kept[latest].size
        for name in others:
            room -= self._kept[name].size
            if room < 0:
                del self._kept[name]


@dataclass(frozen=True, slots=True)
class _Kept:
    library: Library  # kept alive, so that its id is not reused
    generation: str
    pages: Sequence[FoldedPage]

    @property
    def size(self) -> int:
        """Count the characters."""
        return sum(len(page.text) for page in self.pages)
