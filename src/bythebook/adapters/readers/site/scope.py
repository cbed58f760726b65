"""Decides which addresses belong to a book, and resolves links between them."""

import re
from functools import lru_cache

from bythebook.adapters.readers.html.book.web_pages import Target, WebPage, strip_page_suffix
from bythebook.adapters.readers.site.address import WebAddress, join, parse_address

_OTHER_FILE = re.compile(
    r"""\.(?:7z|apk|avif|bmp|bz2|css|csv|dmg|docx?|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|json|map
    |mobi|mp[34]|msi|odt|ogg|otf|pdf|png|pptx?|ps|py|rar|rss|svg|tar|tgz|ttf|txt|wasm|wav|webm|webp
    |whl|woff2?|xlsx?|xml|xz|ya?ml|zip)$""",
    re.IGNORECASE | re.VERBOSE,
)
_MAX_SEGMENTS = 16  # in a path; longer ones are crawler traps
_MAX_REPEATS = 3  # of a segment in a path


class SiteScope:
    """The pages that belong to the book: those below one folder of one origin."""

    def __init__(self, start: WebAddress, folder: str) -> None:
        self.start = start
        self.folder = folder
        self.keeps_queries = bool(start.query)
        self._joined = lru_cache(maxsize=100_000)(self._join)

    def holds(self, address: WebAddress) -> bool:
        """Return True if an address belongs to the book."""
        inside = address.path.startswith(self.folder) or address.key == self.start.key
        return inside and address.origin == self.start.origin

    def find_page(self, page: str, base: str, href: str) -> tuple[WebAddress, str] | None:
        """Return the page of the book that a link leads to, and its anchor."""
        if not href.strip().startswith(("#", "?")):
            page = page.partition("?")[0]
            page = page[: page.rindex("/") + 1]  # the same for many pages
        return self._joined(page, base, href)

    def _join(self, page: str, base: str, href: str) -> tuple[WebAddress, str] | None:
        here = parse_address(page)
        if base:
            moved = join(here, base)
            if moved is None:
                return None
            here = moved[0]
        found = join(here, href)
        if found is None:
            return None
        address = found[0] if self.keeps_queries else found[0].drop_query()
        return (address, found[1]) if self.holds(address) and _is_page(address) else None

    def find_key(self, page: str, base: str, href: str) -> str | None:
        """Return the key of the page that a link leads to."""
        found = self.find_page(page, base, href)
        return found[0].key if found else None

    def find_target(self, page: WebPage, href: str) -> Target | None:
        """Return the target of a link on a page."""
        found = self.find_page(page.address, page.summary.base, href)
        return Target(found[0].key, found[1]) if found else None

    def make_path(self, address: WebAddress) -> str:
        """Return a page's path below the folder."""
        inside = address.path.startswith(self.folder)
        path = strip_page_suffix(address.path[len(self.folder) :]) if inside else ""
        return f"{path}-{address.query}" if address.query else path


def _is_page(address: WebAddress) -> bool:
    """Return True if an address may be a page, and not another file or a crawler trap."""
    segments = address.path.split("/")
    if _OTHER_FILE.search(address.path) or len(segments) > _MAX_SEGMENTS:
        return False
    return all(segments.count(segment) <= _MAX_REPEATS for segment in segments if segment)
