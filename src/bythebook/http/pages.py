"""The first page: a place to ask, the books, and, of a single one, its contents."""

import asyncio
from collections.abc import Sequence
from html import escape

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import HTMLResponse

from bythebook.domain.answers import Answered
from bythebook.domain.books import Book
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError, PartFailed
from bythebook.http.asking import asked_in
from bythebook.http.contract_query import QueryRequest
from bythebook.http.failure_page import PageRoute, failed, not_admitted, with_problem
from bythebook.http.layout import page
from bythebook.http.problems import problem_of
from bythebook.http.reader.contents import whole_contents
from bythebook.http.reader.outline import Outlines
from bythebook.http.reader.panel import ask_form, scripts, widget
from bythebook.http.reader.routes import MayAsk, reader_router
from bythebook.http.reply_html import answer_html, refusal_html
from bythebook.operate.desk import Desk

_TITLE = "Ask the book"
_NO_BOOK = "<p>There is no book yet. Run <code>bythebook ingest PATH</code>.</p>"


def pages_router(desk: Desk) -> APIRouter:
    """Make the pages; they show what the contracts answer, by the same path."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)
    library = desk.ports.library
    outlines = Outlines(library)

    @router.get("/")
    async def home(request: Request, may_ask: MayAsk, q: str = "", book: str = "") -> HTMLResponse:
        books = library.books()
        question = q.strip()
        below = await asyncio.to_thread(_shelf, books, outlines)
        heading = f'<h1 dir="auto">{escape(_title(books))}</h1>'
        if not question:
            asking = widget(books) if may_ask and books else ""
            shown = heading + asking + below
            return page(_title(books), shown, scripts=scripts(may_ask=may_ask))
        problem = await not_admitted(request)
        form = heading + (ask_form(question, book, books) if may_ask else "")
        if problem is not None:
            reply = failed("Not answered", problem.message)
            return with_problem(page(_TITLE, form + reply + below), problem)
        reply = await _reply(request, desk, question, book)
        return page(_TITLE, form + reply + below)

    router.include_router(reader_router(desk.ports, outlines))
    return router


async def _reply(request: Request, desk: Desk, question: str, book: str) -> str:
    limit = next(
        m.max_length
        for m in QueryRequest.model_fields["query"].metadata
        if hasattr(m, "max_length")
    )
    if len(question) > limit or "\0" in question:
        return failed("Please ask again", f"A question has at most {limit} characters.")
    try:
        asked = asked_in(request, "query", Question(question, Scope(book or None)))
        outcome = await desk.collect(asked)
    except InputError as error:
        return failed("Please ask again", error.what)
    except PartFailed as error:
        return failed("Could not look it up", problem_of(error).message)
    return answer_html(outcome) if isinstance(outcome, Answered) else refusal_html(outcome)


def _title(books: Sequence[Book]) -> str:
    return books[0].title if len(books) == 1 else _TITLE


def _shelf(books: Sequence[Book], outlines: Outlines) -> str:
    """Show the books to read; a single one by its contents."""
    if not books:
        return _NO_BOOK
    if len(books) == 1:
        return (
            f'<h2>Contents</h2><p><a class="begin" href="/read/{books[0].book_id}">Read the book</a></p>'
            f'<nav aria-label="Contents">{whole_contents(outlines.of(books[0]))}</nav>'
        )
    rows = "".join(
        f'<li><a href="/read/{book.book_id}" dir="auto">{escape(book.title)}</a></li>'
        for book in books
    )
    return f'<h2>Books</h2><ul class="contents">{rows}</ul>'
