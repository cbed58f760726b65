"""Pages of other sites: only those that a key is bound to may call."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bythebook.http.access.page_origin import is_own_origin
from bythebook.http.wire.context import context_in

_METHODS = "GET, POST, DELETE"
_HEADERS = "Authorization, X-API-Key, Content-Type, X-Request-ID"
_EXPOSED = "X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
_REMEMBERED_SECONDS = "600"  # how long a browser caches this; each request is checked anyway


class CrossOrigin:
    """ASGI middleware: answers preflights, and lets the pages of listed origins read responses."""

    def __init__(self, app: ASGIApp, allows: Callable[[str], Awaitable[bool]]) -> None:
        self._app = app
        self._allows = allows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        origin = asked.get("origin", "")
        elsewhere = bool(origin) and not is_own_origin(
            asked
        )  # own pages need no permission to read
        allowed = elsewhere and await self._allows(origin)
        if origin and scope["method"] == "OPTIONS" and "access-control-request-method" in asked:
            await _preflight(origin, allowed=allowed)(scope, receive, send)
            return
        shared = _allow_headers(origin, allowed=allowed)
        context_in(scope).cors_headers = shared

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Origin")
                headers.update({name: value for name, value in shared.items() if name != "Vary"})
            await send(message)

        await self._app(scope, receive, send_shared)


def _allow_headers(origin: str, *, allowed: bool) -> Mapping[str, str]:
    if not allowed:
        return {"Vary": "Origin"}
    return {
        "Vary": "Origin",
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": _EXPOSED,
    }


def _preflight(origin: str, *, allowed: bool) -> Response:
    if not allowed:
        refusal = {"error": "forbidden", "message": "No key is bound to this origin."}
        return JSONResponse(refusal, 403, {"Vary": "Origin"})
    return Response(
        status_code=204,
        headers={
            "Vary": "Origin",
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _HEADERS,
            "Access-Control-Max-Age": _REMEMBERED_SECONDS,
        },
    )
