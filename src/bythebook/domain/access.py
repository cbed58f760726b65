"""Who asks, and how often they may."""

import ipaddress
import math
from dataclasses import dataclass
from typing import Literal

from bythebook.domain.records import OPEN, ApiKey

WindowName = Literal["key", "session", "ip"]
WINDOW_SECONDS = 60
_IPV6_PREFIX = 64  # bits: a subscriber gets a whole /64 and can use any address in it


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from."""

    ip: str | None = None
    key: ApiKey | None = None  # none while the service is open

    @property
    def owner(self) -> str:
        """The owner of this caller's conversations and questions."""
        return str(self.key.key_id) if self.key else OPEN

    @property
    def holder(self) -> str:
        """The unit that turns and limits are counted for: a key or, without a key, an address."""
        return str(self.key.key_id) if self.key else network_of(self.ip)

    @property
    def readable(self) -> tuple[str, ...] | None:
        """The books that this caller may read; None for all."""
        return self.key.terms.books if self.key else None


@dataclass(frozen=True, slots=True)
class Window:
    """A moving one-minute window in which requests are counted."""

    name: WindowName
    holder: str
    per_minute: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a window after a request was counted or rejected."""

    window: WindowName
    allowed: bool
    limit: int
    remaining: int
    reset_seconds: float  # until the oldest counted request leaves the window

    @property
    def retry_after(self) -> int:
        """Whole seconds until there is room again."""
        return max(1, math.ceil(self.reset_seconds))


def network_of(ip: str | None) -> str:
    """Return the network of the subscriber that an address probably belongs to."""
    try:
        address = ipaddress.ip_address((ip or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address)
