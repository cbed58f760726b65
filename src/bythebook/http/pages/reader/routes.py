"""GET /read/{book} and GET /read/{book}/{document}: the book itself, and a search in it.

A document is also served as its plain text (.txt), and parts of it as HTML (.html?range=).
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query
from fastapi.requests import Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException

from bythebook.ask import AskPorts, FoundSection, search_sections
from bythebook.ask.show import quote_check
from bythebook.domain.books import Book, Document
from bythebook.domain.questions import Question, Scope
from bythebook.errors import PartFailed, UnknownBook, UnknownDocument
from bythebook.http.access.page_origin import is_from_another_site
from bythebook.http.pages.failures import PageRoute, add_problem, check_admission
from bythebook.http.pages.machines.listing import Listing
from bythebook.http.pages.machines.markdown import write_markdown
from bythebook.http.pages.machines.metadata import CLOSED, describe_book, describe_page
from bythebook.http.pages.machines.oembed import oembed_link
from bythebook.http.pages.reader.citations import CitationPages
from bythebook.http.pages.reader.fragments import show_fragment
from bythebook.http.pages.reader.outline import Outlines, list_sections
from bythebook.http.pages.reader.visitors import MayAsk
from bythebook.http.pages.render import SECURITY_HEADERS, forbid_caching, render_page
from bythebook.http.pages.reply import LinkNotice, Notice
from bythebook.http.pages.rich_quotes import render_excerpt
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import problem_of
from bythebook.ports import Library
from bythebook.render import (
    Addresses,
    Highlight,
    opens_with_title,
    render_document,
)

_MARK = re.compile(r"(\d{1,9})-(\d{1,9})-([0-9a-f]{8})")
_RESULTS = 10
_LONGEST = 500  # characters of a search
_LONGEST_DOCUMENT = 10**9  # characters; no offset is greater


SectionAt = Annotated[int | None, Query(ge=0, le=_LONGEST_DOCUMENT)]


def reader_router(
    ports: AskPorts, outlines: Outlines, listing: Listing, citations: CitationPages
) -> APIRouter:
    """Make the pages of the books."""
    library, reader_url = ports.library, ports.reader_url
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/read/{book_id}")
    async def show_book(
        request: Request, book_id: str, may_ask: MayAsk, q: str = ""
    ) -> HTMLResponse:
        book = _get_book(library, book_id)
        if words := q.strip():
            return await _search(request, ports, book, words, may_ask=may_ask)
        outline = await asyncio.to_thread(outlines.find, book)
        pages = outline.pages
        only = _find_document(library, book_id, pages[0].document_id) if len(pages) == 1 else None
        is_listed = listing.shows(book_id, is_open=may_ask)
        return render_page(
            "reader/title.html",
            book=book,
            outline=outline,
            sections=list(list_sections(only)) if only else (),
            may_ask=may_ask,
            metadata=describe_book(book, outline, reader_url, searches=may_ask)
            if is_listed
            else CLOSED,
        )

    @router.get("/read/{book_id}/{document_id:path}", response_model=None)
    def show_document(
        book_id: str,
        document_id: str,
        may_ask: MayAsk,
        mark: str = "",
        cited: str = "",
        section_at: SectionAt = None,
        ranges: Annotated[Sequence[str], Query(alias="range")] = (),
    ) -> Response:
        plain = document_id.removesuffix(".txt")
        if plain != document_id and (document := _find_document(library, book_id, plain)):
            return PlainTextResponse(_read_text(document, section_at), headers=SECURITY_HEADERS)
        is_listed = listing.shows(book_id, is_open=may_ask)
        if is_listed and document_id.endswith(".md"):
            bare = _find_document(library, book_id, document_id.removesuffix(".md"))
            if bare is not None:
                return _markdown(bare)
        found = _find_document(library, book_id, document_id)
        if found is None:
            whole = document_id.removesuffix(".html")
            found = _find_document(library, book_id, whole) if whole != document_id else None
            if found is None:
                raise HTTPException(404, "This book has no such page.")
            return show_fragment(found, book_id, ranges, section_at)
        book = _get_book(library, book_id)
        place = read_mark(mark, found)
        opened = citations.open_on_page(cited, document_id)
        outline = outlines.find(book)
        previous, following = outline.find_neighbors(document_id)
        return render_page(
            "reader/document.html",
            book=book,
            outline=outline,
            document=found,
            sections=list(list_sections(found, place)),
            text=Markup(render_document(found, Addresses(book_id), place)),  # noqa: S704 - it escapes
            needs_title=not opens_with_title(found),
            is_outdated=bool(mark) and place is None,
            citation=opened.found if opened and place else None,
            previous=previous,
            next=following,
            may_ask=may_ask,
            metadata=replace(
                describe_page(book, found, reader_url, searches=may_ask),
                oembed=oembed_link(opened, reader_url) if opened else "",
            )
            if is_listed
            else CLOSED,
        )

    return router


def _markdown(document: Document) -> Response:
    text = write_markdown(document)
    return Response(text, media_type="text/markdown; charset=utf-8", headers=SECURITY_HEADERS)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The sections nearest to a search."""

    template: ClassVar[str] = "reader/results.html"
    sections: Sequence[tuple[FoundSection, Markup]]  # each with its best sentence


async def _search(
    request: Request, ports: AskPorts, book: Book, words: str, *, may_ask: bool
) -> HTMLResponse:
    """Search in a book, for readers who may ask it."""
    show = partial(render_page, "reader/search.html", book=book, words=words, may_ask=may_ask)
    if may_ask and is_from_another_site(request.headers):
        return forbid_caching(show(reply=LinkNotice("Search", "Search in this book")))
    if problem := await check_admission(request):
        return add_problem(show(reply=Notice("Not searched", problem.message)), problem)
    if len(words) > _LONGEST or "\0" in words:
        message = f"Give at most {_LONGEST} characters."
        return show(reply=Notice("Please search again", message), words="")
    scope = Scope(book.book_id, readable=context_of(request).caller.readable)
    try:
        found = await search_sections(Question(words, scope, _RESULTS), ports)
    except PartFailed as error:
        problem = problem_of(error)
        return add_problem(show(reply=Notice("Could not look it up", problem.message)), problem)
    excerpts = [(one, render_excerpt(one.citation, ports.library)) for one in found]
    return show(reply=SearchResults(excerpts))


def _get_book(library: Library, book_id: str) -> Book:
    try:
        return library.book(book_id)
    except UnknownBook as error:
        raise HTTPException(404, "There is no such book here.") from error


def _find_document(library: Library, book_id: str, document_id: str) -> Document | None:
    try:
        return library.document(book_id, document_id)
    except (UnknownBook, UnknownDocument):
        return None


def _read_text(document: Document, at: int | None) -> str:
    """Return the plain text of a page, or of the one section that an offset is in."""
    if at is None or not document.sections:
        return document.text
    section = document.section_at(at)
    return document.text[section.start : section.end].strip()


def read_mark(given: str, document: Document) -> Highlight | None:
    """Read the mark of a link; one that no longer fits the text marks nothing."""
    match = _MARK.fullmatch(given)
    if match is None:
        return None
    mark = Highlight(int(match.group(1)), int(match.group(2)))
    quote = document.text[mark.start : mark.end]
    return mark if quote and quote_check(quote) == match.group(3) else None
