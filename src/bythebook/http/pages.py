"""Plain pages for people: a form to ask with, a book's contents, and the book itself."""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Annotated
from urllib.parse import quote as percent

from fastapi import APIRouter, Depends
from fastapi.requests import Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from bythebook.ask.links import quote_check
from bythebook.ask.pipeline import AskPorts
from bythebook.domain.answers import Answered
from bythebook.domain.books import Book, Document
from bythebook.domain.questions import Question, Scope
from bythebook.errors import (
    InputError,
    NotAdmitted,
    PartFailed,
    RecordsFailed,
    UnknownBook,
    UnknownDocument,
)
from bythebook.http.access import admit, gate_of
from bythebook.http.asking import asked_in
from bythebook.http.contract_query import QueryRequest
from bythebook.http.layout import SECURITY_HEADERS, page
from bythebook.http.problems import Problem, problem_of
from bythebook.http.reading import Mark, document_html
from bythebook.http.reply_html import answer_html, refusal_html
from bythebook.operate.desk import Desk

_MARK = re.compile(r"(\d{1,9})-(\d{1,9})-([0-9a-f]{8})")


async def _may_ask(request: Request) -> bool:
    """Tell whether a page, which has no key, would be answered."""
    try:
        return await gate_of(request).ring.is_open()
    except RecordsFailed:
        return False


MayAsk = Annotated[bool, Depends(_may_ask)]


def pages_router(desk: Desk) -> APIRouter:
    """Make the pages; they show what the contracts answer, by the same path."""
    ports = desk.ports
    router = APIRouter(include_in_schema=False)
    style = files("bythebook.web").joinpath("reader.css").read_text("utf-8")

    @router.get("/reader.css")
    async def css() -> Response:
        return Response(style, media_type="text/css", headers={"Cache-Control": "max-age=3600"})

    @router.get("/")
    async def home(request: Request, may_ask: MayAsk, q: str = "", book: str = "") -> HTMLResponse:
        books = ports.library.books()
        question = q.strip()
        problem = await _not_admitted(request) if question else None
        if problem is not None:
            reply = _failure("Not answered", problem.message)
        else:
            reply = await _reply(request, desk, question, book) if question else ""
        form = _form(question, book, books) if may_ask else ""
        shown = page("Ask the book", form + reply + _shelf(books))
        return _with_problem(shown, problem) if problem else shown

    @router.get("/read/{book_id}")
    def contents(book_id: str, may_ask: MayAsk) -> HTMLResponse:
        book = _book(ports, book_id)
        form = _form("", book_id, [book]) if may_ask else ""
        return page(book.title, form + _contents(book, ports.library.documents(book_id)))

    @router.get("/read/{book_id}/{document_id:path}", response_model=None)
    def read(book_id: str, document_id: str, mark: str = "") -> Response:
        plain = document_id.removesuffix(".txt")
        if plain != document_id and (document := _find(ports, book_id, plain)):
            return PlainTextResponse(document.text, headers=SECURITY_HEADERS)
        document = _document(ports, book_id, document_id)
        return _reader_page(ports.library.book(book_id), document, mark)

    return router


def _reader_page(book: Book, document: Document, given: str) -> HTMLResponse:
    mark = _mark(given, document)
    moved = '<p class="kind">The quoted passage has changed since this link was made.</p>'
    body = (moved if given and mark is None else "") + document_html(document, mark)
    trail = f'<a href="/read/{book.book_id}">{escape(book.title)}</a>'
    return page(document.title, f'<article dir="auto">{body}</article>', trail)


def _book(ports: AskPorts, book_id: str) -> Book:
    try:
        return ports.library.book(book_id)
    except UnknownBook as error:
        raise HTTPException(404) from error


def _find(ports: AskPorts, book_id: str, document_id: str) -> Document | None:
    try:
        return ports.library.document(book_id, document_id)
    except (UnknownBook, UnknownDocument):
        return None


def _document(ports: AskPorts, book_id: str, document_id: str) -> Document:
    document = _find(ports, book_id, document_id)
    if document is None:
        raise HTTPException(404)
    return document


def _mark(given: str, document: Document) -> Mark | None:
    """Read the mark of a link; one that no longer fits the text marks nothing."""
    match = _MARK.fullmatch(given)
    if match is None:
        return None
    mark = Mark(int(match.group(1)), int(match.group(2)))
    quote = document.text[mark.start : mark.end]
    return mark if quote and quote_check(quote) == match.group(3) else None


def _form(question: str, chosen: str, books: Sequence[Book]) -> str:
    options = "".join(
        f'<option value="{book.book_id}"{" selected" if book.book_id == chosen else ""}>{escape(book.title)}</option>'
        for book in books
    )
    hidden = (
        f'<input type="hidden" name="book" value="{escape(books[0].book_id)}">'
        if len(books) == 1
        else ""
    )
    select = (
        f'<select name="book" aria-label="Book"><option value="">All books</option>{options}</select>'
        if len(books) > 1
        else hidden
    )
    return (
        '<form class="ask" action="/" role="search"><label for="q">Your question</label>'
        f'<input type="search" id="q" name="q" maxlength="500" required value="{escape(question)}">'
        f"<button>Ask</button>{select}</form>"
    )


async def _not_admitted(request: Request) -> Problem | None:
    try:
        await admit(request, "ask")
    except (NotAdmitted, RecordsFailed) as error:
        return problem_of(error)
    return None


def _with_problem(shown: HTMLResponse, problem: Problem) -> HTMLResponse:
    shown.status_code = problem.status
    shown.headers.update(problem.headers)
    if problem.retry_after is not None:
        shown.headers["Retry-After"] = str(problem.retry_after)
    return shown


async def _reply(request: Request, desk: Desk, question: str, book: str) -> str:
    limit = next(
        m.max_length
        for m in QueryRequest.model_fields["query"].metadata
        if hasattr(m, "max_length")
    )
    if len(question) > limit or "\0" in question:
        return _failure("Please ask again", f"A question has at most {limit} characters.")
    try:
        asked = asked_in(request, "query", Question(question, Scope(book or None)))
        outcome = await desk.collect(asked)
    except InputError as error:
        return _failure("Please ask again", error.what)
    except PartFailed as error:
        return _failure("Could not look it up", problem_of(error).message)
    return answer_html(outcome) if isinstance(outcome, Answered) else refusal_html(outcome)


def _failure(kind: str, message: str) -> str:
    return (
        f'<section class="reply refused" role="alert"><p class="kind">{escape(kind)}</p>'
        f"<p>{escape(message)}</p></section>"
    )


def _shelf(books: Sequence[Book]) -> str:
    if not books:
        return "<p>There is no book yet. Run <code>bythebook ingest PATH</code>.</p>"
    rows = "".join(
        f'<li><a href="/read/{book.book_id}">{escape(book.title)}</a></li>' for book in books
    )
    return f'<h2>Books</h2><ul class="contents">{rows}</ul>'


def _contents(book: Book, documents: Sequence[Document]) -> str:
    chapters = []
    for chapter, members in groupby(documents, key=lambda document: document.chapter):
        pages = "".join(
            f'<li><a href="/read/{book.book_id}/{percent(member.document_id)}">{escape(member.title)}</a></li>'
            for member in members
        )
        chapters.append(f"<li>{escape(chapter)}<ul>{pages}</ul></li>")
    return f'<h1>{escape(book.title)}</h1><ul class="contents">{"".join(chapters)}</ul>'
