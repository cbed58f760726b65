"""Merges pages that are known under two addresses."""

from dataclasses import replace

from bythebook.adapters.readers.html.book.survey import RawPage
from bythebook.adapters.readers.html.book.web_pages import find_duplicate_pages
from bythebook.adapters.readers.html.page.main_content import extract_main_content
from bythebook.adapters.readers.html.page.visible import extract_visible_text
from bythebook.adapters.readers.site.crawl import CrawlResult
from bythebook.adapters.readers.site.scope import SiteScope
from bythebook.errors import UnreadableBook

_MIN_SHARED_LINES = 0.9  # share of a page's lines that its canonical page must contain


def merge_pages(result: CrawlResult, scope: SiteScope) -> None:
    """Keep each page once, under its canonical address."""
    for key, own in result.canonical.items():
        page, named = result.pages.get(key), result.pages.get(own.key)
        if page is None:
            continue
        if result.aliases.get(own.key) == key:  # identical bytes
            result.pages[key] = replace(page, url=own.text, path=scope.make_path(own))
        elif named is not None and _contains(named.raw, page.raw):
            del result.pages[key]
            result.aliases[key] = own.key
    for key, other in find_duplicate_pages(result.pages.values()).items():
        del result.pages[key]
        result.aliases[key] = other
    for key in result.aliases:
        result.aliases[key] = _follow_aliases(result.aliases, key)


def _contains(whole: RawPage, part: RawPage) -> bool:
    """Check that a page contains another one: some sites declare one canonical page for all."""
    try:
        lines, there = _read_lines(part), _read_lines(whole)
    except UnreadableBook:
        return False
    return len(lines & there) >= _MIN_SHARED_LINES * len(lines)


def _read_lines(raw: RawPage) -> set[str]:
    return set(extract_visible_text(extract_main_content(raw.parse()).element).split("\n"))


def _follow_aliases(aliases: dict[str, str], key: str) -> str:
    seen = {key}
    while (following := aliases.get(key)) is not None and following not in seen:
        seen.add(following)
        key = following
    return key
