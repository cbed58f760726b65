"""The way through a site: from its sitemap or from link to link, each page once."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bythebook.adapters.readers.html.beside import beside_warning, is_beside
from bythebook.adapters.readers.html.menu import MenuEntry
from bythebook.adapters.readers.html.survey import Look, RawPage, Surveyor
from bythebook.adapters.readers.html.web_pages import WebPage
from bythebook.adapters.readers.site.address import WebAddress
from bythebook.adapters.readers.site.connection import Wanted
from bythebook.adapters.readers.site.fetch import Fetched, Fetcher
from bythebook.adapters.readers.site.limits import FetchFailed, OutOfBounds, SiteLimits
from bythebook.adapters.readers.site.scope import Scope
from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_KNOWN = 50_000  # addresses remembered


@dataclass(slots=True)
class Journey:
    """What a crawl found, as it grows."""

    pages: dict[str, WebPage] = field(default_factory=dict)  # by key
    aliases: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, WebAddress] = field(default_factory=dict)  # what pages call their own
    gone: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)  # no part of the book
    contents: tuple[MenuEntry, ...] = ()
    menu: tuple[MenuEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stop:
    """A page to fetch."""

    address: WebAddress
    depth: int


class Crawl:
    """One way through a site."""

    def __init__(self, fetcher: Fetcher, scope: Scope, limits: SiteLimits) -> None:
        self._fetcher = fetcher
        self._scope = scope
        self._limits = limits
        self._wanted = Wanted("a web page", PAGE_TYPES, limits.page_bytes)
        self._surveyor = Surveyor(scope.key_of)
        self._bodies: dict[bytes, str] = {}  # keys by the body's hash
        self._known: set[str] = set()
        self._queue: deque[_Stop] = deque()
        self._from_sitemap = False
        self._too_deep: set[str] = set()
        self.journey = Journey()
        self.is_whole = True  # until a limit ends it

    def run(self, start: Fetched, listed: Iterable[WebAddress]) -> Journey:
        """Fetch all pages; what could not be is told in the journey."""
        pages = [address for address in listed if self._scope.holds(address)]
        self._from_sitemap = len(pages) > 1
        self._known.add(start.address.key)
        self._enqueue(pages, 0)
        try:
            self._take(start, 0)
            while self._queue:
                self._visit(self._next())
        except OutOfBounds as bound:
            self.journey.warnings.append(f"{bound} {len(self._queue):,} known pages were not read.")
            self.is_whole = False
        if deeper := self._too_deep - self._known:
            self.journey.warnings.append(
                f"{len(deeper):,} pages are more than {self._limits.depth} links away from the"
                " start page and were not read."
            )
        self.journey.warnings += beside_warning(self.journey.beside)
        return self.journey

    def _next(self) -> _Stop:
        if len(self.journey.pages) >= self._limits.pages:
            raise OutOfBounds(f"The limit of {self._limits.pages:,} pages was reached.")
        return self._queue.popleft()

    def _visit(self, stop: _Stop) -> None:
        try:
            fetched = self._fetcher.get(stop.address, self._wanted)
        except OutOfBounds:
            self._queue.appendleft(stop)
            raise
        except FetchFailed as failure:
            self.journey.skipped.append(Skipped(stop.address.text, failure.reason))
            if failure.is_gone:
                self.journey.gone.add(stop.address.key)
            return
        key = fetched.address.key
        if key != stop.address.key:
            self.journey.aliases[stop.address.key] = key
            if key in self._known:
                return
            self._known.add(key)
            if not self._scope.holds(fetched.address):
                self.journey.skipped.append(
                    Skipped(stop.address.text, f"It redirects to {fetched.address.text}.")
                )
                return
        self._take(fetched, stop.depth)

    def _take(self, fetched: Fetched, depth: int) -> None:
        """Look a page over, take it into the book, follow its links."""
        address, key = fetched.address, fetched.address.key
        twin = self._bodies.setdefault(hashlib.sha256(fetched.body).digest(), key)
        if twin != key:
            self.journey.aliases[key] = twin
            return
        raw = RawPage.of(fetched.body, fetched.encoding)
        try:
            look = self._surveyor.look(raw, address.text)
        except UnreadableBook as error:
            self.journey.skipped.append(Skipped(address.text, f"{error.what} {error.help_message}"))
            return
        if look.moved_to:
            self._move(look, address, depth)
            return
        if is_beside(address.path[1:], look) and key != self._scope.start.key:
            self.journey.beside.append(address.text)
            return
        url = self._own_address(look, address)
        if look.may_index:
            page = WebPage(key, self._scope.path_of(address), address.text, url, raw, look.survey)
            self.journey.pages[key] = page
        else:
            self.journey.skipped.append(Skipped(address.text, "It asks not to be indexed."))
        if key == self._scope.start.key:
            self.journey.contents = look.contents
            self._read_menu(look.menu_frame, address)
        self._follow(look, address, depth)

    def _move(self, look: Look, address: WebAddress, depth: int) -> None:
        """Go on to where a page sends its readers by itself."""
        for target in self._targets(look, [look.moved_to], address):
            self.journey.aliases[address.key] = target.key
            self._enqueue([target], depth)

    def _own_address(self, look: Look, address: WebAddress) -> str:
        """Give the address a page calls its own, if that is another spelling of where it is."""
        found = self._scope.find(address.text, "", look.canonical) if look.canonical else None
        if found is None:
            return address.text
        own = found[0]
        if own.key == address.key:
            return own.text
        self.journey.canonical[address.key] = own
        self._enqueue([own], self._limits.depth)
        return address.text

    def _read_menu(self, source: str, address: WebAddress) -> None:
        """Read a menu that is a page of its own, as mdBook makes one for readers without scripts."""
        found = self._scope.find(address.text, "", source) if source else None
        if found is None:
            return
        try:
            fetched = self._fetcher.get(found[0], self._wanted)
            raw = RawPage.of(fetched.body, fetched.encoding)
            look = self._surveyor.look(raw, fetched.address.text)
        except (FetchFailed, UnreadableBook):
            return
        self._known |= {found[0].key, fetched.address.key}
        self.journey.menu = self._surveyor.menu_page(raw, fetched.address.text)
        self._enqueue(self._targets(look, look.links, fetched.address), 1)

    def _follow(self, look: Look, address: WebAddress, depth: int) -> None:
        if not look.may_follow:
            return
        hrefs = look.links
        if self._from_sitemap:  # what is not listed counts only where the text itself leads there
            article = set(look.survey.article_links)
            hrefs = tuple(href for href in hrefs if href in article)
        targets = self._targets(look, hrefs, address)
        if depth < (1 if self._from_sitemap else self._limits.depth):
            self._enqueue(targets, depth + 1)
        else:
            self._too_deep.update(target.key for target in targets)

    def _targets(
        self, look: Look, hrefs: Iterable[str], address: WebAddress
    ) -> Iterator[WebAddress]:
        for href in hrefs:
            if found := self._scope.find(address.text, look.survey.base, href):
                yield found[0]

    def _enqueue(self, addresses: Iterable[WebAddress], depth: int) -> None:
        for address in addresses:
            if address.key in self._known or len(self._known) >= _MOST_KNOWN:
                continue
            self._known.add(address.key)
            self._queue.append(_Stop(address, depth))
