"""A log line and a count for every request, by route and never by content.

What is refused for overload, perhaps hundreds a second, is counted one by one but shares log lines.
"""

import asyncio
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from bythebook.http.contracts import health
from bythebook.http.wire.context import context_in
from bythebook.http.wire.leaving import CLIENT_LEFT
from bythebook.http.wire.paced_log import PacedLog
from bythebook.ports import Metrics

_log = logging.getLogger("bythebook.requests")
_QUIET = health.PATHS | {"/metrics"}
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_UNMATCHED = "unmatched"  # one name for every path that leads nowhere
_OTHER = "other"


class RequestLog:
    """ASGI middleware: runs inside RequestContext, and around everything that may reject a request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._overloads = PacedLog(_log_overloads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        clear_contextvars()
        bind_contextvars(request_id=str(context_in(scope).request_id))
        status: int | None = None

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        except asyncio.CancelledError:
            self._note(scope, status or CLIENT_LEFT)
            raise
        except BaseException:
            self._note(scope, status or 500)
            raise
        self._note(scope, status or CLIENT_LEFT)

    def _note(self, scope: Scope, status: int) -> None:
        method = scope["method"] if scope["method"] in _METHODS else _OTHER
        route = _template(scope)
        context = context_in(scope)
        seconds = time.perf_counter() - context.started
        self._metrics.count_request(method, route, status, seconds)
        level = logging.WARNING if status >= 500 else logging.INFO
        if context.overloaded:
            self._overloads.count()
        if route in _QUIET or context.overloaded:
            level = logging.DEBUG
        session = context.session_id
        fields = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        _log.log(level, "request", extra=fields | {"session_id": session and str(session)})


def _log_overloads(times: int) -> None:
    _log.warning("requests refused, too many questions are waiting", extra={"refused": times})


def _template(scope: Scope) -> str:
    """Return the template of the matched route; Starlette's own routes have no parameters."""
    if "route" in scope:
        return str(getattr(scope["route"], "path", _OTHER))
    return str(scope["path"]) if "endpoint" in scope else _UNMATCHED
