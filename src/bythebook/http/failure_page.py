"""Failures as pages for people: what happened, and where to go on."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from html import escape
from typing import Any

from fastapi.requests import Request
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from bythebook.errors import ByTheBookError, NotAdmitted, RecordsFailed
from bythebook.http.access import admit
from bythebook.http.layout import page
from bythebook.http.problems import Problem, ProblemKind, problem_of

_TITLES: Mapping[ProblemKind, str] = {
    "not_found": "There is no such page",
    "validation_failed": "This address is not right",
    "unauthorized": "This needs a key",
    "forbidden": "This is not open to you",
    "rate_limited": "Please wait a moment",
}
_FAILED = "This did not work"
_INTERNAL = Problem("internal", "Something went wrong on our side. Please try again.")
_log = logging.getLogger("bythebook.http")
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route for people: what fails is told on a page, unless the caller takes none."""

    def get_route_handler(self) -> Handler:
        """Put the telling around the handler."""
        handle = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                if not takes_pages(request):
                    raise
                return problem_page(_problem(error))

        return told


def takes_pages(request: Request) -> bool:
    """Say whether someone reads what comes back, as browsers do for people."""
    return "text/html" in request.headers.get("accept", "")


def problem_page(problem: Problem) -> HTMLResponse:
    """Tell a failure on a page of its own."""
    title = _TITLES.get(problem.kind, _FAILED)
    body = (
        f'<h1>{title}</h1><p role="alert">{escape(problem.message)}</p>'
        '<p><a href="/">All books</a></p>'
    )
    return with_problem(page(title, body), problem)


def failed(kind: str, message: str) -> str:
    """Tell a failure within a page."""
    return (
        f'<section class="reply refused" role="alert"><p class="kind">{escape(kind)}</p>'
        f"<p>{escape(message)}</p></section>"
    )


def with_problem(shown: HTMLResponse, problem: Problem) -> HTMLResponse:
    """Give a page the status and the headers of a problem."""
    shown.status_code = problem.status
    shown.headers.update(problem.headers)
    if problem.retry_after is not None:
        shown.headers["Retry-After"] = str(problem.retry_after)
    return shown


async def not_admitted(request: Request) -> Problem | None:
    """Let a reader in who asks on a page, or say why not."""
    try:
        await admit(request, "ask")
    except (NotAdmitted, RecordsFailed) as error:
        return problem_of(error)
    return None


def _problem(error: Exception) -> Problem:
    if isinstance(error, HTTPException) and error.status_code == 404:
        said = error.detail if error.detail.endswith(".") else "There is nothing at this address."
        return Problem("not_found", said)
    if isinstance(error, ByTheBookError):
        return problem_of(error)
    _log.error("a page failed", exc_info=error)
    return _INTERNAL


def page_where_read(request: Request, problem: Problem) -> HTMLResponse | None:
    """Tell a failure on a page to who takes pages, for addresses that no route has."""
    return problem_page(problem) if takes_pages(request) else None
