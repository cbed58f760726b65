"""What a page says of itself to machines: its canonical address and schema.org's words for it."""

import json
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from bythebook.domain.books import Book, Document
from bythebook.http.pages.reader.outline import Outline, PageLink

_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}  # would end the element


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """For the head of a page; a closed book's asks not to be indexed, and says nothing else."""

    is_listed: bool
    canonical: str = ""
    markdown: str = ""  # the same page as Markdown
    oembed: str = ""  # of the citation that led to it
    search: str = ""  # OpenSearch description of the book
    structured: Markup = field(default_factory=Markup)


CLOSED = PageMetadata(is_listed=False)


def describe_book(book: Book, outline: Outline, reader_url: str, *, searches: bool) -> PageMetadata:
    """Describe a book's title page."""
    value = {
        **_book(book, reader_url),
        "hasPart": [_chapter(page, reader_url) for page in outline.pages],
    }
    return PageMetadata(
        is_listed=True,
        canonical=_book_url(book, reader_url),
        markdown=f"/read/{book.book_id}/llms.txt",
        search=_search(book, searches=searches),
        structured=_write(value),
    )


def describe_page(
    book: Book, document: Document, reader_url: str, *, searches: bool
) -> PageMetadata:
    """Describe a page; where the book has a site of its own, that is the place to cite."""
    page = PageLink(book.book_id, document.document_id, document.title)
    value = {**_chapter(page, reader_url), "isPartOf": _book(book, reader_url)}
    if document.url:
        value["url"] = document.url
    return PageMetadata(
        is_listed=True,
        canonical=document.url or reader_url + page.url,
        markdown=f"{page.url}.md",
        search=_search(book, searches=searches),
        structured=_write(value),
    )


def _book_url(book: Book, reader_url: str) -> str:
    return book.base_url or f"{reader_url}/read/{book.book_id}"


def _book(book: Book, reader_url: str) -> dict[str, Any]:
    return {
        "@type": "Book",
        "name": book.title,
        "url": _book_url(book, reader_url),
        "dateModified": book.published_at,
    }


def _chapter(page: PageLink, reader_url: str) -> dict[str, Any]:
    return {"@type": "Chapter", "name": page.title, "url": reader_url + page.url}


def _search(book: Book, *, searches: bool) -> str:
    return f"/read/{book.book_id}/opensearch.xml" if searches else ""


def _write(value: dict[str, Any]) -> Markup:
    text = json.dumps({"@context": "https://schema.org", **value}, ensure_ascii=False)
    return Markup(text.translate(_UNSAFE))  # noqa: S704 - nothing in it can end the element
