"""Request -> caller: who is let in, before anything else of the request is read."""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from fastapi.requests import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from bythebook.domain.access import Allowance
from bythebook.domain.records import KeyScope
from bythebook.errors import Forbidden, Unauthorized
from bythebook.http.access.page_origin import is_from_another_site
from bythebook.http.wire.context import context_of
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.leaving import work_while_connected
from bythebook.operate.access.gate import Gate
from bythebook.operate.answer_queue import AnswerQueue

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_OTHER_SITE = (
    "This service has no keys, so it answers no page of another site. Create a key for that site: "
    "`bythebook keys create --scope ask --origin https://site.example`."
)


class AskRoute(APIRoute):
    """A route that needs a key of scope `ask`, once there are keys."""

    scope_needed: ClassVar[KeyScope] = "ask"

    def get_route_handler(self) -> Handler:
        """Check access before the body is read, so that strangers see no validation errors."""
        handle = self.wrap_handler(super().get_route_handler())

        async def guard(request: Request) -> Response:
            await admit(request, self.scope_needed)
            draining: Draining = request.app.state.draining
            return await draining.unless_over(handle(request))

        return guard

    def wrap_handler(self, handle: Handler) -> Handler:
        """Return what handles a request of an admitted caller."""
        return handle


class QuestionRoute(AskRoute):
    """A route that asks the book: its questions wait for their turn, as long as their clients do."""

    def wrap_handler(self, handle: Handler) -> Handler:
        """Refuse a question that would wait too long before its body is read."""

        async def ask(request: Request) -> Response:
            queue: AnswerQueue = request.app.state.queue
            queue.require_short_wait(context_of(request).caller.holder)
            await request.body()
            return await work_while_connected(request, handle(request))

        return ask


class AdminRoute(AskRoute):
    """A route that needs a key of scope `admin`, once there are keys; responses are not cached."""

    scope_needed: ClassVar[KeyScope] = "admin"

    def get_route_handler(self) -> Handler:
        """Forbid caching of the response."""
        handle = super().get_route_handler()

        async def private(request: Request) -> Response:
            response = await handle(request)
            response.headers["Cache-Control"] = "no-store"
            return response

        return private


async def admit(request: Request, scope: KeyScope) -> None:
    """Let a request in and store its caller, or raise NotAdmitted."""
    gate, ip = gate_of(request), context_of(request).caller.ip
    if is_from_another_site(request.headers) and await gate.ring.is_open():
        raise Forbidden(
            _OTHER_SITE
        )  # not counted, otherwise any page could use up the readers' limit
    admission = await gate.admit(_secret(request), _origin(request), ip, scope)
    context_of(request).caller = admission.caller
    _note(request, admission.allowance)


async def admit_session(request: Request, session_id: UUID | None) -> None:
    """Also count an admitted request in its session, or raise TooManyRequests."""
    _note(request, await gate_of(request).admit_session(context_of(request).caller, session_id))


def gate_of(request: Request) -> Gate:
    """Return the gate of the application."""
    gate: Gate = request.app.state.gate
    return gate


def _note(request: Request, allowance: Allowance | None) -> None:
    """Remember the window with the least room, for the response headers."""
    context = context_of(request)
    before = context.allowance
    if allowance and (before is None or allowance.remaining < before.remaining):
        context.allowance = allowance


def _origin(request: Request) -> str | None:
    """Return the origin of a request; browsers omit it when a page reads from its own site."""
    if "origin" in request.headers or request.headers.get("sec-fetch-site") != "same-origin":
        return request.headers.get("origin")
    page = urlsplit(request.headers.get("referer", ""))  # has the public scheme even behind a proxy
    if page.scheme and page.netloc:
        return f"{page.scheme}://{page.netloc}"
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _secret(request: Request) -> str | None:
    """Return the key; other Authorization schemes may belong to a proxy and are ignored."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    given = [token.strip()] if kind.lower() == "bearer" else []
    given += [name.strip() for name in request.headers.getlist("x-api-key")]
    secrets = set(filter(None, given))
    if len(secrets) > 1:
        raise Unauthorized("Two different keys were given.")
    return secrets.pop() if secrets else None
