"""What a service without keys rejects on every route: names and proxies that would open it to others."""

import contextlib
import re
from urllib.parse import urlsplit

from fastapi.requests import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bythebook.errors import Forbidden, RecordsFailed
from bythebook.http.contracts import health
from bythebook.operate.access.keyring import KeyRing

_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<name>[^:\[\]]+)(?::\d+)?")
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-real-ip"})
_PROXY_PREFIX = "x-forwarded-"  # -for, -host, -proto and whatever else a proxy adds
_OTHER_NAME = (
    "Without keys this service answers to its own name only; set BYTHEBOOK_PUBLIC_URL, "
    "or create a key: `bythebook keys create --scope ask`."
)
_PROXY = (
    "This service has no keys, so it answers nobody through a proxy. "
    "Create a key: `bythebook keys create --scope ask`."
)


class KeylessGuard:
    """ASGI middleware: while there are no keys, rejects what may come from another machine.

    A browser lets a page talk to its own site only; the owner of that site's name can make it lead
    here (DNS rebinding), and the page could read the book, were it not for the name. A proxy on this
    machine makes everybody's requests look like this machine's own. Health routes stay open to all,
    since load balancers probe them and they tell nothing of books or readers.
    """

    def __init__(self, app: ASGIApp, ring: KeyRing, reader_url: str) -> None:
        self._app = app
        self._ring = ring
        self._names = _HERE | {urlsplit(reader_url).hostname or ""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http" and scope["path"] not in health.PATHS:
            objection = self._objection(scope)
            if objection and await self._is_open():
                response = await scope["app"].state.refuse(Request(scope), Forbidden(objection))
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _objection(self, scope: Scope) -> str | None:
        if _came_through_proxy(scope):
            return _PROXY
        return None if _name(Headers(scope=scope)) in self._names else _OTHER_NAME

    async def _is_open(self) -> bool:
        with contextlib.suppress(RecordsFailed):  # keys unknown: treat the service as not open
            return await self._ring.is_open()
        return False


def _came_through_proxy(scope: Scope) -> bool:
    """Return True if a proxy has marked the request, or it is in a version that only proxies speak.

    By default nginx marks nothing, and most of its versions speak HTTP/1.0.
    """
    names = {name.decode("latin-1").lower() for name, _ in scope["headers"]}
    marked = any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIX) for name in names)
    return marked or scope.get("http_version") == "1.0"


def _name(headers: Headers) -> str:
    host = _HOST.fullmatch(headers.get("host", "").strip())
    return (host["v6"] or host["name"]).lower().rstrip(".") if host else ""
