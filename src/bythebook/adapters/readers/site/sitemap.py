"""Sitemaps: the pages that a site lists of itself."""

import io
from collections.abc import Iterator, Sequence

from lxml import etree

from bythebook.adapters.readers.site.address import WebAddress, join
from bythebook.adapters.readers.site.connection import Wanted
from bythebook.adapters.readers.site.fetch import Fetcher
from bythebook.adapters.readers.site.inflate import inflated
from bythebook.adapters.readers.site.limits import FetchFailed

_MOST_BYTES = 20_000_000
_MOST_FILES = 50
_MOST_PAGES = 50_000
_WANTED = Wanted(
    "a sitemap",
    frozenset(
        """application/xml text/xml text/plain application/gzip application/x-gzip
        application/octet-stream application/rss+xml""".split()
    )
    | {""},
    _MOST_BYTES,
)


def sitemap_pages(fetcher: Fetcher, lists: Sequence[WebAddress], folder: str) -> list[WebAddress]:
    """Give the pages below a folder that sitemaps list, and the sitemaps that these list."""
    origin = lists[0].origin if lists else ""
    queue, seen = list(lists), set(lists)
    pages: dict[WebAddress, None] = {}
    for listing in queue:  # grows while it is read
        for kind, address in _entries(fetcher, listing):
            if address.origin != origin:
                continue
            if kind == "url" and address.path.startswith(folder):
                pages[address] = None
            elif kind == "sitemap" and address not in seen and len(seen) < _MOST_FILES:
                seen.add(address)
                queue.append(address)
            if len(pages) >= _MOST_PAGES:
                return list(pages)
    return list(pages)


def _entries(fetcher: Fetcher, listing: WebAddress) -> Iterator[tuple[str, WebAddress]]:
    try:
        body = _xml(fetcher.get(listing, _WANTED).body)
    except FetchFailed:
        return
    for kind, text in _locations(body):
        if target := join(listing, text):
            yield kind, target[0]


def _xml(body: bytes) -> bytes:
    """Unpack a sitemap that is a gzip file."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    return b"".join(inflated((body,), "gzip", _MOST_BYTES))


def _locations(body: bytes) -> Iterator[tuple[str, str]]:
    """Read entries as far as the XML is sound; entities are not expanded."""
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
