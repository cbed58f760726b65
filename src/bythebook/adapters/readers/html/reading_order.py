"""The order and the chapters of a site's pages, as its menus show them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.html.menu import MenuEntry
from bythebook.adapters.readers.html.web_pages import WebPage, WebPages

_MARK = re.compile(r"\s+(?:[|·–—»-]|::)\s+")  # between a page's title and the site's


@dataclass(frozen=True, slots=True)
class Arranged:
    """A page with its place in the book."""

    page: WebPage
    title: str
    chapter: str


def arrange(book: WebPages) -> list[Arranged]:
    """Put the pages in reading order, each under its chapter."""
    groups = _menu_groups(book)
    ranks = {key: rank for rank, key in enumerate(groups)}
    ranks |= {page.key: -1 for page in book.pages[:1] if page.path == ""}  # opens the book
    pages = sorted(book.pages, key=lambda page: ranks.get(page.key, len(ranks)))
    titles = page_titles(pages)
    places = _Places(groups, titles, {page.path: page.key for page in pages}, _trunk(pages))
    return [Arranged(page, titles[page.key], places.chapter(page)) for page in pages]


def site_title(pages: Sequence[WebPage]) -> str:
    """Give what the site calls itself: in its head, after its titles, or on its first page."""
    first = pages[0].survey
    return first.site_name or _site_mark(pages) or first.title or first.window_title


def page_titles(pages: Sequence[WebPage]) -> dict[str, str]:
    """Give each page's title: its own words, or its window's without the site's name."""
    site = _site_mark(pages)
    titles = {}
    for page in pages:
        survey = page.survey
        names = {name for name in (site, survey.site_name) if name}
        own = _without_site(survey.title, names) or _without_site(survey.window_title, names)
        titles[page.key] = own or _spoken(page.path.rpartition("/")[2]) or "Start"
    return titles


def _site_mark(pages: Sequence[WebPage]) -> str:
    """Find the name that most windows' titles end with."""
    endings = Counter(
        parts[-1] for page in pages if len(parts := _MARK.split(page.survey.window_title)) > 1
    )
    name, count = endings.most_common(1)[0] if endings else ("", 0)
    return name if count > 1 and 2 * count >= len(pages) else ""


def _without_site(title: str, names: set[str]) -> str:
    parts = _MARK.split(title)
    if len(parts) > 1 and parts[-1] in names:
        return title[: title.rindex(parts[-1])].rstrip(" |·–—»-:")
    return title


def _menu_groups(book: WebPages) -> dict[str, MenuEntry]:
    """Merge the menus of all pages: each may show but the branch that its page is on."""
    keys = {page.key for page in book.pages}
    menus = list(dict.fromkeys(page.survey.menu for page in book.pages if page.survey.menu))
    order: list[str] = []
    entries: dict[str, MenuEntry] = {}
    for menu in [tuple(book.menu), *menus] if book.menu or menus else [tuple(book.contents)]:
        known = [(book.key(entry.key), entry) for entry in menu if book.key(entry.key) in keys]
        if all(key in entries for key, _ in known):
            continue
        first = next((key for key, _ in known if key in entries), None)
        at = len(order) if first is None else order.index(first)
        for key, entry in known:
            if key in entries:
                at = order.index(key) + 1
            else:
                order.insert(at, key)
                entries[key] = MenuEntry(key, entry.group, book.key(entry.group_key))
                at += 1
    return {key: entries[key] for key in order}


@dataclass(frozen=True, slots=True)
class _Places:
    """What tells the chapter of a page."""

    groups: Mapping[str, MenuEntry]
    titles: Mapping[str, str]
    by_path: Mapping[str, str]
    trunk: str

    def chapter(self, page: WebPage) -> str:
        """Give a page's group in the menu, or the page of its folder, or the page itself."""
        entry = self.groups.get(page.key)
        if entry is not None and entry.group:
            return self.titles.get(entry.group_key) or entry.group
        top, slash, _ = page.path.removeprefix(self.trunk).partition("/")
        own = self.by_path.get(self.trunk + top) if slash else None
        if own is not None:
            return self.titles[own]
        return _spoken(top) if slash and entry is None else self.titles[page.key]


def _trunk(pages: Sequence[WebPage]) -> str:
    """Give the folder that all pages stand in: it parts none from another."""
    tops = {page.path.partition("/")[0] for page in pages if page.path}
    return f"{tops.pop()}/" if len(tops) == 1 else ""


def _spoken(name: str) -> str:
    words = re.sub(r"[-_]+", " ", name).strip()
    return words[:1].upper() + words[1:]
