"""The order and the chapters of a site's pages, taken from its menus."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.html.book.menu import MenuEntry
from bythebook.adapters.readers.html.book.web_pages import WebPage, WebPages

_TITLE_SEPARATOR = re.compile(r"\s+(?:[|·–—»-]|::)\s+")  # between a page's title and the site's


@dataclass(frozen=True, slots=True)
class ArrangedPage:
    """A page with its place in the book."""

    page: WebPage
    title: str
    chapter: str


def arrange_pages(book: WebPages) -> list[ArrangedPage]:
    """Put the pages in reading order, each under its chapter."""
    groups = _merge_menus(book)
    ranks = {key: rank for rank, key in enumerate(groups)}
    # The start page comes first.
    ranks |= {page.key: -1 for page in book.pages[:1] if page.path == ""}
    pages = sorted(book.pages, key=lambda page: ranks.get(page.key, len(ranks)))
    titles = find_page_titles(pages)
    places = _ChapterFinder(
        groups, titles, {page.path: page.key for page in pages}, _find_common_folder(pages)
    )
    return [ArrangedPage(page, titles[page.key], places.find_chapter(page)) for page in pages]


def find_site_title(pages: Sequence[WebPage]) -> str:
    """Return the site's name from its head, from the end of its page titles, or from its first page."""
    first = pages[0].summary
    return first.site_name or _find_title_suffix(pages) or first.title or first.window_title


def find_page_titles(pages: Sequence[WebPage]) -> dict[str, str]:
    """Return each page's title: its heading, or the window title without the site name."""
    site = _find_title_suffix(pages)
    titles = {}
    for page in pages:
        summary = page.summary
        names = {name for name in (site, summary.site_name) if name}
        own = _remove_site_name(summary.title, names) or _remove_site_name(
            summary.window_title, names
        )
        titles[page.key] = own or _make_title(page.path.rpartition("/")[2]) or "Start"
    return titles


def _find_title_suffix(pages: Sequence[WebPage]) -> str:
    """Find the name at the end of most window titles."""
    endings = Counter(
        parts[-1]
        for page in pages
        if len(parts := _TITLE_SEPARATOR.split(page.summary.window_title)) > 1
    )
    name, count = endings.most_common(1)[0] if endings else ("", 0)
    return name if count > 1 and 2 * count >= len(pages) else ""


def _remove_site_name(title: str, names: set[str]) -> str:
    parts = _TITLE_SEPARATOR.split(title)
    if len(parts) > 1 and parts[-1] in names:
        return title[: title.rindex(parts[-1])].rstrip(" |·–—»-:")
    return title


def _merge_menus(book: WebPages) -> dict[str, MenuEntry]:
    """Merge the menus of all pages: each may show only the branch of its page."""
    keys = {page.key for page in book.pages}
    menus = list(dict.fromkeys(page.summary.menu for page in book.pages if page.summary.menu))
    order: list[str] = []
    entries: dict[str, MenuEntry] = {}
    for menu in [tuple(book.menu), *menus] if book.menu or menus else [tuple(book.contents)]:
        known = [
            (book.resolve_key(entry.key), entry)
            for entry in menu
            if book.resolve_key(entry.key) in keys
        ]
        if all(key in entries for key, _ in known):
            continue
        first = next((key for key, _ in known if key in entries), None)
        at = len(order) if first is None else order.index(first)
        for key, entry in known:
            if key in entries:
                at = order.index(key) + 1
            else:
                order.insert(at, key)
                entries[key] = MenuEntry(key, entry.group, book.resolve_key(entry.group_key))
                at += 1
    return {key: entries[key] for key in order}


@dataclass(frozen=True, slots=True)
class _ChapterFinder:
    """Finds the chapter of a page."""

    groups: Mapping[str, MenuEntry]
    titles: Mapping[str, str]
    by_path: Mapping[str, str]
    trunk: str

    def find_chapter(self, page: WebPage) -> str:
        """Return the page's menu group, or the page of its folder, or the page itself."""
        entry = self.groups.get(page.key)
        if entry is not None and entry.group:
            return self.titles.get(entry.group_key) or entry.group
        top, slash, _ = page.path.removeprefix(self.trunk).partition("/")
        own = self.by_path.get(self.trunk + top) if slash else None
        if own is not None:
            return self.titles[own]
        return _make_title(top) if slash and entry is None else self.titles[page.key]


def _find_common_folder(pages: Sequence[WebPage]) -> str:
    """Return the top folder if all pages are in the same one; empty otherwise."""
    tops = {page.path.partition("/")[0] for page in pages if page.path}
    return f"{tops.pop()}/" if len(tops) == 1 else ""


def _make_title(name: str) -> str:
    words = re.sub(r"[-_]+", " ", name).strip()
    return words[:1].upper() + words[1:]
