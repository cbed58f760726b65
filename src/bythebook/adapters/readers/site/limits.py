"""Limits of a run over a web site, and the errors raised when they are reached."""

import time
from dataclasses import dataclass, field

from bythebook import __version__

USER_AGENT = f"ByTheBook/{__version__}"


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """Limits of a run over one site."""

    pages: int = 2_000
    depth: int = 5  # links from the start page, if there is no sitemap
    page_bytes: int = 5_000_000  # after decompression
    total_bytes: int = 200_000_000  # after decompression
    total_seconds: float = 900.0
    request_seconds: float = 20.0
    pause_seconds: float = 0.1  # between requests
    longest_crawl_delay: float = 5.0  # seconds; the maximum that robots.txt may ask for
    longest_retry_wait: float = 5.0  # seconds; the maximum that a busy server may ask for
    redirects: int = 5
    retries: int = 2
    failures_in_a_row: int = 8  # requests without a response after which the server counts as down


class FetchFailed(Exception):
    """An address could not be fetched; the reason is a sentence for people."""

    def __init__(self, reason: str, *, status: int = 0, may_pass: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status  # 0 without a complete response
        self.may_pass = may_pass  # whether a retry may help

    @property
    def is_gone(self) -> bool:
        """Whether the server says that there is nothing at the address."""
        return self.status in {404, 410}


class HostRefused(FetchFailed):
    """The address may not be reached."""


class OutOfBounds(Exception):
    """The run reached one of its limits; the message says which."""


@dataclass(slots=True)
class CrawlBudget:
    """What is left of a run's limits."""

    limits: SiteLimits
    started: float = field(default_factory=time.monotonic)
    bytes_read: int = 0
    failures: int = 0  # consecutive

    def request_deadline(self) -> float:
        """Return the deadline of the next request, or raise OutOfBounds."""
        now = time.monotonic()
        end = self.started + self.limits.total_seconds
        if now >= end:
            raise OutOfBounds(f"The limit of {self.limits.total_seconds:g} seconds was reached.")
        if self.failures >= self.limits.failures_in_a_row:
            raise OutOfBounds(f"The server did not answer {self.failures} requests in a row.")
        return min(now + self.limits.request_seconds, end)

    def spend(self, size: int) -> None:
        """Count bytes; raise OutOfBounds above the limit."""
        self.bytes_read += size
        if self.bytes_read > self.limits.total_bytes:
            raise OutOfBounds(f"The limit of {self.limits.total_bytes:,} bytes was reached.")

    def pause(self, seconds: float) -> None:
        """Wait, but never beyond the end of the run."""
        left = self.started + self.limits.total_seconds - time.monotonic()
        if seconds > 0 and left > 0:
            time.sleep(min(seconds, left))
