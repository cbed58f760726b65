"""Cuts a book into chapters, each of which becomes a document."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.pdf.page.elements import Element, write_element
from bythebook.adapters.readers.pdf.page.words import Vocabulary
from bythebook.adapters.readers.plain_text import fold_to_ascii

_PART = re.compile(r"(?:part|teil|book)\s+(?:[ivxlc]+|\d+|one|two|three|four|five|six)\b", re.I)
_COUNTED = re.compile(r"(?:(?:chapter|part|appendix)\b|\d+[.:]?\s)", re.I)
_MIN_ENTRIES = 3
_PAGES_PER_CHAPTER = 20
_SHORT_BOOK = 0.9  # pages per heading; closer headings are not chapters
_MAX_SLUG_LENGTH = 60
FRONT = "Front matter"


@dataclass(slots=True)
class PdfChapter:
    """Elements that form one document."""

    title: str
    part: str = ""  # the part of the book that contains it
    level: int = 1  # of its heading
    elements: list[Element] = field(default_factory=list)

    @property
    def first_page(self) -> int:
        """The page where it starts."""
        return self.elements[0].first_page if self.elements else 0


def cut_into_chapters(
    elements: Sequence[Element], vocabulary: Vocabulary, *, outlined: bool, title: str
) -> list[PdfChapter]:
    """Cut at headings of the level that gives documents of a reasonable size."""
    level = _choose_level(elements, outlined=outlined)
    if level is None:
        return list(_cut_by_pages(elements, title))
    chapters: list[PdfChapter] = []
    part = ""
    for element in elements:
        if element.kind == "heading" and element.level <= level:
            name = write_element(element, vocabulary).text
            part = name if element.level < level else part
            chapters.append(PdfChapter(name, part, element.level))
        elif not chapters:
            chapters.append(PdfChapter(FRONT, level=level))
        chapters[-1].elements.append(element)
    return _merge_empty_parts(chapters)


def make_slug(title: str) -> str:
    """Turn a title into a name for files and addresses."""
    name = re.sub(r"[^a-z0-9]+", "-", fold_to_ascii(title).lower()).strip("-")
    return name[:_MAX_SLUG_LENGTH].rstrip("-")


def _choose_level(elements: Sequence[Element], *, outlined: bool) -> int | None:
    headings = [element for element in elements if element.kind == "heading"]
    counts = Counter(element.level for element in headings)
    if outlined and headings:
        return _choose_outline_level(headings, counts)
    pages = len({element.first_page for element in elements})
    for level in sorted(counts):
        named = sum(
            bool(_COUNTED.match(element.join_lines()))
            for element in headings
            if element.level == level
        )
        if counts[level] > 1 and (
            2 * named >= counts[level] or pages >= _SHORT_BOOK * counts[level]
        ):
            return level
    return None


def _choose_outline_level(headings: Sequence[Element], counts: Counter[int]) -> int:
    """Use the next level if the top level has only a few entries, or contains parts."""
    named = [element for element in headings if element.title]
    counts = Counter(element.level for element in named)
    top = min(counts)
    parts = sum(_PART.match(element.title) is not None for element in named if element.level == top)
    deeper = counts[top + 1] >= max(_MIN_ENTRIES, counts[top] + 1)
    return top + 1 if deeper and (counts[top] < _MIN_ENTRIES or 2 * parts >= counts[top]) else top


def _cut_by_pages(elements: Sequence[Element], title: str) -> Iterator[PdfChapter]:
    """Cut a book without chapters after every few pages."""
    pages = sorted({element.first_page for element in elements})
    if not pages:
        return
    if pages[-1] - pages[0] < 1.5 * _PAGES_PER_CHAPTER:
        yield PdfChapter(title, elements=list(elements))
        return
    pieces: dict[int, PdfChapter] = {}
    for element in elements:
        piece = element.first_page // _PAGES_PER_CHAPTER
        if piece not in pieces:
            first = piece * _PAGES_PER_CHAPTER + 1
            last = min(first + _PAGES_PER_CHAPTER - 1, pages[-1] + 1)
            pieces[piece] = PdfChapter(f"Pages {first}–{last}")
        pieces[piece].elements.append(element)
    yield from pieces.values()


def _merge_empty_parts(chapters: Sequence[PdfChapter]) -> list[PdfChapter]:
    """Merge a part that contains only its title into the next chapter."""
    kept = []
    for number, chapter in enumerate(chapters):
        following = chapters[number + 1] if number + 1 < len(chapters) else None
        if len(chapter.elements) == 1 and following and following.level > chapter.level:
            following.elements.insert(0, chapter.elements[0])
            continue
        kept.append(chapter)
    return kept
