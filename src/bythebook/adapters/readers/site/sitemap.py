"""Reads sitemaps, the lists of pages that a site publishes."""

import io
from collections.abc import Iterator, Sequence

from lxml import etree

from bythebook.adapters.readers.site.address import WebAddress, join
from bythebook.adapters.readers.site.connection import ExpectedContent
from bythebook.adapters.readers.site.fetch import Fetcher
from bythebook.adapters.readers.site.inflate import inflate
from bythebook.adapters.readers.site.limits import FetchFailed

_MAX_BYTES = 20_000_000
_MAX_FILES = 50
_MAX_PAGES = 50_000
_EXPECTED = ExpectedContent(
    "a sitemap",
    frozenset(
        """application/xml text/xml text/plain application/gzip application/x-gzip
        application/octet-stream application/rss+xml""".split()
    )
    | {""},
    _MAX_BYTES,
)


def list_sitemap_pages(
    fetcher: Fetcher, lists: Sequence[WebAddress], folder: str
) -> list[WebAddress]:
    """Return the pages below a folder in sitemaps, including nested sitemaps."""
    origin = lists[0].origin if lists else ""
    queue, seen = list(lists), set(lists)
    pages: dict[WebAddress, None] = {}
    for listing in queue:  # grows in the loop
        for kind, address in _read_entries(fetcher, listing):
            if address.origin != origin:
                continue
            if kind == "url" and address.path.startswith(folder):
                pages[address] = None
            elif kind == "sitemap" and address not in seen and len(seen) < _MAX_FILES:
                seen.add(address)
                queue.append(address)
            if len(pages) >= _MAX_PAGES:
                return list(pages)
    return list(pages)


def _read_entries(fetcher: Fetcher, listing: WebAddress) -> Iterator[tuple[str, WebAddress]]:
    try:
        body = _unpack(fetcher.get(listing, _EXPECTED).body)
    except FetchFailed:
        return
    for kind, text in _read_locations(body):
        if target := join(listing, text):
            yield kind, target[0]


def _unpack(body: bytes) -> bytes:
    """Decompress a gzip sitemap."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    return b"".join(inflate((body,), "gzip", _MAX_BYTES))


def _read_locations(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield entries up to the first XML error; entities are not expanded."""
    events = etree.iterparse(
        io.BytesIO(body), events=("end",), resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        for _, element in events:
            name = etree.QName(element).localname
            if name in {"url", "sitemap"}:
                location = element.find("{*}loc")
                if location is not None and location.text:
                    yield name, location.text
                element.clear()
    except etree.XMLSyntaxError:
        return
