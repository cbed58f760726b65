"""Chapters become documents with page marks and sections."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bythebook.adapters.readers.pdf.chapters import Chapter, slug
from bythebook.adapters.readers.pdf.elements import Element, write
from bythebook.adapters.readers.pdf.layout import LaidOut
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    github_anchor,
    make_document,
)
from bythebook.domain.books import Document, PageMark, Section


@dataclass(frozen=True, slots=True)
class Piece:
    """A chapter with its place in the book."""

    chapter: Chapter
    number: int  # counted from 1
    pages: range  # whose running headers and page numbers it accounts for


def make_piece_document(piece: Piece, book: LaidOut, url: str) -> Document:
    """Write a chapter as a document; with an address, each section leads to its page there."""
    chapter = piece.chapter
    plain = PlainText()
    first = chapter.elements[0] if chapter.elements else None
    headless = first is None or first.kind != "heading"
    if headless:
        plain.pages.append(_mark(0, chapter.first_page, book))
        plain.add_heading(chapter.title, 1, _anchor(chapter.first_page, url))
    for number, element in enumerate(chapter.elements):
        _add(plain, element, chapter.level if number or headless else element.level, book, url)
    for page in piece.pages:
        for reason, text in book.left_out.get(page, ()):
            plain.leave_out(reason, text)
    place = Place(
        slug(chapter.title) or f"chapter-{piece.number}",
        chapter.title,
        chapter.part or chapter.title,
        url,
    )
    document = make_document(plain, place, github_anchor, headless=headless)
    return _with_page_anchor(document) if url else document


def _add(plain: PlainText, element: Element, top: int, book: LaidOut, url: str) -> None:
    written = write(element, book.vocabulary)
    if not written.text.strip():
        return
    start = plain.next_start
    for offset, page in written.pages:
        _turn_pages(plain, start + offset, page, book)
    if element.kind == "heading":
        level = min(max(element.level - top + 1, 1), 6)
        plain.add_heading(written.text, level, _anchor(element.first_page, url))
    else:
        plain.add(element.kind, written.text, ordered=element.ordered)


def _turn_pages(plain: PlainText, start: int, page: int, book: LaidOut) -> None:
    """Mark where a page begins; pages without text begin where the next one does."""
    last = plain.pages[-1].number - 1 if plain.pages else None
    if last is None or page < last:
        plain.pages.append(_mark(start if plain.pages else 0, page, book))
        return
    for number in range(last + 1, page + 1):
        plain.pages.append(_mark(start, number, book))


def _mark(start: int, page: int, book: LaidOut) -> PageMark:
    return PageMark(start, page + 1, book.labels.get(page, ""))


def _anchor(page: int, url: str) -> str | None:
    return f"page={page + 1}" if url else None


def _with_page_anchor(document: Document) -> Document:
    """Lead the document's own heading to its page too."""
    first: Section = document.sections[0]
    page = document.pages[0].number if document.pages else 1
    sections = (replace(first, anchor=f"page={page}"), *document.sections[1:])
    return replace(document, sections=sections)


def make_pieces(chapters: Sequence[Chapter], pages: int) -> list[Piece]:
    """Give each chapter the pages it begins and those after, up to where the next takes over."""
    starts = [0]
    for before, chapter in itertools.pairwise(chapters):
        shared = any(_last_page(element) >= chapter.first_page for element in before.elements[-8:])
        starts.append(max(chapter.first_page + (1 if shared else 0), starts[-1]))
    ends = [*starts[1:], pages]
    return [
        Piece(chapter, number, range(start, end))
        for number, (chapter, start, end) in enumerate(
            zip(chapters, starts, ends, strict=True), start=1
        )
    ]


def _last_page(element: Element) -> int:
    return element.lines[-1].page if element.lines else element.page
