"""What one look at a web page tells, before its words are read."""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.letters import LetterCounts
from bythebook.adapters.readers.html.main_content import (
    main_content,
    page_body,
    page_title,
    property_of,
)
from bythebook.adapters.readers.html.menu import MenuEntry, PageAt, listed_in, menu_of
from bythebook.adapters.readers.html.parse import parse_html
from bythebook.adapters.readers.html.visible import visible_text

_MOST_LINKS = 5_000  # of one page
_MOST_OF_STUB = 300  # letters of a page that only sends its readers on
_FEW_WORDS = 200  # letters of a text that two pages may share by chance
_REFRESH = re.compile(
    r"\s*0*[0-5]?(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*['\"]?([^'\"]+)", re.IGNORECASE
)

# Of a page's name, its base and a link on it: the key of the page that the link leads to.
Locate = Callable[[str, str, str], str | None]


@dataclass(frozen=True, slots=True)
class Survey:
    """What is kept of a look at a page."""

    title: str  # in its own words; may be empty
    window_title: str
    site_name: str
    base: str  # what its links are counted from, if not from itself
    article_links: tuple[str, ...]
    article_ids: frozenset[str]
    other_ids: frozenset[str]
    menu: tuple[MenuEntry, ...]
    words: bytes  # a sum of the article's text; empty if there are few


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a page tells; all but the survey is for the way through the site."""

    survey: Survey
    links: tuple[str, ...]  # that may be followed
    canonical: str
    moved_to: str  # where the page sends its readers by itself
    menu_frame: str  # address of a page that is but a menu
    contents: tuple[MenuEntry, ...]  # pages that the article lists
    letters: int  # of the article
    chapters: int  # level-one headings in it
    may_index: bool
    may_follow: bool


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as it came, packed: a book has many."""

    packed: bytes
    encoding: str | None

    @classmethod
    def of(cls, body: bytes, encoding: str | None) -> "RawPage":
        """Pack a page."""
        return cls(zlib.compress(body, 1), encoding)

    @property
    def body(self) -> bytes:
        """The bytes as they came."""
        return zlib.decompress(self.packed)

    def tree(self) -> Element:
        """Parse the page, or raise UnreadableBook."""
        return parse_html(self.body, encoding=self.encoding)


class Surveyor:
    """Looks pages of one book over; menus that are the same are kept once."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._menus: dict[tuple[MenuEntry, ...], tuple[MenuEntry, ...]] = {}

    def look(self, raw: RawPage, name: str) -> Look:
        """Look a page over, or raise UnreadableBook."""
        root = raw.tree()
        body = page_body(root)
        base, page_at = self._base(root, name)
        counts = LetterCounts(body)
        menu = menu_of(body, counts, page_at)
        links, ids = tuple(_links(body)), frozenset(_ids(root))
        frame = next((element.get("src") or "" for element in body.iter("iframe")), "")
        moved_to = next(_refresh(root), "") if counts.prose(body) < _MOST_OF_STUB else ""
        directives = property_of(root, "robots").lower()
        main = main_content(root, counts)
        article_ids = frozenset(_ids(main.element))
        survey = Survey(
            title=page_title(root, main),
            window_title=" ".join((root.findtext(".//title") or "").split()),
            site_name=property_of(root, "og:site_name"),
            base=base,
            article_links=tuple(_links(main.element, followed=False)),
            article_ids=article_ids,
            other_ids=ids - article_ids,
            menu=self._menus.setdefault(menu, menu),
            words=_sum(visible_text(main.element)),
        )
        return Look(
            survey,
            links,
            canonical=next(_canonical(root), ""),
            moved_to=moved_to,
            menu_frame=frame if frame.endswith("toc.html") else "",
            contents=listed_in(main.element, page_at),
            letters=counts.whole(main.element),
            chapters=sum(1 for _ in main.element.iter("h1")),
            may_index=not re.search(r"\b(?:noindex|none)\b", directives),
            may_follow=not re.search(r"\b(?:nofollow|none)\b", directives),
        )

    def menu_page(self, raw: RawPage, name: str) -> tuple[MenuEntry, ...]:
        """Read a page that is but a menu."""
        root = raw.tree()
        return listed_in(root, self._base(root, name)[1])

    def _base(self, root: Element, name: str) -> tuple[str, PageAt]:
        base = next((element.get("href") or "" for element in root.iter("base")), "")
        return base, lambda href: self._locate(name, base, href)


def _links(element: Element, *, followed: bool = True) -> Iterator[str]:
    hrefs = (
        link.get("href") or ""
        for link in element.iter("a")
        if not followed or "nofollow" not in (link.get("rel") or "").lower().split()
    )
    yield from islice(dict.fromkeys(href for href in hrefs if href.strip()), _MOST_LINKS)


def _ids(element: Element) -> Iterator[str]:
    for inner in element.iter("*"):
        if name := inner.get("id"):
            yield name
        if inner.tag == "a" and (name := inner.get("name")):
            yield name


def _canonical(root: Element) -> Iterator[str]:
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split() and link.get("href"):
            yield link.get("href") or ""


def _refresh(root: Element) -> Iterator[str]:
    for meta in root.iter("meta"):
        if (meta.get("http-equiv") or "").lower() == "refresh":
            found = _REFRESH.match(meta.get("content") or "")
            if found:
                yield found[1].strip()


def _sum(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest() if len(text) > _FEW_WORDS else b""
