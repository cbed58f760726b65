"""Which addresses belong to a book, and where links between them lead."""

import re
from functools import lru_cache

from bythebook.adapters.readers.html.web_pages import Target, WebPage, path_of
from bythebook.adapters.readers.site.address import WebAddress, join, parse_address

_NO_PAGE = re.compile(
    r"""\.(?:7z|apk|avif|bmp|bz2|css|csv|dmg|docx?|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|json|map
    |mobi|mp[34]|msi|odt|ogg|otf|pdf|png|pptx?|ps|py|rar|rss|svg|tar|tgz|ttf|txt|wasm|wav|webm|webp
    |whl|woff2?|xlsx?|xml|xz|ya?ml|zip)$""",
    re.IGNORECASE | re.VERBOSE,
)
_MOST_SEGMENTS = 16  # of a path; longer ones are traps
_MOST_REPEATS = 3  # of one segment in a path


class Scope:
    """What belongs to the book: the pages below one folder of one origin."""

    def __init__(self, start: WebAddress, folder: str) -> None:
        self.start = start
        self.folder = folder
        self.keeps_queries = bool(start.query)
        self._joined = lru_cache(maxsize=100_000)(self._join)

    def holds(self, address: WebAddress) -> bool:
        """Say whether an address is one of the book's."""
        inside = address.path.startswith(self.folder) or address.key == self.start.key
        return inside and address.origin == self.start.origin

    def find(self, page: str, base: str, href: str) -> tuple[WebAddress, str] | None:
        """Give the page of the book that a link leads to, and the place on it."""
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
        address = found[0] if self.keeps_queries else found[0].without_query()
        return (address, found[1]) if self.holds(address) and _is_page(address) else None

    def key_of(self, page: str, base: str, href: str) -> str | None:
        """Name the page of the book that a link leads to."""
        found = self.find(page, base, href)
        return found[0].key if found else None

    def locate(self, page: WebPage, href: str) -> Target | None:
        """Give where a link of a page leads."""
        found = self.find(page.address, page.survey.base, href)
        return Target(found[0].key, found[1]) if found else None

    def path_of(self, address: WebAddress) -> str:
        """Give a page's path below the folder."""
        inside = address.path.startswith(self.folder)
        path = path_of(address.path[len(self.folder) :]) if inside else ""
        return f"{path}-{address.query}" if address.query else path


def _is_page(address: WebAddress) -> bool:
    """Say whether an address may be a page: no file of another kind, no trap of endless paths."""
    segments = address.path.split("/")
    if _NO_PAGE.search(address.path) or len(segments) > _MOST_SEGMENTS:
        return False
    return all(segments.count(segment) <= _MOST_REPEATS for segment in segments if segment)
