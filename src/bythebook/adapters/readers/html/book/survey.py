"""Surveys a web page: its links, menus and titles, before its text is read."""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.book.menu import FindPage, MenuEntry, find_menu, list_entries
from bythebook.adapters.readers.html.page.letters import LetterCounts
from bythebook.adapters.readers.html.page.main_content import (
    MainContent,
    extract_main_content,
    find_body,
    find_title,
    read_property,
)
from bythebook.adapters.readers.html.page.parse import parse_html
from bythebook.adapters.readers.html.page.visible import extract_visible_text

_MAX_LINKS = 5_000  # of one page
_MAX_STUB_LETTERS = 300  # letters of a page that only redirects
_MIN_HASHED_LETTERS = 200  # letters; two pages may share a shorter text by chance
_REFRESH = re.compile(
    r"\s*0*[0-5]?(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*['\"]?([^'\"]+)", re.IGNORECASE
)

# Page address, base and link -> key of the page that the link leads to.
FindKey = Callable[[str, str, str], str | None]


@dataclass(frozen=True, slots=True)
class PageSummary:
    """The part of a survey that is kept for each page."""

    title: str  # from the page itself; may be empty
    window_title: str
    site_name: str
    base: str  # base address of its links, if the page sets one
    article_links: tuple[str, ...]
    article_ids: frozenset[str]
    other_ids: frozenset[str]
    menu: tuple[MenuEntry, ...]
    text_hash: bytes  # hash of the article's text; empty if the text is short
    pictures: tuple[str, ...] = ()  # that the article shows


@dataclass(frozen=True, slots=True)
class PageSurvey:
    """The result of a survey; everything except the summary is only used for crawling."""

    summary: PageSummary
    links: tuple[str, ...]  # that may be followed
    canonical: str
    moved_to: str  # where the page redirects its readers
    menu_frame: str  # address of a page that contains only a menu
    contents: tuple[MenuEntry, ...]  # pages that the article lists
    letters: int  # of the article
    chapters: int  # level-one headings in it
    may_index: bool
    may_follow: bool


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as fetched, compressed because a book has many."""

    packed: bytes
    encoding: str | None

    @classmethod
    def pack(cls, body: bytes, encoding: str | None) -> "RawPage":
        """Compress a page."""
        return cls(zlib.compress(body, 1), encoding)

    @property
    def body(self) -> bytes:
        """The bytes as fetched."""
        return zlib.decompress(self.packed)

    def parse(self) -> Element:
        """Parse the page, or raise UnreadableBook."""
        return parse_html(self.body, encoding=self.encoding)


class Surveyor:
    """Surveys the pages of one book; equal menus are stored once."""

    def __init__(self, find_key: FindKey) -> None:
        self._find_key = find_key
        self._menus: dict[tuple[MenuEntry, ...], tuple[MenuEntry, ...]] = {}

    def survey(self, raw: RawPage, name: str) -> PageSurvey:
        """Survey a page, or raise UnreadableBook."""
        root = raw.parse()
        body = find_body(root)
        base, find_page = self._find_base(root, name)
        counts = LetterCounts(body)
        menu = find_menu(body, counts, find_page)
        links, ids = tuple(_iterate_links(body)), frozenset(_iterate_ids(root))
        frame = next((element.get("src") or "" for element in body.iter("iframe")), "")
        is_stub = counts.count_prose(body) < _MAX_STUB_LETTERS
        moved_to = next(_find_refresh(root), "") if is_stub else ""
        directives = read_property(root, "robots").lower()
        main = extract_main_content(root, counts)  # changes the tree
        return PageSurvey(
            _summarize(root, main, base, ids, self._menus.setdefault(menu, menu)),
            links,
            canonical=next(_find_canonical(root), ""),
            moved_to=moved_to,
            menu_frame=frame if frame.endswith("toc.html") else "",
            contents=list_entries(main.element, find_page),
            letters=counts.count_all(main.element),
            chapters=sum(1 for _ in main.element.iter("h1")),
            may_index=not re.search(r"\b(?:noindex|none)\b", directives),
            may_follow=not re.search(r"\b(?:nofollow|none)\b", directives),
        )

    def read_menu_page(self, raw: RawPage, name: str) -> tuple[MenuEntry, ...]:
        """Read a page that contains only a menu."""
        root = raw.parse()
        return list_entries(root, self._find_base(root, name)[1])

    def _find_base(self, root: Element, name: str) -> tuple[str, FindPage]:
        base = next((element.get("href") or "" for element in root.iter("base")), "")
        return base, lambda href: self._find_key(name, base, href)


def _summarize(
    root: Element,
    main: MainContent,
    base: str,
    ids: frozenset[str],
    menu: tuple[MenuEntry, ...],
) -> PageSummary:
    article_ids = frozenset(_iterate_ids(main.element))
    return PageSummary(
        title=find_title(root, main),
        window_title=" ".join((root.findtext(".//title") or "").split()),
        site_name=read_property(root, "og:site_name"),
        base=base,
        article_links=tuple(_iterate_links(main.element, followed=False)),
        article_ids=article_ids,
        other_ids=ids - article_ids,
        menu=menu,
        text_hash=_hash_text(extract_visible_text(main.element)),
        pictures=tuple(_iterate_pictures(main.element)),
    )


def _iterate_links(element: Element, *, followed: bool = True) -> Iterator[str]:
    hrefs = (
        link.get("href") or ""
        for link in element.iter("a")
        if not followed or "nofollow" not in (link.get("rel") or "").lower().split()
    )
    yield from islice(dict.fromkeys(href for href in hrefs if href.strip()), _MAX_LINKS)


def _iterate_pictures(element: Element) -> Iterator[str]:
    targets = (image.get("src") or "" for image in element.iter("img"))
    yield from islice(dict.fromkeys(filter(None, targets)), _MAX_LINKS)


def _iterate_ids(element: Element) -> Iterator[str]:
    for inner in element.iter("*"):
        if name := inner.get("id"):
            yield name
        if inner.tag == "a" and (name := inner.get("name")):
            yield name


def _find_canonical(root: Element) -> Iterator[str]:
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split() and link.get("href"):
            yield link.get("href") or ""


def _find_refresh(root: Element) -> Iterator[str]:
    for meta in root.iter("meta"):
        if (meta.get("http-equiv") or "").lower() == "refresh":
            found = _REFRESH.match(meta.get("content") or "")
            if found:
                yield found[1].strip()


def _hash_text(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest() if len(text) > _MIN_HASHED_LETTERS else b""
