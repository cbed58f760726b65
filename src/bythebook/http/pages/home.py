"""The first page: a place to ask, the books, and the contents of a single one."""

import asyncio
from functools import partial

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import HTMLResponse

from bythebook.cite import CitationFinder
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError, Overloaded, PartFailed
from bythebook.http.access.page_origin import is_from_another_site
from bythebook.http.contracts.incoming import make_incoming_question
from bythebook.http.contracts.query import QueryRequest
from bythebook.http.pages.failures import PageRoute, add_problem, check_admission
from bythebook.http.pages.machines.listing import Listing
from bythebook.http.pages.machines.oembed import oembed_router
from bythebook.http.pages.machines.routes import machines_router
from bythebook.http.pages.reader.citations import CitationPages, citations_router
from bythebook.http.pages.reader.outline import Outlines
from bythebook.http.pages.reader.pictures import pictures_router
from bythebook.http.pages.reader.routes import reader_router
from bythebook.http.pages.reader.visitors import MayAsk
from bythebook.http.pages.render import forbid_caching, render_page
from bythebook.http.pages.reply import LinkNotice, Notice, PageReply, make_reply
from bythebook.http.pages.suggestions import choose_suggestions
from bythebook.http.wire.leaving import work_while_connected
from bythebook.http.wire.problems import Problem, problem_of
from bythebook.operate.answerer import Answerer
from bythebook.ports import Suggestions

_TITLE = "Ask the book"
_SUGGESTED = 6
_RULES = QueryRequest.model_fields["query"].metadata
_LONGEST: int = next(rule.max_length for rule in _RULES if hasattr(rule, "max_length"))


def pages_router(answerer: Answerer, listing: Listing, suggestions: Suggestions) -> APIRouter:
    """Make the pages; they show what the contracts answer, by the same path."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)
    library = answerer.ports.library
    outlines = Outlines(library)

    @router.get("/")
    async def show_home(
        request: Request, may_ask: MayAsk, q: str = "", book: str = ""
    ) -> HTMLResponse:
        books = library.books()
        only = books[0] if len(books) == 1 else None
        question = q.strip()
        heading = only.title if only else _TITLE
        show = partial(
            render_page,
            "home.html",
            title=_TITLE if question else heading,
            heading=heading,
            books=books,
            outline=await asyncio.to_thread(outlines.find, only) if only else None,
            may_ask=may_ask,
            question=question,
            chosen=book,
            suggestions=choose_suggestions(books, suggestions, _SUGGESTED) if may_ask else (),
        )
        if not question:
            return show(reply=None)
        if may_ask and is_from_another_site(request.headers):
            return forbid_caching(show(reply=LinkNotice("Ask")))
        reply, problem = await _answer(request, answerer, question, book)
        return add_problem(show(reply=reply), problem) if problem else show(reply=reply)

    ports = answerer.ports
    router.include_router(machines_router(library, outlines, listing, ports.reader_url))
    citations = CitationPages(library, CitationFinder(library))
    router.include_router(reader_router(ports, outlines, listing, citations))
    router.include_router(pictures_router(library))
    router.include_router(citations_router(citations))
    router.include_router(oembed_router(citations, listing, ports.reader_url))
    return router


async def _answer(
    request: Request, answerer: Answerer, question: str, book: str
) -> tuple[PageReply, Problem | None]:
    """Answer a question, or say why not, with the problem that sets the page's status."""
    if problem := await check_admission(request):
        return Notice("Not answered", problem.message), problem
    if len(question) > _LONGEST or "\0" in question:
        return Notice("Please ask again", f"A question has at most {_LONGEST} characters."), None
    try:
        asked = make_incoming_question(request, "query", Question(question, Scope(book or None)))
        outcome = await work_while_connected(request, answerer.collect(asked))
        return make_reply(outcome, answerer.ports.library), None
    except InputError as error:
        return Notice("Please ask again", error.what), None
    except PartFailed as error:
        return Notice("Could not look it up", problem_of(error).message), None
    except Overloaded as error:
        problem = problem_of(error)
        return Notice("Please wait a moment", problem.message), problem
