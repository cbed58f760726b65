"""Pages that are known under two addresses, folded into one."""

from dataclasses import replace

from bythebook.adapters.readers.html.blocks import visible_text
from bythebook.adapters.readers.html.main_content import main_content
from bythebook.adapters.readers.html.survey import RawPage
from bythebook.adapters.readers.html.web_pages import equal_pages
from bythebook.adapters.readers.site.crawl import Journey
from bythebook.adapters.readers.site.scope import Scope
from bythebook.errors import UnreadableBook

_SAME = 0.9  # share of a page's lines that its canonical page must hold


def fold(journey: Journey, scope: Scope) -> None:
    """Keep each page once, under the address that it calls its own."""
    for key, own in journey.canonical.items():
        page, named = journey.pages.get(key), journey.pages.get(own.key)
        if page is None:
            continue
        if journey.aliases.get(own.key) == key:  # the very same bytes
            journey.pages[key] = replace(page, url=own.text, path=scope.path_of(own))
        elif named is not None and _says(named.raw, page.raw):
            del journey.pages[key]
            journey.aliases[key] = own.key
    for key, other in equal_pages(journey.pages.values()).items():
        del journey.pages[key]
        journey.aliases[key] = other
    for key in journey.aliases:
        journey.aliases[key] = _end(journey.aliases, key)


def _says(whole: RawPage, part: RawPage) -> bool:
    """Check that a page holds what another says: some sites name one page for all."""
    try:
        lines, there = _lines(part), _lines(whole)
    except UnreadableBook:
        return False
    return len(lines & there) >= _SAME * len(lines)


def _lines(raw: RawPage) -> set[str]:
    return set(visible_text(main_content(raw.tree()).element).split("\n"))


def _end(aliases: dict[str, str], key: str) -> str:
    seen = {key}
    while (following := aliases.get(key)) is not None and following not in seen:
        seen.add(following)
        key = following
    return key
