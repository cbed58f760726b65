"""Books and their pages as resources, by addresses that begin with `book://`."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote as percent
from urllib.parse import unquote

from bythebook.domain.books import Book, Document
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.http.mcp_api.tools import BookTools, ToolCall

SCHEME = "book://"
BOOK_TEMPLATE = SCHEME + "{book}"
PAGE_TEMPLATE = SCHEME + "{book}/{+document_id}"
MARKDOWN, PLAIN = "text/markdown", "text/plain"
PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class BookResource:
    """A resource as it is listed."""

    uri: str
    name: str
    description: str
    mime_type: str


async def list_resources(
    tools: BookTools, call: ToolCall, start: int
) -> tuple[Sequence[BookResource], int | None]:
    """List books and their pages from a place on, and where the next list begins."""
    books = await tools.books(call)
    every = await asyncio.to_thread(
        lambda: [one for book in books for one in _of_book(tools, book, call)]
    )
    following = start + PAGE_SIZE
    return every[start:following], following if following < len(every) else None


def _of_book(tools: BookTools, book: Book, call: ToolCall) -> Iterator[BookResource]:
    yield BookResource(
        SCHEME + book.book_id, book.title, "The contents of the book, with its pages.", MARKDOWN
    )
    for document in tools.documents(book.book_id, call)[1]:
        place = " · ".join(dict.fromkeys(filter(None, (document.chapter, document.title))))
        yield BookResource(_page_uri(book.book_id, document), place, _size(document), PLAIN)


def _size(document: Document) -> str:
    return f"The exact text of the page, {len(document.text)} characters."


def _page_uri(book_id: str, document: Document) -> str:
    return f"{SCHEME}{book_id}/{percent(document.document_id)}"


def read_resource(tools: BookTools, uri: str, call: ToolCall) -> tuple[str, str]:
    """Return the text of a resource and its type, or raise UnknownBook or UnknownDocument."""
    if not uri.startswith(SCHEME):
        raise UnknownDocument(f"Resources begin with {SCHEME}.")
    book_id, _, page = uri.removeprefix(SCHEME).partition("/")
    if page:
        return tools.document(book_id, unquote(page), call).text, PLAIN
    try:
        return _contents(*tools.documents(book_id, call)), MARKDOWN
    except UnknownBook:
        raise UnknownBook("There is no such book.") from None


def _contents(book: Book, documents: Sequence[Document]) -> str:
    """Write the contents of a book as Markdown, each page with its address here."""
    lines = [f"# {book.title}"]
    for chapter, pages in groupby(documents, key=lambda one: one.chapter):
        lines.append(f"\n## {chapter}\n" if chapter else "")
        lines += [f"- [{page.title}]({_page_uri(book.book_id, page)})" for page in pages]
    return "\n".join(lines) + "\n"
