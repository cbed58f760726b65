"""Style sheet and scripts: named by their content, so that browsers may keep them for good."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import Response

_NAMES = ("reader.css", "icon.svg", "admin.css", "widget.js", "reader.js", "admin.js")
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOR_OTHER_SITES = frozenset({"widget.js"})
_FOR_GOOD = "public, max-age=31536000, immutable"
_FOR_A_WHILE = "public, max-age=600, stale-while-revalidate=86400"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that pages load."""

    name: str
    content: bytes
    packed: bytes  # the same, gzipped

    @property
    def digest(self) -> str:
        """What changes with the content."""
        return hashlib.sha256(self.content).hexdigest()[:16]

    @property
    def url(self) -> str:
        """The address of just this content."""
        return f"/{self.name}?v={self.digest}"

    @property
    def media_type(self) -> str:
        """What it is."""
        return _KINDS[self.name.rpartition(".")[2]]


@cache
def load_asset(name: str) -> Asset:
    """Read a file of the package."""
    content = files("bythebook.web").joinpath(name).read_bytes()
    return Asset(name, content, gzip.compress(content, mtime=0))


def find_asset(name: str) -> Asset | None:
    """Read a file if it is there; scripts come from a build, without which pages still work."""
    return load_asset(name) if files("bythebook.web").joinpath(name).is_file() else None


def assets_router() -> APIRouter:
    """Make a route for each file."""
    router = APIRouter(include_in_schema=False)
    for asset in filter(None, map(find_asset, _NAMES)):
        _add_route(router, asset)
    return router


def _add_route(router: APIRouter, served: Asset) -> None:
    @router.get(f"/{served.name}")
    async def serve(request: Request, v: str = "") -> Response:
        headers = _make_headers(served, current=v == served.digest)
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        content = served.content
        if "gzip" in request.headers.get("accept-encoding", ""):
            content, headers["Content-Encoding"] = served.packed, "gzip"
        return Response(content, media_type=served.media_type, headers=headers)


def _make_headers(served: Asset, *, current: bool) -> dict[str, str]:
    shared = "cross-origin" if served.name in _FOR_OTHER_SITES else "same-origin"
    return {
        "ETag": f'W/"{served.digest}"',  # weak: packed or not, it is the same
        "Vary": "Accept-Encoding",
        "Cache-Control": _FOR_GOOD if current else _FOR_A_WHILE,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": shared,
    }
