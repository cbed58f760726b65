"""GET /llms.txt, /sitemap.xml, /robots.txt and the like, of the library and of each book."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException

from bythebook.domain.books import Book
from bythebook.errors import UnknownBook
from bythebook.http.pages.failures import PageRoute
from bythebook.http.pages.machines.listing import Listing
from bythebook.http.pages.reader.outline import Outline, Outlines, PageLink
from bythebook.http.pages.reader.visitors import MayAsk
from bythebook.http.pages.render import SECURITY_HEADERS
from bythebook.ports import Library

_MAPS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_SEARCH = 'xmlns="http://a9.com/-/spec/opensearch/1.1/"'
_NO_BOOK = "There is no such book here."


@dataclass(frozen=True, slots=True)
class _Books:
    """The books that machines may find; a closed one does not exist to them."""

    library: Library
    listing: Listing
    reader_url: str

    async def find(self, book_id: str, *, is_open: bool) -> Book:
        if not self.listing.shows(book_id, is_open=is_open):
            raise HTTPException(404, _NO_BOOK)
        try:
            return await asyncio.to_thread(self.library.book, book_id)
        except UnknownBook:
            raise HTTPException(404, _NO_BOOK) from None

    async def list(self, *, is_open: bool) -> Sequence[Book]:
        return await asyncio.to_thread(self.listing.books, self.library, is_open=is_open)


def machines_router(
    library: Library, outlines: Outlines, listing: Listing, reader_url: str
) -> APIRouter:
    """Make the routes of the library and of each book."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)
    books = _Books(library, listing, reader_url)
    _add_library_routes(router, books)
    _add_book_routes(router, books, outlines)
    return router


def _add_library_routes(router: APIRouter, books: _Books) -> None:
    reader_url = books.reader_url

    @router.get("/llms.txt")
    async def show_library(may_ask: MayAsk) -> Response:
        return _text(_library_text(await books.list(is_open=may_ask), reader_url))

    @router.get("/robots.txt")
    async def show_rules(may_ask: MayAsk) -> Response:
        found = await books.list(is_open=may_ask)
        rule = f"Allow: /\nSitemap: {reader_url}/sitemap.xml" if found else "Disallow: /"
        return _text(f"User-agent: *\n{rule}\n")

    @router.get("/sitemap.xml")
    async def map_library(may_ask: MayAsk) -> Response:
        maps = (
            f"<sitemap><loc>{escape(_of(book, reader_url))}/sitemap.xml</loc>"
            f"<lastmod>{escape(book.published_at)}</lastmod></sitemap>"
            for book in await books.list(is_open=may_ask)
        )
        return _xml(f"<sitemapindex {_MAPS}>{''.join(maps)}</sitemapindex>")


def _add_book_routes(router: APIRouter, books: _Books, outlines: Outlines) -> None:
    reader_url = books.reader_url

    @router.get("/read/{book_id}/llms.txt")
    async def show_book(book_id: str, may_ask: MayAsk) -> Response:
        book = await books.find(book_id, is_open=may_ask)
        outline = await asyncio.to_thread(outlines.find, book)
        return _text(_book_text(book, outline, reader_url))

    @router.get("/read/{book_id}/sitemap.xml")
    async def map_book(book_id: str, may_ask: MayAsk) -> Response:
        book = await books.find(book_id, is_open=may_ask)
        places = await asyncio.to_thread(lambda: list(_places(book, books.library, reader_url)))
        changed = f"<lastmod>{escape(book.published_at)}</lastmod>"
        pages = (f"<url><loc>{escape(place)}</loc>{changed}</url>" for place in places)
        return _xml(f"<urlset {_MAPS}>{''.join(pages)}</urlset>")

    @router.get("/read/{book_id}/opensearch.xml")
    async def describe_search(book_id: str, may_ask: MayAsk) -> Response:
        book = await books.find(book_id, is_open=may_ask)
        if not may_ask:  # the page could not search
            raise HTTPException(404, "This book cannot be searched here without a key.")
        return _xml(_describe_search(book, reader_url))


def _book_text(book: Book, outline: Outline, reader_url: str) -> str:
    lines = [f"# {book.title}", "", f"> {book.documents} pages, as Markdown."]
    for chapter in outline.chapters:
        lines += ["", f"## {chapter.title or book.title}", ""]
        lines += [f"- [{page.title}]({reader_url}{page.url}.md)" for page in chapter.pages]
    return "\n".join(lines) + "\n"


def _library_text(books: Sequence[Book], reader_url: str) -> str:
    lines = ["# ByTheBook", "", "> Books that answer questions, each sentence with its quote.", ""]
    lines += [
        f"- Ask: POST {reader_url}/api/query, described at {reader_url}/openapi.json",
        f"- Assistants: the Model Context Protocol at {reader_url}/mcp",
    ]
    if books:
        lines += ["", "## Books", ""]
    lines += [
        f"- [{book.title}]({_of(book, reader_url)}/llms.txt): {book.documents} pages"
        for book in books
    ]
    return "\n".join(lines) + "\n"


def _of(book: Book, reader_url: str) -> str:
    return f"{reader_url}/read/{book.book_id}"


def _places(book: Book, library: Library, reader_url: str) -> Iterator[str]:
    """Yield the pages of this service; those of the book's own site are in that site's map."""
    if not book.base_url:
        yield _of(book, reader_url)
    for one in library.documents(book.book_id):
        if not one.url:
            yield reader_url + PageLink(book.book_id, one.document_id, one.title).url


def _describe_search(book: Book, reader_url: str) -> str:
    template = quoteattr(f"{_of(book, reader_url)}?q={{searchTerms}}")
    return (
        f"<OpenSearchDescription {_SEARCH}><ShortName>{escape(book.title[:16])}</ShortName>"
        f"<Description>{escape(book.title)}</Description><InputEncoding>UTF-8</InputEncoding>"
        f'<Url type="text/html" template={template}/></OpenSearchDescription>'
    )


def _text(text: str) -> Response:
    return PlainTextResponse(text, headers=SECURITY_HEADERS)


def _xml(body: str) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
    return Response(text, media_type="application/xml", headers=SECURITY_HEADERS)
