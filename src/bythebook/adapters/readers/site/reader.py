"""Reads a web site as a book, in the order of its menus."""

from dataclasses import dataclass, replace
from pathlib import Path

from bythebook.adapters.readers.html.book.reading_order import find_site_title
from bythebook.adapters.readers.html.book.survey import RawPage
from bythebook.adapters.readers.html.book.web_book import make_source_documents
from bythebook.adapters.readers.html.book.web_pages import WebPage, WebPages
from bythebook.adapters.readers.site.address import (
    BadAddress,
    WebAddress,
    join,
    parse_address,
)
from bythebook.adapters.readers.site.cache import FetchCache
from bythebook.adapters.readers.site.connection import ExpectedContent
from bythebook.adapters.readers.site.crawl import PAGE_TYPES, Crawl, CrawlResult
from bythebook.adapters.readers.site.fetch import FetchedPage, Fetcher, LeftOrigin
from bythebook.adapters.readers.site.guard import HostGuard
from bythebook.adapters.readers.site.limits import (
    CrawlBudget,
    FetchFailed,
    HostRefused,
    OutOfBounds,
    SiteLimits,
)
from bythebook.adapters.readers.site.merge_pages import merge_pages
from bythebook.adapters.readers.site.pictures import SitePictures
from bythebook.adapters.readers.site.robots import Robots, fetch_robots
from bythebook.adapters.readers.site.scope import SiteScope
from bythebook.adapters.readers.site.sitemap import list_sitemap_pages
from bythebook.adapters.readers.source_file import make_folder_url
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
        """Fetch a site and list its documents in reading order; raise UnreadableBook with advice."""
        try:
            start = parse_address(source)
        except BadAddress as error:
            raise UnreadableBook(
                f"{source!r} cannot be read: {error}.",
                "Use an address such as https://example.org/book/.",
            ) from error
        guard = HostGuard(self._allowed_hosts)
        cache = FetchCache(self._cache_dir, start.text)
        fetcher = Fetcher(guard, cache, CrawlBudget(self._limits))
        try:
            return self._read_book(_CrawlTools(fetcher, cache, guard), start, title, base_url)
        except FetchFailed as failure:
            raise _make_error(start, failure) from failure
        except OutOfBounds as bound:
            raise UnreadableBook(
                f"{start.text} cannot be read. {bound}", "Try again later, or raise the limit."
            ) from bound
        finally:
            fetcher.close()
            cache.close()

    def _read_book(
        self, tools: "_CrawlTools", start: WebAddress, title: str | None, base_url: str | None
    ) -> SourceBook:
        page, robots = self._open_site(tools, start)
        scope = SiteScope(page.address, _find_folder(start, page))
        lists = robots.list_sitemaps(page.address) or [
            parse_address(f"{page.address.origin}/sitemap.xml")
        ]
        listed = list_sitemap_pages(tools.fetcher, lists, scope.folder)
        crawl = Crawl(tools.fetcher, scope, self._limits)
        result = crawl.run(page, listed)
        pictures = SitePictures(page.address.origin)
        pictures.fetch(result.pages.values(), tools.fetcher)
        if not tools.cache.usable:
            result.warnings.append("The fetched pages could not be cached for the next run.")
        tools.cache.finish(whole=crawl.is_whole)
        return _make_source_book(result, pictures, scope, title, base_url)

    def _open_site(self, tools: "_CrawlTools", start: WebAddress) -> tuple[FetchedPage, Robots]:
        """Fetch robots.txt and the start page; the site may redirect to https once."""
        robots = self._apply_robots(tools, start)
        expected = ExpectedContent("a web page", PAGE_TYPES, self._limits.page_bytes)
        try:
            return tools.fetcher.get(start, expected), robots
        except LeftOrigin as moved:
            if not _is_https_upgrade(start, moved.target):
                raise
        secured = replace(start, scheme="https", port=443)
        robots = self._apply_robots(tools, secured)
        return tools.fetcher.get(secured, expected), robots

    def _apply_robots(self, tools: "_CrawlTools", start: WebAddress) -> Robots:
        """Fetch the site's robots.txt and follow it from now on."""
        tools.fetcher.may_read = lambda _address: True
        tools.fetcher.pause = 0.0
        robots = fetch_robots(tools.fetcher, start)
        tools.fetcher.may_read = robots.allows
        pause = 0.0 if tools.guard.allows(start) else self._limits.pause_seconds
        tools.fetcher.pause = max(pause, min(robots.delay, self._limits.longest_crawl_delay))
        return robots


@dataclass(frozen=True, slots=True)
class _CrawlTools:
    """The parts that one run uses."""

    fetcher: Fetcher
    cache: FetchCache
    guard: HostGuard


def _is_https_upgrade(start: WebAddress, target: WebAddress) -> bool:
    return (
        (start.scheme, start.port) == ("http", 80)
        and (target.scheme, target.port) == ("https", 443)
        and start.host == target.host
    )


def _find_folder(start: WebAddress, page: FetchedPage) -> str:
    """Return the book's folder; an address without a final slash is one if it has pages below it."""
    below = f"{start.path.rstrip('/')}/"
    if start.path.endswith("/") or page.address.path == below:
        return below
    if "." not in start.path.rpartition("/")[2]:
        tree = RawPage.pack(page.body, page.encoding).parse()
        targets = (join(page.address, link.get("href") or "") for link in tree.iter("a"))
        if any(target and target[0].path.startswith(below) for target in targets):
            return below
    return start.folder


def _make_source_book(
    result: CrawlResult,
    pictures: SitePictures,
    scope: SiteScope,
    title: str | None,
    base_url: str | None,
) -> SourceBook:
    merge_pages(result, scope)
    if not result.pages:
        reasons = "; ".join(dict.fromkeys(skipped.reason for skipped in result.skipped[:5]))
        raise UnreadableBook(
            f"No page of {scope.start.text} could be read. {reasons}".strip(),
            "Check the address, or provide the book in another format.",
        )
    base = make_folder_url(base_url)
    pages = [_set_public_url(page, scope, base) for page in result.pages.values()]
    book = WebPages(
        pages,
        scope.find_target,
        missing=frozenset(result.missing),
        aliases=result.aliases,
        menu=result.menu,
        contents=result.contents,
        find_picture=pictures.find,
    )
    return SourceBook(
        title or find_site_title(pages) or scope.start.host,
        _NAME,
        base or scope.start.origin + scope.folder,
        make_source_documents(book),
        tuple(result.skipped),
        tuple(result.warnings),
        pictures.shelf.load,
    )


def _set_public_url(page: WebPage, scope: SiteScope, base: str) -> WebPage:
    """Set the public address of a page if it differs from the fetched one."""
    inside = page.url.removeprefix(scope.start.origin + scope.folder)
    return replace(page, url=base + inside) if base and inside != page.url else page


def _make_error(start: WebAddress, failure: FetchFailed) -> UnreadableBook:
    if isinstance(failure, HostRefused):
        return UnreadableBook(
            f"{start.authority} leads into a private network, and none was reached.",
            f"To allow it, add {start.host_and_port} to BYTHEBOOK_ALLOWED_HOSTS.",
        )
    if isinstance(failure, LeftOrigin):
        return UnreadableBook(
            f"{start.text} redirects to another site.", f"Use {failure.target.text} instead."
        )
    return UnreadableBook(
        f"{start.text} cannot be read. {failure.reason}", "Check the address, or try again later."
    )
