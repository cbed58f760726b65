"""GET /read/{book} and GET /read/{book}/{document}: the book itself."""

import asyncio
import re
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.requests import Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from bythebook.ask.links import quote_check
from bythebook.ask.pipeline import AskPorts
from bythebook.ask.search import search
from bythebook.domain.books import Book, Document
from bythebook.domain.questions import Question, Scope
from bythebook.errors import PartFailed, RecordsFailed, UnknownBook, UnknownDocument
from bythebook.http.access import gate_of
from bythebook.http.asking import caller_of
from bythebook.http.failure_page import PageRoute, failed, not_admitted, with_problem
from bythebook.http.layout import SECURITY_HEADERS
from bythebook.http.problems import problem_of
from bythebook.http.reader.outline import Outlines
from bythebook.http.reader.page_html import reader_page, results_page, title_page
from bythebook.http.reader.search_html import results_html
from bythebook.http.reading import Mark
from bythebook.ports import Library

_MARK = re.compile(r"(\d{1,9})-(\d{1,9})-([0-9a-f]{8})")
_RESULTS = 10
_LONGEST = 500  # characters of what is searched for


async def _may_ask(request: Request) -> bool:
    """Tell whether a page, which has no key, would be answered."""
    try:
        return await gate_of(request).ring.is_open()
    except RecordsFailed:
        return False


MayAsk = Annotated[bool, Depends(_may_ask)]


def reader_router(ports: AskPorts, outlines: Outlines) -> APIRouter:
    """Make the pages of the books."""
    library = ports.library
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/read/{book_id}")
    async def contents(
        request: Request, book_id: str, may_ask: MayAsk, q: str = ""
    ) -> HTMLResponse:
        book = _book(library, book_id)
        if q.strip():
            return await _results(request, ports, book, q.strip(), may_ask=may_ask)
        outline = await asyncio.to_thread(outlines.of, book)
        pages = outline.pages
        only = _find(library, book_id, pages[0].document_id) if len(pages) == 1 else None
        return title_page(book, outline, only, may_ask=may_ask)

    @router.get("/read/{book_id}/{document_id:path}", response_model=None)
    def read(book_id: str, document_id: str, may_ask: MayAsk, mark: str = "") -> Response:
        plain = document_id.removesuffix(".txt")
        if plain != document_id and (document := _find(library, book_id, plain)):
            return PlainTextResponse(document.text, headers=SECURITY_HEADERS)
        found = _find(library, book_id, document_id)
        if found is None:
            raise HTTPException(404, "This book has no such page.")
        book = _book(library, book_id)
        place = read_mark(mark, found)
        changed = bool(mark) and place is None
        outline = outlines.of(book)
        return reader_page(book, outline, found, place, changed=changed, may_ask=may_ask)

    return router


async def _results(
    request: Request, ports: AskPorts, book: Book, words: str, *, may_ask: bool
) -> HTMLResponse:
    """Search in a book, for who may ask it."""
    problem = await not_admitted(request)
    if problem is not None:
        told = failed("Not searched", problem.message)
        return with_problem(results_page(book, words, told, may_ask=may_ask), problem)
    if len(words) > _LONGEST or "\0" in words:
        told = failed("Please search again", f"Give at most {_LONGEST} characters.")
        return results_page(book, "", told, may_ask=may_ask)
    scope = Scope(book.book_id, readable=caller_of(request).readable)
    try:
        found = await search(Question(words, scope, _RESULTS), ports)
    except PartFailed as error:
        problem = problem_of(error)
        told = failed("Could not look it up", problem.message)
        return with_problem(results_page(book, words, told, may_ask=may_ask), problem)
    return results_page(book, words, results_html(words, found), may_ask=may_ask)


def _book(library: Library, book_id: str) -> Book:
    try:
        return library.book(book_id)
    except UnknownBook as error:
        raise HTTPException(404, "There is no such book here.") from error


def _find(library: Library, book_id: str, document_id: str) -> Document | None:
    try:
        return library.document(book_id, document_id)
    except (UnknownBook, UnknownDocument):
        return None


def read_mark(given: str, document: Document) -> Mark | None:
    """Read the mark of a link; one that no longer fits the text marks nothing."""
    match = _MARK.fullmatch(given)
    if match is None:
        return None
    mark = Mark(int(match.group(1)), int(match.group(2)))
    quote = document.text[mark.start : mark.end]
    return mark if quote and quote_check(quote) == match.group(3) else None
