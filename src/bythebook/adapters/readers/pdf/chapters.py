"""Cuts a book into chapters: each becomes a document."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.pdf.elements import Element, write
from bythebook.adapters.readers.pdf.words import Vocabulary

_PART = re.compile(r"(?:part|teil|book)\s+(?:[ivxlc]+|\d+|one|two|three|four|five|six)\b", re.I)
_COUNTED = re.compile(r"(?:(?:chapter|part|appendix)\b|\d+[.:]?\s)", re.I)
_FEW = 3
_PAGES_A_PIECE = 20
_SHORT_BOOK = 0.9  # pages to a heading: closer ones are no chapters
_LONGEST_NAME = 60
FRONT = "Front matter"


@dataclass(slots=True)
class Chapter:
    """Elements that make one document."""

    title: str
    part: str = ""  # the part of the book it belongs to, where that is more than itself
    level: int = 1  # of its own heading
    elements: list[Element] = field(default_factory=list)

    @property
    def first_page(self) -> int:
        """The page that it begins on."""
        return self.elements[0].first_page if self.elements else 0


def cut(
    elements: Sequence[Element], vocabulary: Vocabulary, *, outlined: bool, title: str
) -> list[Chapter]:
    """Cut at the headings of the level that makes sensible documents."""
    level = _level(elements, outlined=outlined)
    if level is None:
        return list(_by_pages(elements, title))
    chapters: list[Chapter] = []
    part = ""
    for element in elements:
        if element.kind == "heading" and element.level <= level:
            name = write(element, vocabulary).text
            part = name if element.level < level else part
            chapters.append(Chapter(name, part, element.level))
        elif not chapters:
            chapters.append(Chapter(FRONT, level=level))
        chapters[-1].elements.append(element)
    return _without_empty_parts(chapters)


def slug(title: str) -> str:
    """Write a title as a name for files and addresses."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return name[:_LONGEST_NAME].rstrip("-")


def _level(elements: Sequence[Element], *, outlined: bool) -> int | None:
    headings = [element for element in elements if element.kind == "heading"]
    counts = Counter(element.level for element in headings)
    if outlined and headings:
        return _outline_level(headings, counts)
    pages = len({element.first_page for element in elements})
    for level in sorted(counts):
        named = sum(
            bool(_COUNTED.match(element.plain())) for element in headings if element.level == level
        )
        if counts[level] > 1 and (
            2 * named >= counts[level] or pages >= _SHORT_BOOK * counts[level]
        ):
            return level
    return None


def _outline_level(headings: Sequence[Element], counts: Counter[int]) -> int:
    """Go one deeper where the top level has but a few entries, or parts."""
    named = [element for element in headings if element.title]
    counts = Counter(element.level for element in named)
    top = min(counts)
    parts = sum(_PART.match(element.title) is not None for element in named if element.level == top)
    deeper = counts[top + 1] >= max(_FEW, counts[top] + 1)
    return top + 1 if deeper and (counts[top] < _FEW or 2 * parts >= counts[top]) else top


def _by_pages(elements: Sequence[Element], title: str) -> Iterator[Chapter]:
    """Cut a book without chapters every so many pages."""
    pages = sorted({element.first_page for element in elements})
    if not pages:
        return
    if pages[-1] - pages[0] < 1.5 * _PAGES_A_PIECE:
        yield Chapter(title, elements=list(elements))
        return
    pieces: dict[int, Chapter] = {}
    for element in elements:
        piece = element.first_page // _PAGES_A_PIECE
        if piece not in pieces:
            first = piece * _PAGES_A_PIECE + 1
            last = min(first + _PAGES_A_PIECE - 1, pages[-1] + 1)
            pieces[piece] = Chapter(f"Pages {first}–{last}")
        pieces[piece].elements.append(element)
    yield from pieces.values()


def _without_empty_parts(chapters: Sequence[Chapter]) -> list[Chapter]:
    """Leave out a part's own document if there is nothing in it but its name."""
    kept = []
    for number, chapter in enumerate(chapters):
        following = chapters[number + 1] if number + 1 < len(chapters) else None
        if len(chapter.elements) == 1 and following and following.level > chapter.level:
            following.elements.insert(0, chapter.elements[0])
            continue
        kept.append(chapter)
    return kept
