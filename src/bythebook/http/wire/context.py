"""The context of a request: its id, its start, its caller; and a limit on its size."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bythebook.domain.access import Allowance, Caller
from bythebook.http.access.client_address import Network, client_address

MAX_BODY_BYTES = 256 * 1024
OVER_CAPACITY = "over_capacity"  # state key of connections that serve health checks only
_CONTEXT = "context"


@dataclass(slots=True)
class RequestContext:
    """What is known of one request; routes add what they learn."""

    request_id: uuid.UUID
    caller: Caller
    started: float = field(default_factory=time.perf_counter)
    over_capacity: bool = False  # on a connection that is kept for health checks
    allowance: Allowance | None = None  # of the window with the least room
    session_id: uuid.UUID | None = None
    question: str | None = None  # echoed in errors
    rejected_body: object = None
    overloaded: bool = False  # refused because too many questions are being asked
    cors_headers: Mapping[str, str] | None = None


def context_of(request: HTTPConnection) -> RequestContext:
    """Return the context of a request."""
    return context_in(request.scope)


def context_in(scope: Scope) -> RequestContext:
    """Return the context of a request, for middleware."""
    context: RequestContext = scope["state"][_CONTEXT]
    return context


class ContextMiddleware:
    """ASGI middleware: takes or makes X-Request-ID, echoes it, and stops bodies that are too large."""

    def __init__(self, app: ASGIApp, proxies: Sequence[Network] = ()) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope)
        client = scope.get("client")
        peer = client[0] if client else None
        forwarded = given.getlist("x-forwarded-for")
        state = scope.setdefault("state", {})
        context = state[_CONTEXT] = RequestContext(
            _request_id(given.get("x-request-id", "")),
            Caller(client_address(peer, forwarded, self._proxies)),
            over_capacity=bool(state.get(OVER_CAPACITY)),
        )

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = str(context.request_id)
                for name, value in _allowance_headers(context.allowance).items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, _limit_body(receive), send_with_id)


def _allowance_headers(allowance: Allowance | None) -> dict[str, str]:
    """Write what is left of the window with the least room that the request was counted in."""
    if allowance is None:
        return {}
    return rate_headers(allowance.limit, allowance.remaining, allowance.retry_after)


def rate_headers(limit: int, remaining: int, reset: int) -> dict[str, str]:
    """Write a limit, what is left of it, and in how many seconds there is more."""
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(reset),
    }


def _request_id(given: str) -> uuid.UUID:
    try:
        return uuid.UUID(given)
    except ValueError:
        return uuid.uuid4()


def _limit_body(receive: Receive) -> Receive:
    received = 0

    async def receive_within_bound() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise HTTPException(413)
        return message

    return receive_within_bound
