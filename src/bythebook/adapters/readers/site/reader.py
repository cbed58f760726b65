"""A web site as a book: fetched with its owner's consent, laid out as its menus show it."""

from dataclasses import dataclass, replace
from pathlib import Path

from bythebook.adapters.readers.html.reading_order import site_title
from bythebook.adapters.readers.html.survey import RawPage
from bythebook.adapters.readers.html.web_book import source_documents
from bythebook.adapters.readers.html.web_pages import WebPage, WebPages
from bythebook.adapters.readers.site.address import (
    BadAddress,
    WebAddress,
    join,
    parse_address,
)
from bythebook.adapters.readers.site.cache import FetchCache
from bythebook.adapters.readers.site.connection import Wanted
from bythebook.adapters.readers.site.crawl import PAGE_TYPES, Crawl, Journey
from bythebook.adapters.readers.site.fetch import Fetched, Fetcher, LeftOrigin
from bythebook.adapters.readers.site.fold import fold
from bythebook.adapters.readers.site.guard import HostGuard
from bythebook.adapters.readers.site.limits import (
    Budget,
    FetchFailed,
    HostRefused,
    OutOfBounds,
    SiteLimits,
)
from bythebook.adapters.readers.site.robots import Robots, fetch_robots
from bythebook.adapters.readers.site.scope import Scope
from bythebook.adapters.readers.site.sitemap import sitemap_pages
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook

_NAME = "web site"


class SiteReader:
    """Reads the pages of a web site below a start address."""

    def __init__(
        self,
        cache_dir: Path,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        limits: SiteLimits | None = None,
    ) -> None:
        self._cache_dir = cache_dir
        self._allowed_hosts = allowed_hosts
        self._limits = limits or SiteLimits()

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Fetch a site, and lay it out; raise UnreadableBook with what to do if that fails."""
        try:
            start = parse_address(source)
        except BadAddress as error:
            raise UnreadableBook(
                f"{source!r} cannot be read: {error}.",
                "Give an address such as https://example.org/book/.",
            ) from error
        guard = HostGuard(self._allowed_hosts)
        cache = FetchCache(self._cache_dir, start.text)
        fetcher = Fetcher(guard, cache, Budget(self._limits))
        try:
            return self._book(_Visit(fetcher, cache, guard), start, title, base_url)
        except FetchFailed as failure:
            raise _unreadable(start, failure) from failure
        except OutOfBounds as bound:
            raise UnreadableBook(
                f"{start.text} cannot be read. {bound}", "Try again later, or raise the limit."
            ) from bound
        finally:
            fetcher.close()
            cache.close()

    def _book(
        self, visit: "_Visit", start: WebAddress, title: str | None, base_url: str | None
    ) -> SourceBook:
        page, robots = self._open(visit, start)
        scope = Scope(page.address, _folder(start, page))
        lists = robots.sitemaps(page.address) or [
            parse_address(f"{page.address.origin}/sitemap.xml")
        ]
        listed = sitemap_pages(visit.fetcher, lists, scope.folder)
        crawl = Crawl(visit.fetcher, scope, self._limits)
        journey = crawl.run(page, listed)
        if not visit.cache.usable:
            journey.warnings.append("What was fetched could not be kept for the next run.")
        visit.cache.finish(whole=crawl.is_whole)
        return _source_book(journey, scope, title, base_url)

    def _open(self, visit: "_Visit", start: WebAddress) -> tuple[Fetched, Robots]:
        """Fetch the rules and the start page; the site may ask for https once."""
        robots = self._introduce(visit, start)
        wanted = Wanted("a web page", PAGE_TYPES, self._limits.page_bytes)
        try:
            return visit.fetcher.get(start, wanted), robots
        except LeftOrigin as moved:
            if not _is_secured(start, moved.target):
                raise
        secured = replace(start, scheme="https", port=443)
        robots = self._introduce(visit, secured)
        return visit.fetcher.get(secured, wanted), robots

    def _introduce(self, visit: "_Visit", start: WebAddress) -> Robots:
        """Learn the site's rules, and keep to them from here on."""
        visit.fetcher.may_read = lambda _address: True
        visit.fetcher.pause = 0.0
        robots = fetch_robots(visit.fetcher, start)
        visit.fetcher.may_read = robots.allows
        pause = 0.0 if visit.guard.allows(start) else self._limits.pause_seconds
        visit.fetcher.pause = max(pause, min(robots.delay, self._limits.longest_crawl_delay))
        return robots


@dataclass(frozen=True, slots=True)
class _Visit:
    """What one run over a site works with."""

    fetcher: Fetcher
    cache: FetchCache
    guard: HostGuard


def _is_secured(start: WebAddress, target: WebAddress) -> bool:
    return (
        (start.scheme, start.port) == ("http", 80)
        and (target.scheme, target.port) == ("https", 443)
        and start.host == target.host
    )


def _folder(start: WebAddress, page: Fetched) -> str:
    """Give the folder of the book: an address without a slash names a folder if pages are below."""
    below = f"{start.path.rstrip('/')}/"
    if start.path.endswith("/") or page.address.path == below:
        return below
    if "." not in start.path.rpartition("/")[2]:
        tree = RawPage.of(page.body, page.encoding).tree()
        targets = (join(page.address, link.get("href") or "") for link in tree.iter("a"))
        if any(target and target[0].path.startswith(below) for target in targets):
            return below
    return start.folder


def _source_book(
    journey: Journey, scope: Scope, title: str | None, base_url: str | None
) -> SourceBook:
    fold(journey, scope)
    if not journey.pages:
        reasons = "; ".join(dict.fromkeys(skipped.reason for skipped in journey.skipped[:5]))
        raise UnreadableBook(
            f"No page of {scope.start.text} could be read. {reasons}".strip(),
            "Check the address, or give the book in another form.",
        )
    base = f"{base_url.rstrip('/')}/" if base_url else ""
    pages = [_at(page, scope, base) for page in journey.pages.values()]
    book = WebPages(
        pages,
        scope.locate,
        gone=frozenset(journey.gone),
        aliases=journey.aliases,
        menu=journey.menu,
        contents=journey.contents,
    )
    return SourceBook(
        title or site_title(pages) or scope.start.host,
        _NAME,
        base or scope.start.origin + scope.folder,
        source_documents(book),
        tuple(journey.skipped),
        tuple(journey.warnings),
    )


def _at(page: WebPage, scope: Scope, base: str) -> WebPage:
    """Give a page the address that its readers know, if they know another than was fetched."""
    inside = page.url.removeprefix(scope.start.origin + scope.folder)
    return replace(page, url=base + inside) if base and inside != page.url else page


def _unreadable(start: WebAddress, failure: FetchFailed) -> UnreadableBook:
    if isinstance(failure, HostRefused):
        return UnreadableBook(
            f"{start.authority} leads into a private network, and none was reached.",
            f"To allow it, add {start.host}:{start.port} to BYTHEBOOK_ALLOWED_HOSTS.",
        )
    if isinstance(failure, LeftOrigin):
        return UnreadableBook(
            f"{start.text} redirects to another site.", f"Give {failure.target.text} instead."
        )
    return UnreadableBook(
        f"{start.text} cannot be read. {failure.reason}", "Check the address, or try again later."
    )
