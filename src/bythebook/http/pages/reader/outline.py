"""A book's contents: its chapters with their pages, in reading order, and the sections of a page."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote as percent

from bythebook.domain.books import Book, Document
from bythebook.ports import Library
from bythebook.render import Highlight, name_anchors, opens_with_title

_BOOKS_KEPT = 16
_DEEPEST = 3  # levels of headings below a page's title that its contents show


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page as the contents name it."""

    book_id: str
    document_id: str
    title: str

    @property
    def url(self) -> str:
        """Where it is read."""
        return f"/read/{self.book_id}/{percent(self.document_id)}"


@dataclass(frozen=True, slots=True)
class Chapter:
    """Pages that belong together."""

    title: str
    pages: tuple[PageLink, ...]

    @property
    def opening(self) -> PageLink | None:
        """The page that the chapter's own name leads to, where one bears it."""
        first = self.pages[0]
        return first if self.title in {"", first.title} else None

    @property
    def below(self) -> tuple[PageLink, ...]:
        """The pages to be listed under its name."""
        return self.pages[1:] if self.opening else self.pages

    def holds(self, document_id: str) -> bool:
        """Return True if a document is one of its pages."""
        return any(page.document_id == document_id for page in self.pages)


@dataclass(frozen=True, slots=True)
class Outline:
    """All chapters of a book."""

    chapters: tuple[Chapter, ...]

    @property
    def pages(self) -> list[PageLink]:
        """Every page, in reading order."""
        return [page for chapter in self.chapters for page in chapter.pages]

    def find_neighbors(self, document_id: str) -> tuple[PageLink | None, PageLink | None]:
        """Return the pages before and after one."""
        pages = self.pages
        at = next((n for n, page in enumerate(pages) if page.document_id == document_id), None)
        if at is None:
            return None, None
        return (pages[at - 1] if at else None), (pages[at + 1] if at + 1 < len(pages) else None)


@dataclass(frozen=True, slots=True)
class SectionLink:
    """A section as the contents name it."""

    title: str
    anchor: str
    depth: int


def list_sections(document: Document, mark: Highlight | None = None) -> Iterator[SectionLink]:
    """List the sections, but not the page's own title, which stands above them."""
    anchors = name_anchors(document, mark)
    below = document.sections[1:] if opens_with_title(document) else document.sections
    least = min((len(section.path) for section in below), default=0)
    for section in below:
        depth = len(section.path) - least + 1
        if section.title and depth <= _DEEPEST:
            yield SectionLink(section.title, anchors[section.start], depth)


class Outlines:
    """The contents of each book, put together once for each time that it is published."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.find = lru_cache(_BOOKS_KEPT)(self._make)

    def _make(self, book: Book) -> Outline:
        """Put documents under their chapters."""
        chapters = groupby(self._library.documents(book.book_id), key=lambda one: one.chapter)
        return Outline(
            tuple(
                Chapter(
                    title, tuple(PageLink(book.book_id, d.document_id, d.title) for d in members)
                )
                for title, members in chapters
            )
        )
