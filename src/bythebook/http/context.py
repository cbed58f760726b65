"""What every request carries: its id, its start, where it comes from, and a bound on its size."""

import time
import uuid
from collections.abc import MutableMapping, Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bythebook.domain.access import Allowance, Caller
from bythebook.http.client_address import Network, client_address

MAX_BODY_BYTES = 256 * 1024


class RequestContext:
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
        request_id = _request_id(given.get("x-request-id", ""))
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["started"] = time.perf_counter()
        client = scope.get("client")
        peer = client[0] if client else None
        forwarded = given.getlist("x-forwarded-for")
        state["caller"] = Caller(client_address(peer, forwarded, self._proxies))

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = str(request_id)
                for name, value in _allowance_headers(state).items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, _bounded(receive), send_with_id)


def _allowance_headers(state: MutableMapping[str, Any]) -> dict[str, str]:
    """Tell what is left of the window with the least room that the request was counted in."""
    allowance: Allowance | None = state.get("allowance")
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


def _bounded(receive: Receive) -> Receive:
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise HTTPException(413)
        return message

    return bounded
