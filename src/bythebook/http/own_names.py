"""The names that an open service goes by: a page elsewhere can lend this machine its own name."""

import contextlib
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from fastapi.requests import Request

from bythebook.errors import Forbidden, RecordsFailed
from bythebook.http.access import gate_of

_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<name>[^:\[\]]+)(?::\d+)?")


def own_names_only(reader_url: str) -> Callable[[Request], Awaitable[None]]:
    """Make what refuses, while there are no keys, requests to a name that is not the service's.

    A browser lets a page talk to its own site only; whoever owns that site's name can make it
    lead here (DNS rebinding), and the page could read the book, were it not for the name.
    """
    names = _HERE | {urlsplit(reader_url).hostname or ""}

    async def require(request: Request) -> None:
        if _name(request) not in names and await _is_open(request):
            raise Forbidden(
                "Without keys this service answers to its own name only; set BYTHEBOOK_PUBLIC_URL."
            )

    return require


async def _is_open(request: Request) -> bool:
    with contextlib.suppress(RecordsFailed):  # then nothing is open
        return await gate_of(request).ring.is_open()
    return False


def _name(request: Request) -> str:
    host = _HOST.fullmatch(request.headers.get("host", "").strip())
    return (host["v6"] or host["name"]).lower().rstrip(".") if host else ""
