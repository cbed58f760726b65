"""Pages of a site or a folder, and where the links between them lead."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.html.menu import MenuEntry
from bythebook.adapters.readers.html.survey import RawPage, Survey


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of a site or a folder, looked over."""

    key: str  # the same for all addresses of the page
    path: str  # below the book's folder, without its ending; empty for the folder's own page
    address: str  # what its links are counted from
    url: str  # where its readers find it; may be empty
    raw: RawPage
    survey: Survey


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads: a page, by its key, and a place on it."""

    key: str
    anchor: str


Locate = Callable[[WebPage, str], Target | None]  # none: out of the book


@dataclass(frozen=True, slots=True)
class WebPages:
    """All pages of a book, the start page first, and what is known of their addresses."""

    pages: Sequence[WebPage]
    locate: Locate
    gone: frozenset[str] = frozenset()  # keys at which nothing is
    aliases: Mapping[str, str] = field(default_factory=dict)  # other keys of pages
    menu: Sequence[MenuEntry] = ()  # of a page that is but a menu
    contents: Sequence[MenuEntry] = ()  # what the start page lists; for a site without menus

    def leads_to(self, page: WebPage, href: str) -> Target | None:
        """Give where a link leads, by the page's one key; none if out of the book."""
        target = self.locate(page, href)
        return Target(self.key(target.key), target.anchor) if target else None

    def key(self, key: str) -> str:
        """Give the one key of a page that may be known by several."""
        return self.aliases.get(key, key)


def equal_pages(pages: Iterable[WebPage]) -> dict[str, str]:
    """Find pages that say just what one before them says; give that one's key by theirs."""
    first: dict[bytes, str] = {}
    return {
        page.key: key
        for page in pages
        if page.survey.words and (key := first.setdefault(page.survey.words, page.key)) != page.key
    }


def path_of(path: str) -> str:
    """Take off a page's path what only says that it is a page."""
    path = re.sub(r"(?:^|(?<=/))index\.(?:x?html?|php)$", "", path, flags=re.IGNORECASE)
    return re.sub(r"\.(?:x?html?|php)$", "", path, flags=re.IGNORECASE).strip("/")


def document_id(path: str) -> str:
    """Make an id of a page's path."""
    kept = re.sub(r"[^\w./-]+", "-", path).strip("-/")
    return re.sub(r"/{2,}|(?<=/)\.+/", "/", kept) or "index"
