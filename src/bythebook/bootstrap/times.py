"""Times of a running service; they are no settings, but tests give others."""

from dataclasses import dataclass

from bythebook.operate.access.latest_keys import KEY_TIMES, KeyTimes


@dataclass(frozen=True, slots=True)
class ServiceTimes:
    """How often the service does its duties, and how long it waits for others."""

    watch_seconds: float = 30.0  # between two checks of the parts
    upkeep_seconds: float = 60.0  # between two offers to do what is due
    redis_seconds: float = 0.4  # the longest that a request waits for Redis
    keys: KeyTimes = KEY_TIMES
