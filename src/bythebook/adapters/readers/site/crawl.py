"""Crawls a site: from its sitemap or from link to link, each page once."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bythebook.adapters.readers.html.book.generated_pages import is_generated_page, warn_left_out
from bythebook.adapters.readers.html.book.menu import MenuEntry
from bythebook.adapters.readers.html.book.survey import PageSurvey, RawPage, Surveyor
from bythebook.adapters.readers.html.book.web_pages import WebPage
from bythebook.adapters.readers.site.address import WebAddress
from bythebook.adapters.readers.site.connection import ExpectedContent
from bythebook.adapters.readers.site.fetch import FetchedPage, Fetcher
from bythebook.adapters.readers.site.limits import FetchFailed, OutOfBounds, SiteLimits
from bythebook.adapters.readers.site.scope import SiteScope
from bythebook.adapters.readers.source_file import skip_unreadable
from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_MAX_KNOWN = 50_000  # addresses


@dataclass(slots=True)
class CrawlResult:
    """What a crawl has found so far."""

    pages: dict[str, WebPage] = field(default_factory=dict)  # by key
    aliases: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, WebAddress] = field(default_factory=dict)  # declared by pages
    missing: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    generated: list[str] = field(default_factory=list)  # not part of the book
    contents: tuple[MenuEntry, ...] = ()
    menu: tuple[MenuEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class _QueuedPage:
    """A page to fetch."""

    address: WebAddress
    depth: int


class Crawl:
    """One crawl of a site."""

    def __init__(self, fetcher: Fetcher, scope: SiteScope, limits: SiteLimits) -> None:
        self._fetcher = fetcher
        self._scope = scope
        self._limits = limits
        self._expected = ExpectedContent("a web page", PAGE_TYPES, limits.page_bytes)
        self._surveyor = Surveyor(scope.find_key)
        self._bodies: dict[bytes, str] = {}  # keys by the body's hash
        self._known: set[str] = set()
        self._queue: deque[_QueuedPage] = deque()
        self._from_sitemap = False
        self._too_deep: set[str] = set()
        self.result = CrawlResult()
        self.is_whole = True  # until a limit stops it

    def run(self, start: FetchedPage, listed: Iterable[WebAddress]) -> CrawlResult:
        """Fetch all pages; failures are recorded in the result."""
        pages = [address for address in listed if self._scope.holds(address)]
        self._from_sitemap = len(pages) > 1
        self._known.add(start.address.key)
        self._enqueue(pages, 0)
        try:
            self._add_page(start, 0)
            while self._queue:
                self._fetch_page(self._take_next())
        except OutOfBounds as bound:
            self.result.warnings.append(f"{bound} {len(self._queue):,} known pages were not read.")
            self.is_whole = False
        if deeper := self._too_deep - self._known:
            self.result.warnings.append(
                f"{len(deeper):,} pages are more than {self._limits.depth} links away from the"
                " start page and were not read."
            )
        self.result.warnings += warn_left_out(self.result.generated)
        return self.result

    def _take_next(self) -> _QueuedPage:
        if len(self.result.pages) >= self._limits.pages:
            raise OutOfBounds(f"The limit of {self._limits.pages:,} pages was reached.")
        return self._queue.popleft()

    def _fetch_page(self, queued: _QueuedPage) -> None:
        try:
            fetched = self._fetcher.get(queued.address, self._expected)
        except OutOfBounds:
            self._queue.appendleft(queued)
            raise
        except FetchFailed as failure:
            self.result.skipped.append(Skipped(queued.address.text, failure.reason))
            if failure.is_gone:
                self.result.missing.add(queued.address.key)
            return
        key = fetched.address.key
        if key != queued.address.key:
            self.result.aliases[queued.address.key] = key
            if key in self._known:
                return
            self._known.add(key)
            if not self._scope.holds(fetched.address):
                self.result.skipped.append(
                    Skipped(queued.address.text, f"It redirects to {fetched.address.text}.")
                )
                return
        self._add_page(fetched, queued.depth)

    def _add_page(self, fetched: FetchedPage, depth: int) -> None:
        """Survey a page, add it to the book and follow its links."""
        address, key = fetched.address, fetched.address.key
        twin = self._bodies.setdefault(hashlib.sha256(fetched.body).digest(), key)
        if twin != key:
            self.result.aliases[key] = twin
            return
        raw = RawPage.pack(fetched.body, fetched.encoding)
        try:
            survey = self._surveyor.survey(raw, address.text)
        except UnreadableBook as error:
            self.result.skipped.append(skip_unreadable(address.text, error))
            return
        if survey.moved_to:
            self._follow_redirect(survey, address, depth)
            return
        if is_generated_page(address.path[1:], survey) and key != self._scope.start.key:
            self.result.generated.append(address.text)
            return
        url = self._find_canonical_address(survey, address)
        if survey.may_index:
            path = self._scope.make_path(address)
            self.result.pages[key] = WebPage(key, path, address.text, url, raw, survey.summary)
        else:
            self.result.skipped.append(Skipped(address.text, "It asks not to be indexed."))
        if key == self._scope.start.key:
            self.result.contents = survey.contents
            self._read_menu(survey.menu_frame, address)
        self._follow(survey, address, depth)

    def _follow_redirect(self, survey: PageSurvey, address: WebAddress, depth: int) -> None:
        """Follow a page's redirect."""
        for target in self._find_targets(survey, [survey.moved_to], address):
            self.result.aliases[address.key] = target.key
            self._enqueue([target], depth)

    def _find_canonical_address(self, survey: PageSurvey, address: WebAddress) -> str:
        """Return the page's canonical address if it is another spelling of the fetched address."""
        found = (
            self._scope.find_page(address.text, "", survey.canonical) if survey.canonical else None
        )
        if found is None:
            return address.text
        own = found[0]
        if own.key == address.key:
            return own.text
        self.result.canonical[address.key] = own
        self._enqueue([own], self._limits.depth)
        return address.text

    def _read_menu(self, source: str, address: WebAddress) -> None:
        """Read a menu in a separate page, which mdBook provides for readers without scripts."""
        found = self._scope.find_page(address.text, "", source) if source else None
        if found is None:
            return
        try:
            fetched = self._fetcher.get(found[0], self._expected)
            raw = RawPage.pack(fetched.body, fetched.encoding)
            survey = self._surveyor.survey(raw, fetched.address.text)
        except (FetchFailed, UnreadableBook):
            return
        self._known |= {found[0].key, fetched.address.key}
        self.result.menu = self._surveyor.read_menu_page(raw, fetched.address.text)
        self._enqueue(self._find_targets(survey, survey.links, fetched.address), 1)

    def _follow(self, survey: PageSurvey, address: WebAddress, depth: int) -> None:
        if not survey.may_follow:
            return
        hrefs = survey.links
        if self._from_sitemap:  # unlisted pages count only if the text links to them
            article = set(survey.summary.article_links)
            hrefs = tuple(href for href in hrefs if href in article)
        targets = self._find_targets(survey, hrefs, address)
        if depth < (1 if self._from_sitemap else self._limits.depth):
            self._enqueue(targets, depth + 1)
        else:
            self._too_deep.update(target.key for target in targets)

    def _find_targets(
        self, survey: PageSurvey, hrefs: Iterable[str], address: WebAddress
    ) -> Iterator[WebAddress]:
        for href in hrefs:
            if found := self._scope.find_page(address.text, survey.summary.base, href):
                yield found[0]

    def _enqueue(self, addresses: Iterable[WebAddress], depth: int) -> None:
        for address in addresses:
            if address.key in self._known or len(self._known) >= _MAX_KNOWN:
                continue
            self._known.add(address.key)
            self._queue.append(_QueuedPage(address, depth))
