"""A book's contents: its chapters with their pages, in reading order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote as percent

from bythebook.domain.books import Book, Document
from bythebook.ports import Library

_BOOKS_KEPT = 16


@dataclass(frozen=True, slots=True)
class Leaf:
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
    pages: tuple[Leaf, ...]

    @property
    def opening(self) -> Leaf | None:
        """The page that the chapter's own name leads to, where one bears it."""
        first = self.pages[0]
        return first if self.title in {"", first.title} else None

    @property
    def below(self) -> tuple[Leaf, ...]:
        """The pages to be listed under its name."""
        return self.pages[1:] if self.opening else self.pages


@dataclass(frozen=True, slots=True)
class Outline:
    """All chapters of a book."""

    chapters: tuple[Chapter, ...]

    @property
    def pages(self) -> list[Leaf]:
        """Every page, in reading order."""
        return [page for chapter in self.chapters for page in chapter.pages]

    def beside(self, document_id: str) -> tuple[Leaf | None, Leaf | None]:
        """Give the pages before and after one."""
        pages = self.pages
        at = next((n for n, page in enumerate(pages) if page.document_id == document_id), None)
        if at is None:
            return None, None
        return (pages[at - 1] if at else None), (pages[at + 1] if at + 1 < len(pages) else None)


def outline_of(book: Book, documents: Sequence[Document]) -> Outline:
    """Put documents under their chapters."""
    return Outline(
        tuple(
            Chapter(title, tuple(Leaf(book.book_id, one.document_id, one.title) for one in members))
            for title, members in groupby(documents, key=lambda one: one.chapter)
        )
    )


class Outlines:
    """The contents of each book, put together once for each time that it is published."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made = lru_cache(_BOOKS_KEPT)(self._make)

    def of(self, book: Book) -> Outline:
        """Give a book's contents."""
        return self._made(book)

    def _make(self, book: Book) -> Outline:
        return outline_of(book, self._library.documents(book.book_id))
