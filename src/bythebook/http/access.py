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
from bythebook.errors import Unauthorized
from bythebook.http.asking import caller_of
from bythebook.http.draining import Draining
from bythebook.operate.gate import Gate

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class AskRoute(APIRoute):
    """A route that needs a key of scope `ask`, once there are keys."""

    scope_needed: ClassVar[KeyScope] = "ask"

    def get_route_handler(self) -> Handler:
        """Put the gate before the body is read, so that no stranger learns what a body lacks."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            await admit(request, self.scope_needed)
            draining: Draining = request.app.state.draining
            return await draining.unless_over(handle(request))

        return guarded


class AdminRoute(AskRoute):
    """A route that needs a key of scope `admin`, once there are keys; no cache keeps what it tells."""

    scope_needed: ClassVar[KeyScope] = "admin"

    def get_route_handler(self) -> Handler:
        """Mark what is told as private to this one request."""
        handle = super().get_route_handler()

        async def private(request: Request) -> Response:
            response = await handle(request)
            response.headers["Cache-Control"] = "no-store"
            return response

        return private


async def admit(request: Request, scope: KeyScope) -> None:
    """Let a request in, or raise NotAdmitted; its caller is then known."""
    ip = caller_of(request).ip
    admission = await gate_of(request).admit(_secret(request), _origin(request), ip, scope)
    request.state.caller = admission.caller
    _note(request, admission.allowance)


async def admit_session(request: Request, session_id: UUID | None) -> None:
    """Count a request that was let in also in its session, or raise TooManyRequests."""
    _note(request, await gate_of(request).admit_session(caller_of(request), session_id))


def gate_of(request: Request) -> Gate:
    """Give what lets requests in."""
    gate: Gate = request.app.state.gate
    return gate


def _note(request: Request, allowance: Allowance | None) -> None:
    """Keep the window that has the least room, for the response to tell."""
    before: Allowance | None = getattr(request.state, "allowance", None)
    if allowance and (before is None or allowance.remaining < before.remaining):
        request.state.allowance = allowance


def _origin(request: Request) -> str | None:
    """Give the site that a request comes from; browsers do not name it when a page reads from its own."""
    if "origin" in request.headers or request.headers.get("sec-fetch-site") != "same-origin":
        return request.headers.get("origin")
    page = urlsplit(
        request.headers.get("referer", "")
    )  # knows the site's own scheme behind a proxy
    if page.scheme and page.netloc:
        return f"{page.scheme}://{page.netloc}"
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _secret(request: Request) -> str | None:
    """Read the key; an Authorization of another kind is some proxy's business."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    given = [token.strip()] if kind.lower() == "bearer" else []
    given += [name.strip() for name in request.headers.getlist("x-api-key")]
    secrets = set(filter(None, given))
    if len(secrets) > 1:
        raise Unauthorized("Two different keys were given.")
    return secrets.pop() if secrets else None
