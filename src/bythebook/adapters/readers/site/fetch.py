"""Fetches the pages of one site, with redirects, retries, revalidation and pauses."""

import http.client
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime

from bythebook.adapters.readers.site.address import WebAddress, join
from bythebook.adapters.readers.site.cache import CachedPage, FetchCache
from bythebook.adapters.readers.site.connection import (
    ExpectedContent,
    PinnedConnection,
    ServerResponse,
)
from bythebook.adapters.readers.site.guard import HostGuard
from bythebook.adapters.readers.site.limits import USER_AGENT, CrawlBudget, FetchFailed

_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_BUSY_STATUSES = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The page at an address."""

    address: WebAddress  # after all redirects
    body: bytes
    encoding: str | None  # from the response header


class LeftOrigin(FetchFailed):
    """A redirect leads to another site; the target is kept for the message."""

    def __init__(self, target: WebAddress) -> None:
        super().__init__(f"It redirects to another site ({target.text}).", status=302)
        self.target = target


class Fetcher:
    """Fetches from one origin, one request at a time."""

    def __init__(self, guard: HostGuard, cache: FetchCache, budget: CrawlBudget) -> None:
        self._guard = guard
        self._cache = cache
        self._budget = budget
        self._connection: PinnedConnection | None = None
        self._last_request = 0.0
        self.pause = budget.limits.pause_seconds
        self.may_read: Callable[[WebAddress], bool] = lambda _address: True

    def get(self, address: WebAddress, expected: ExpectedContent) -> FetchedPage:
        """Fetch an address and follow redirects within its site; raise FetchFailed."""
        origin = address.origin
        for _ in range(self._budget.limits.redirects + 1):
            if not self.may_read(address):
                raise FetchFailed("The site's robots.txt does not allow it.", status=403)
            found = self._fetch_once(address, expected)
            if isinstance(found, FetchedPage):
                return found
            if found.origin != origin:
                raise LeftOrigin(found)
            address = found
        raise FetchFailed(f"It redirects more than {self._budget.limits.redirects} times.")

    def close(self) -> None:
        """Close the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _fetch_once(
        self, address: WebAddress, expected: ExpectedContent
    ) -> FetchedPage | WebAddress:
        """Fetch one address; return the target if it redirects."""
        cached = self._cache.get(address.text)
        if cached and len(cached.body) > expected.most:
            cached = None
        if cached and cached.current:
            self._cache.touch(address.text)
            return self._make_page(address, cached)
        response = self._request_with_retries(address, cached, expected)
        if response.status == http.client.NOT_MODIFIED and cached:
            self._cache.touch(address.text)
            return self._make_page(address, cached)
        if response.status in _REDIRECT_STATUSES:
            target = join(address, response.headers.get("location", ""))
            if target is None:
                raise FetchFailed("It redirects to something that is not a web address.")
            return target[0]
        if response.status != http.client.OK:
            raise FetchFailed(f"The server answered {response.status}.", status=response.status)
        return self._make_page(address, self._store(address, response))

    def _make_page(self, address: WebAddress, cached: CachedPage) -> FetchedPage:
        self._budget.spend(len(cached.body))
        header = Message()
        header["content-type"] = cached.content_type
        charset = header.get_param("charset")
        return FetchedPage(address, cached.body, charset if isinstance(charset, str) else None)

    def _store(self, address: WebAddress, response: ServerResponse) -> CachedPage:
        headers = response.headers
        cached = CachedPage(
            headers.get("etag", ""), headers.get("last-modified", ""),
            headers.get("content-type", ""), response.body, current=True,
        )  # fmt: skip
        if "no-store" in headers.get("cache-control", "").lower():
            self._cache.drop(address.text)
        else:
            self._cache.put(address.text, cached)
        return cached

    def _request_with_retries(
        self, address: WebAddress, cached: CachedPage | None, expected: ExpectedContent
    ) -> ServerResponse:
        """Retry a few times when the server is busy or closes the connection."""
        limits = self._budget.limits
        for attempt in range(limits.retries + 1):
            last = attempt == limits.retries
            try:
                response = self._request(address, cached, expected)
            except FetchFailed as failure:
                if last or not failure.may_pass:
                    raise
                self._budget.pause(max(self.pause, 0.05))
                continue
            if response.status not in _BUSY_STATUSES or last:
                break
            wait = parse_retry_after(response.headers.get("retry-after", ""))
            self._budget.pause(min(wait, limits.longest_retry_wait))
        return response

    def _request(
        self, address: WebAddress, cached: CachedPage | None, expected: ExpectedContent
    ) -> ServerResponse:
        """Send one request over the connection pinned to the checked address."""
        self._budget.pause(self._last_request + self.pause - time.monotonic())
        deadline = self._budget.request_deadline()
        try:
            response = self._get_connection(address).get(
                address, _make_headers(cached), deadline=deadline, expected=expected
            )
        except TimeoutError as error:
            self._count_failure()
            limit = self._budget.limits.request_seconds
            raise FetchFailed(f"No complete response came within {limit:g} seconds.") from error
        except ssl.SSLError as error:
            self._count_failure()
            raise FetchFailed(f"No secure connection: {error.reason or error}.") from error
        except (http.client.HTTPException, OSError) as error:
            self._count_failure()
            raise FetchFailed("The connection was cut or refused.", may_pass=True) from error
        finally:
            self._last_request = time.monotonic()
        self._budget.failures = 0
        return response

    def _count_failure(self) -> None:
        self.close()
        self._budget.failures += 1

    def _get_connection(self, address: WebAddress) -> PinnedConnection:
        if self._connection is None or self._connection.origin != address.origin:
            self.close()
            self._connection = PinnedConnection(address, self._guard.resolve(address))
        return self._connection


def parse_retry_after(text: str) -> float:
    """Parse how long a busy server asks to wait, in seconds."""
    if text.strip().isdecimal():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError, OSError):
        return 1.0


def _make_headers(cached: CachedPage | None) -> dict[str, str]:
    headers = {
        "User-Agent": USER_AGENT,
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
    }
    if cached and cached.etag.isprintable() and cached.etag:
        headers["If-None-Match"] = cached.etag
    if cached and cached.last_modified.isprintable() and cached.last_modified:
        headers["If-Modified-Since"] = cached.last_modified
    return headers
