"""Who asks, and how often they may."""

import math
from dataclasses import dataclass
from typing import Literal

from bythebook.domain.records import OPEN, ApiKey

WindowName = Literal["key", "session", "ip"]
WINDOW_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from."""

    ip: str | None = None
    key: ApiKey | None = None  # none while the service is open

    @property
    def owner(self) -> str:
        """Whose the conversations and questions of this caller are."""
        return str(self.key.key_id) if self.key else OPEN

    @property
    def readable(self) -> tuple[str, ...] | None:
        """The books that this caller may read; none: all."""
        return self.key.terms.books if self.key else None


@dataclass(frozen=True, slots=True)
class Window:
    """A moving window of a minute that requests are counted in."""

    name: WindowName
    holder: str
    per_minute: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a window after a request was counted, or was not for want of room."""

    window: WindowName
    allowed: bool
    limit: int
    remaining: int
    reset_seconds: float  # until the oldest counted request leaves the window

    @property
    def retry_after(self) -> int:
        """Whole seconds after which there is room again."""
        return max(1, math.ceil(self.reset_seconds))
