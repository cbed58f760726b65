"""Pictures of a web site: fetched like its pages, from the same origin, within the same budget."""

from collections.abc import Iterable
from functools import partial

from bythebook.adapters.readers.html.book.web_pages import WebPage
from bythebook.adapters.readers.pictures.shelf import (
    MAX_BYTES,
    KeptPicture,
    PictureShelf,
    miss_picture,
)
from bythebook.adapters.readers.pictures.types import UnusablePicture
from bythebook.adapters.readers.site.address import BadAddress, WebAddress, join, parse_address
from bythebook.adapters.readers.site.connection import ExpectedContent
from bythebook.adapters.readers.site.fetch import Fetcher
from bythebook.adapters.readers.site.limits import FetchFailed, OutOfBounds
from bythebook.domain.books import MissingPicture

_MAX_PICTURES = 2_000
_TYPES = frozenset(
    "image/png image/jpeg image/gif image/webp image/avif image/svg+xml image/jpg".split()
)


class SitePictures:
    """Fetches the pictures of a site's pages, and keeps them until the book is published."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._contents: dict[str, bytes | str] = {}  # by address; a str says why there is none
        self.shelf = PictureShelf()

    def fetch(self, pages: Iterable[WebPage], fetcher: Fetcher) -> None:
        """Fetch what the pages show; stop at the limits of the run."""
        expected = ExpectedContent("a picture", _TYPES, MAX_BYTES)
        wanted = {
            address.text: address
            for page in pages
            for target in page.summary.pictures
            if (address := _find_address(page, target)) and address.origin == self._origin
        }
        for name, address in list(wanted.items())[:_MAX_PICTURES]:
            try:
                self._contents[name] = fetcher.get(address, expected).body
            except FetchFailed as failure:
                self._contents[name] = failure.reason
            except OutOfBounds:
                return

    def find(self, page: WebPage, target: str) -> KeptPicture | MissingPicture | None:
        """Find the picture that a page shows."""
        if target[:5].lower() == "data:":
            return self.shelf.find(target)
        address = _find_address(page, target)
        if address is None or address.origin != self._origin:
            return miss_picture(target, "It is on another site, from which nothing is fetched.")
        return self.shelf.keep(address.text, target, partial(self._load, address.text))

    def _load(self, name: str) -> bytes:
        found = self._contents.get(name, "The limits of the run were reached before it.")
        if isinstance(found, str):
            raise UnusablePicture(found)
        return found


def _find_address(page: WebPage, target: str) -> WebAddress | None:
    try:
        here = parse_address(page.address)
    except BadAddress:
        return None
    base = join(here, page.summary.base) if page.summary.base else (here, "")
    found = join(base[0], target) if base else None
    return found[0] if found else None
