"""Fetching pages of one site: redirects, retries, revalidation and politeness by hand."""

import http.client
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime

from bythebook.adapters.readers.site.address import WebAddress, join
from bythebook.adapters.readers.site.cache import FetchCache, Kept
from bythebook.adapters.readers.site.connection import Answer, PinnedConnection, Wanted
from bythebook.adapters.readers.site.guard import HostGuard
from bythebook.adapters.readers.site.limits import USER_AGENT, Budget, FetchFailed

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Fetched:
    """What stands at an address."""

    address: WebAddress  # after all redirects
    body: bytes
    encoding: str | None  # as the server names it


class LeftOrigin(FetchFailed):
    """A redirect leads away from the site; the address is kept for the message."""

    def __init__(self, target: WebAddress) -> None:
        super().__init__(f"It redirects to another site ({target.text}).", status=302)
        self.target = target


class Fetcher:
    """Fetches from one origin, one request at a time."""

    def __init__(self, guard: HostGuard, cache: FetchCache, budget: Budget) -> None:
        self._guard = guard
        self._cache = cache
        self._budget = budget
        self._connection: PinnedConnection | None = None
        self._last_request = 0.0
        self.pause = budget.limits.pause_seconds
        self.may_read: Callable[[WebAddress], bool] = lambda _address: True

    def get(self, address: WebAddress, wanted: Wanted) -> Fetched:
        """Fetch an address, following redirects on its own site only; raise FetchFailed."""
        origin = address.origin
        for _ in range(self._budget.limits.redirects + 1):
            if not self.may_read(address):
                raise FetchFailed("The site's robots.txt does not allow it.", status=403)
            answer = self._once(address, wanted)
            if isinstance(answer, Fetched):
                return answer
            if answer.origin != origin:
                raise LeftOrigin(answer)
            address = answer
        raise FetchFailed(f"It redirects more than {self._budget.limits.redirects} times.")

    def close(self) -> None:
        """Hang up."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _once(self, address: WebAddress, wanted: Wanted) -> Fetched | WebAddress:
        """Fetch one address; give where it redirects to if it does."""
        kept = self._cache.get(address.text)
        if kept and len(kept.body) > wanted.most:
            kept = None
        if kept and kept.current:
            self._cache.touch(address.text)
            return self._fetched(address, kept)
        answer = self._patiently(address, kept, wanted)
        if answer.status == http.client.NOT_MODIFIED and kept:
            self._cache.touch(address.text)
            return self._fetched(address, kept)
        if answer.status in _REDIRECTS:
            target = join(address, answer.headers.get("location", ""))
            if target is None:
                raise FetchFailed("It redirects to what is no web address.")
            return target[0]
        if answer.status != http.client.OK:
            raise FetchFailed(f"The server answered {answer.status}.", status=answer.status)
        return self._fetched(address, self._keep(address, answer))

    def _fetched(self, address: WebAddress, kept: Kept) -> Fetched:
        self._budget.spend(len(kept.body))
        header = Message()
        header["content-type"] = kept.content_type
        charset = header.get_param("charset")
        return Fetched(address, kept.body, charset if isinstance(charset, str) else None)

    def _keep(self, address: WebAddress, answer: Answer) -> Kept:
        headers = answer.headers
        kept = Kept(
            headers.get("etag", ""), headers.get("last-modified", ""),
            headers.get("content-type", ""), answer.body, current=True,
        )  # fmt: skip
        if "no-store" in headers.get("cache-control", "").lower():
            self._cache.drop(address.text)
        else:
            self._cache.put(address.text, kept)
        return kept

    def _patiently(self, address: WebAddress, kept: Kept | None, wanted: Wanted) -> Answer:
        """Ask again when the server is busy or hangs up, but not for ever."""
        limits = self._budget.limits
        for attempt in range(limits.retries + 1):
            last = attempt == limits.retries
            try:
                answer = self._ask(address, kept, wanted)
            except FetchFailed as failure:
                if last or not failure.may_pass:
                    raise
                self._budget.pause(max(self.pause, 0.05))
                continue
            if answer.status not in _BUSY or last:
                break
            wait = retry_after(answer.headers.get("retry-after", ""))
            self._budget.pause(min(wait, limits.longest_retry_wait))
        return answer

    def _ask(self, address: WebAddress, kept: Kept | None, wanted: Wanted) -> Answer:
        """Send one request over the connection that is pinned to the checked address."""
        self._budget.pause(self._last_request + self.pause - time.monotonic())
        deadline = self._budget.request_deadline()
        try:
            answer = self._connected(address).get(
                address, _headers(kept), deadline=deadline, wanted=wanted
            )
        except TimeoutError as error:
            self._count_failure()
            limit = self._budget.limits.request_seconds
            raise FetchFailed(f"No whole answer came within {limit:g} seconds.") from error
        except ssl.SSLError as error:
            self._count_failure()
            raise FetchFailed(f"No secure connection: {error.reason or error}.") from error
        except (http.client.HTTPException, OSError) as error:
            self._count_failure()
            raise FetchFailed("The connection was cut or refused.", may_pass=True) from error
        finally:
            self._last_request = time.monotonic()
        self._budget.failures = 0
        return answer

    def _count_failure(self) -> None:
        self.close()
        self._budget.failures += 1

    def _connected(self, address: WebAddress) -> PinnedConnection:
        if self._connection is None or self._connection.origin != address.origin:
            self.close()
            self._connection = PinnedConnection(address, self._guard.addresses(address))
        return self._connection


def retry_after(text: str) -> float:
    """Read how long a busy server asks to wait, in seconds."""
    if text.strip().isdecimal():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError, OSError):
        return 1.0


def _headers(kept: Kept | None) -> dict[str, str]:
    headers = {
        "User-Agent": USER_AGENT,
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
    }
    if kept and kept.etag.isprintable() and kept.etag:
        headers["If-None-Match"] = kept.etag
    if kept and kept.last_modified.isprintable() and kept.last_modified:
        headers["If-Modified-Since"] = kept.last_modified
    return headers
