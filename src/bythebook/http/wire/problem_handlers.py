"""Answers every failure of the application in the shape of the contract that was called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.requests import Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from bythebook.errors import ByTheBookError, Overloaded
from bythebook.http.wire.context import context_of
from bythebook.http.wire.leaving import CLIENT_LEFT
from bythebook.http.wire.problems import (
    KIND_OF_STATUS,
    MESSAGES,
    Problem,
    ProblemKind,
    field_message,
    problem_of,
)

Shape = Callable[[Request, Problem], dict[str, Any]]
PageOf = Callable[[Request, Problem], Response | None]
_Part = TypeVar("_Part")


def install_problems(
    app: FastAPI,
    shapes: Mapping[str, Shape],
    statuses: Mapping[str, Mapping[ProblemKind, int]] = MappingProxyType({}),
    page_of: PageOf = lambda _request, _problem: None,
) -> None:
    """Answer every failure in the shape, and with the status, of the contract that was called."""
    handlers = _ProblemHandlers(shapes, statuses, page_of)
    app.add_exception_handler(RequestValidationError, handlers.on_validation)
    app.add_exception_handler(HTTPException, handlers.on_http)
    app.add_exception_handler(ByTheBookError, handlers.on_ours)
    app.add_exception_handler(ClientDisconnect, handlers.on_leaving)
    app.add_exception_handler(Exception, handlers.on_any)
    app.state.refuse = handlers.on_ours  # for middleware, which runs outside the handlers


@dataclass(frozen=True, slots=True)
class _ProblemHandlers:
    """One handler for each kind of error."""

    shapes: Mapping[str, Shape]
    statuses: Mapping[str, Mapping[ProblemKind, int]]
    page_of: PageOf

    async def on_validation(self, request: Request, error: Exception) -> Response:
        errors = error.errors() if isinstance(error, RequestValidationError) else ()
        context_of(request).rejected_body = getattr(error, "body", None)
        return self._respond(request, Problem("validation_failed", *_sentence(errors)))

    async def on_http(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        kind = KIND_OF_STATUS.get(status, "internal")
        headers = error.headers if isinstance(error, HTTPException) else None
        problem = Problem(kind, _own_words(error) or MESSAGES[kind])
        return self._respond(request, problem, headers)

    async def on_ours(self, request: Request, error: Exception) -> Response:
        context_of(request).overloaded = isinstance(error, Overloaded)
        return self._respond(request, problem_of(error))

    async def on_leaving(self, _request: Request, _error: Exception) -> Response:
        return Response(status_code=CLIENT_LEFT)  # for the log; there is nobody to read it

    async def on_any(self, request: Request, _error: Exception) -> Response:
        # Starlette logs the exception itself; callers learn no more than this.
        # It passes by all middleware, so what a page on another site needs is added here.
        shared = context_of(request).cors_headers
        return self._respond(request, Problem("internal", MESSAGES["internal"]), shared)

    def _respond(
        self, request: Request, problem: Problem, more: Mapping[str, str] | None = None
    ) -> Response:
        request_id = str(context_of(request).request_id)
        shape = _match_path(self.shapes, request.url.path)
        if shape is None and (page := self.page_of(request, problem)) is not None:
            page.headers["X-Request-ID"] = request_id
            return page
        headers = {**(more or {}), **problem.headers, "X-Request-ID": request_id}
        if problem.retry_after is not None:
            headers["Retry-After"] = str(problem.retry_after)
        changed = _match_path(self.statuses, request.url.path) or {}
        status = changed.get(problem.kind, problem.status)
        return JSONResponse((shape or _plain_shape)(request, problem), status, headers)


def _match_path(contracts: Mapping[str, _Part], path: str) -> _Part | None:
    """Return the entry for a path; a key that ends in a slash matches everything below it."""
    return contracts.get(path) or next(
        (part for place, part in contracts.items() if place[-1] == "/" and path.startswith(place)),
        None,
    )


def _plain_shape(_request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure of a route that belongs to no contract."""
    return {"error": problem.kind, "message": problem.message}


def _own_words(error: Exception) -> str | None:
    """Return the message of one of our own 404s; the framework's only name the status."""
    said = error.detail if isinstance(error, HTTPException) and error.status_code == 404 else ""
    return said if said.endswith(".") else None


def _sentence(errors: Sequence[Mapping[str, Any]]) -> tuple[str, str | None]:
    """Name the first field that is wrong and what is wrong with it; never echo its value."""
    if not errors:
        return "The request is not valid.", None
    sentences = [field_message(error) for error in errors]
    return sentences[0], (" ".join(sentences[1:])[:500] or None)
