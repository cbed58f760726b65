"""Pages of a site or a folder, and the links between them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.html.book.menu import MenuEntry
from bythebook.adapters.readers.html.book.survey import PageSummary, RawPage
from bythebook.adapters.readers.pictures.shelf import KeptPicture
from bythebook.domain.books import MissingPicture


@dataclass(frozen=True, slots=True)
class WebPage:
    """A surveyed page of a site or a folder."""

    key: str  # shared by all addresses of the page
    path: str  # below the book's folder, without its suffix; empty for the folder's own page
    address: str  # base of its links
    url: str  # public address; may be empty
    raw: RawPage
    summary: PageSummary


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a link: the key of a page, and an anchor on it."""

    key: str
    anchor: str


FindPicture = Callable[[WebPage, str], KeptPicture | MissingPicture | None]
Locate = Callable[[WebPage, str], Target | None]  # None: outside the book


def _find_none(_page: WebPage, _target: str) -> None:
    """Keep no picture."""


@dataclass(frozen=True, slots=True)
class WebPages:
    """All pages of a book, start page first, with their addresses."""

    pages: Sequence[WebPage]
    locate: Locate
    missing: frozenset[str] = frozenset()  # keys that links name and no page has
    aliases: Mapping[str, str] = field(default_factory=dict)  # other keys of pages
    menu: Sequence[MenuEntry] = ()  # from a page that contains only a menu
    contents: Sequence[
        MenuEntry
    ] = ()  # pages listed on the start page; used for a site without menus

    find_picture: FindPicture = _find_none

    def find_target(self, page: WebPage, href: str) -> Target | None:
        """Return the target of a link by the page's main key; None outside the book."""
        target = self.locate(page, href)
        return Target(self.resolve_key(target.key), target.anchor) if target else None

    def resolve_key(self, key: str) -> str:
        """Return the main key of a page that may have several."""
        return self.aliases.get(key, key)


def find_duplicate_pages(pages: Iterable[WebPage]) -> dict[str, str]:
    """Map the key of each page that repeats an earlier page to the key of that page."""
    first: dict[bytes, str] = {}
    return {
        page.key: key
        for page in pages
        if page.summary.text_hash
        and (key := first.setdefault(page.summary.text_hash, page.key)) != page.key
    }


def strip_page_suffix(path: str) -> str:
    """Remove index file names and page suffixes from a path."""
    path = re.sub(r"(?:^|(?<=/))index\.(?:x?html?|php)$", "", path, flags=re.IGNORECASE)
    return re.sub(r"\.(?:x?html?|php)$", "", path, flags=re.IGNORECASE).strip("/")


def make_document_id(path: str) -> str:
    """Make a document id from a page's path."""
    kept = re.sub(r"[^\w./-]+", "-", path).strip("-/")
    return re.sub(r"/{2,}|(?<=/)\.+/", "/", kept) or "index"
