"""Failures as pages for people: what happened, and where to go on."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi.requests import Request
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from bythebook.errors import ByTheBookError, NotAdmitted, RecordsFailed
from bythebook.http.access.gate_routes import admit
from bythebook.http.pages.render import render_page
from bythebook.http.wire.problems import Problem, ProblemKind, problem_of

_TITLES: Mapping[ProblemKind, str] = {
    "not_found": "There is no such page",
    "validation_failed": "This address is not right",
    "unauthorized": "This needs a key",
    "forbidden": "This is not open to you",
    "rate_limited": "Please wait a moment",
    "overloaded": "Please wait a moment",
}
_FAILED = "This did not work"
_INTERNAL = Problem("internal", "Something went wrong on our side. Please try again.")
_log = logging.getLogger("bythebook.http")
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route for people: failures are shown as a page to callers that accept one."""

    def get_route_handler(self) -> Handler:
        """Wrap the handler."""
        handle = super().get_route_handler()

        async def handle_or_explain(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                if isinstance(error, ClientDisconnect) or not accepts_pages(request):
                    raise
                return render_problem(_find_problem(error))

        return handle_or_explain


def accepts_pages(request: Request) -> bool:
    """Return True if a person reads the response, as in a browser."""
    return "text/html" in request.headers.get("accept", "")


def render_problem(problem: Problem) -> HTMLResponse:
    """Show a failure as a page of its own."""
    title = _TITLES.get(problem.kind, _FAILED)
    return add_problem(render_page("failure.html", title=title, message=problem.message), problem)


def render_problem_if_accepted(request: Request, problem: Problem) -> HTMLResponse | None:
    """Show a failure as a page to callers that accept one, at addresses without a route."""
    return render_problem(problem) if accepts_pages(request) else None


def add_problem(page: HTMLResponse, problem: Problem) -> HTMLResponse:
    """Give a page the status and the headers of a problem."""
    page.status_code = problem.status
    page.headers.update(problem.headers)
    if problem.retry_after is not None:
        page.headers["Retry-After"] = str(problem.retry_after)
    return page


async def check_admission(request: Request) -> Problem | None:
    """Return why a reader who asks on a page is not admitted, or None."""
    try:
        await admit(request, "ask")
    except (NotAdmitted, RecordsFailed) as error:
        return problem_of(error)
    return None


def _find_problem(error: Exception) -> Problem:
    if isinstance(error, HTTPException) and error.status_code == 404:
        is_ours = error.detail.endswith(".")
        return Problem(
            "not_found", error.detail if is_ours else "There is nothing at this address."
        )
    if isinstance(error, ByTheBookError):
        return problem_of(error)
    _log.error("a page failed", exc_info=error)
    return _INTERNAL
