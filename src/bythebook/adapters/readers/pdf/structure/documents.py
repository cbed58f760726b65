"""Turns chapters into documents with page marks and sections."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bythebook.adapters.readers.pdf.page.elements import Element, write_element
from bythebook.adapters.readers.pdf.structure.book_elements import BookElements
from bythebook.adapters.readers.pdf.structure.chapters import PdfChapter, make_slug
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    make_document,
    make_github_anchor,
)
from bythebook.domain.books import Document, PageMark, Section


@dataclass(frozen=True, slots=True)
class PlacedChapter:
    """A chapter with its place in the book."""

    chapter: PdfChapter
    number: int  # counted from 1
    pages: range  # whose running headers and page numbers are reported with it


def make_chapter_document(placed: PlacedChapter, book: BookElements, url: str) -> Document:
    """Write a chapter as a document; with a URL, each section links to its page."""
    chapter = placed.chapter
    plain = PlainText()
    first = chapter.elements[0] if chapter.elements else None
    headless = first is None or first.kind != "heading"
    if headless:
        plain.pages.append(_make_mark(0, chapter.first_page, book))
        plain.add_heading(chapter.title, 1, _make_anchor(chapter.first_page, url))
    for number, element in enumerate(chapter.elements):
        _add_element(
            plain, element, chapter.level if number or headless else element.level, book, url
        )
    for page in placed.pages:
        for reason, text in book.left_out.get(page, ()):
            plain.leave_out(reason, text)
    place = Place(
        make_slug(chapter.title) or f"chapter-{placed.number}",
        chapter.title,
        chapter.part or chapter.title,
        url,
    )
    document = make_document(plain, place, make_github_anchor, headless=headless)
    return _set_page_anchor(document) if url else document


def _add_element(
    plain: PlainText, element: Element, top: int, book: BookElements, url: str
) -> None:
    written = write_element(element, book.vocabulary)
    if not written.text.strip():
        return
    start = plain.next_start
    for offset, page in written.pages:
        _mark_pages(plain, start + offset, page, book)
    if element.kind == "heading":
        level = min(max(element.level - top + 1, 1), 6)
        plain.add_heading(written.text, level, _make_anchor(element.first_page, url))
    else:
        plain.add(element.kind, written.text, ordered=element.ordered)


def _mark_pages(plain: PlainText, start: int, page: int, book: BookElements) -> None:
    """Mark where a page starts; pages without text start where the next one does."""
    last = plain.pages[-1].number - 1 if plain.pages else None
    if last is None or page < last:
        plain.pages.append(_make_mark(start if plain.pages else 0, page, book))
        return
    for number in range(last + 1, page + 1):
        plain.pages.append(_make_mark(start, number, book))


def _make_mark(start: int, page: int, book: BookElements) -> PageMark:
    return PageMark(start, page + 1, book.labels.get(page, ""))


def _make_anchor(page: int, url: str) -> str | None:
    return f"page={page + 1}" if url else None


def _set_page_anchor(document: Document) -> Document:
    """Link the document's first heading to its page."""
    first: Section = document.sections[0]
    page = document.pages[0].number if document.pages else 1
    sections = (replace(first, anchor=f"page={page}"), *document.sections[1:])
    return replace(document, sections=sections)


def assign_pages(chapters: Sequence[PdfChapter], pages: int) -> list[PlacedChapter]:
    """Assign each chapter its pages, up to the start of the next chapter."""
    starts = [0]
    for before, chapter in itertools.pairwise(chapters):
        shared = any(
            _find_last_page(element) >= chapter.first_page for element in before.elements[-8:]
        )
        starts.append(max(chapter.first_page + (1 if shared else 0), starts[-1]))
    ends = [*starts[1:], pages]
    return [
        PlacedChapter(chapter, number, range(start, end))
        for number, (chapter, start, end) in enumerate(
            zip(chapters, starts, ends, strict=True), start=1
        )
    ]


def _find_last_page(element: Element) -> int:
    return element.lines[-1].page if element.lines else element.page
