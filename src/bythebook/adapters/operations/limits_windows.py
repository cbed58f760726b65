"""Moving windows of requests: in this process, or in a Redis that several processes share."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bythebook.domain.access import WINDOW_SECONDS, Allowance, Window
from bythebook.errors import InputError, LimiterFailed

_LOOK_AGAIN_SECONDS = 1.0
_CONNECTIONS = 32
_AWAY = (RedisError, OSError, TimeoutError)
_log = logging.getLogger("bythebook.limits")


class MemoryWindows:
    """Counts in this process, each request in one step, since nothing in it waits.

    The memory store of `limits` looks through all windows at every request, which takes a whole
    core once there are thousands; here they are looked through once a minute.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._taken: dict[tuple[str, str], deque[float]] = {}
        self._swept = clock()

    def __len__(self) -> int:
        return len(self._taken)

    async def take(self, window: Window) -> Allowance:
        """Count a request where there is room for it, in one step."""
        now = self._clock()
        self._sweep(now)
        taken = self._taken.setdefault((window.name, window.holder), deque())
        while taken and taken[0] <= now - WINDOW_SECONDS:
            taken.popleft()
        allowed = len(taken) < window.per_minute
        if allowed:
            taken.append(now)
        return Allowance(
            window.name,
            allowed,
            window.per_minute,
            remaining=max(0, window.per_minute - len(taken)),
            reset_seconds=taken[0] + WINDOW_SECONDS - now if taken else 0.0,
        )

    def _sweep(self, now: float) -> None:
        if now - self._swept < WINDOW_SECONDS:
            return
        self._swept = now
        since = now - WINDOW_SECONDS
        self._taken = {
            name: taken for name, taken in self._taken.items() if taken and taken[-1] > since
        }


class RedisWindows:
    """Counts in Redis; while it is away, in this process, so that nobody waits and nobody is unbounded."""

    def __init__(self, url: str, *, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds  # the longest that a request waits for Redis
        self._pool = _pool(url, patience_seconds)
        self._redis = Redis(connection_pool=self._pool)
        storage = RedisStorage(
            "async+redis://",  # where it is, the pool knows
            implementation="redispy",
            key_prefix="bythebook",
            connection_pool=self._pool,  # type: ignore[arg-type]
        )
        self._windows = MovingWindowRateLimiter(storage)
        self._meanwhile = MemoryWindows()
        self._outage: asyncio.Task[None] | None = None

    @property
    def place(self) -> str:
        """Where Redis is, without its password."""
        where = self._pool.connection_kwargs
        return str(
            where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}"
        )

    @property
    def away(self) -> bool:
        """Whether Redis did not answer when it was last asked."""
        return self._outage is not None

    async def take(self, window: Window) -> Allowance:
        """Count a request where there is room for it, in one step."""
        if not self.away:
            try:
                async with asyncio.timeout(self._patience_seconds):
                    return await self._take(window)
            except _AWAY as error:
                self._begin_outage(error)
        return await self._meanwhile.take(window)

    async def check(self) -> None:
        """Raise LimiterFailed while Redis does not answer."""
        try:
            await self._ping()
        except _AWAY as error:
            raise LimiterFailed(
                f"Redis at {self.place} cannot be reached: each process counts requests for itself.",
                "Check that it runs, and BYTHEBOOK_REDIS_URL; counting there goes on by itself.",
            ) from error

    async def close(self) -> None:
        """Let go of every connection."""
        if self._outage is not None:
            self._outage.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._outage
        await self._pool.disconnect()

    async def _take(self, window: Window) -> Allowance:
        item = RateLimitItemPerMinute(window.per_minute)
        allowed = await self._windows.hit(item, window.name, window.holder)
        left = await self._windows.get_window_stats(item, window.name, window.holder)
        return Allowance(
            window.name,
            allowed,
            window.per_minute,
            remaining=max(0, left.remaining) if allowed else 0,
            reset_seconds=min(max(0.0, left.reset_time - time.time()), WINDOW_SECONDS),
        )

    async def _ping(self) -> None:
        async with asyncio.timeout(self._patience_seconds):
            await self._redis.ping()

    def _begin_outage(self, error: Exception) -> None:
        if self._outage is not None:
            return  # another request at the same time has reported it
        kind = type(error).__name__
        _log.warning(
            "Redis at %s is away (%s): requests are counted in this process", self.place, kind
        )
        self._outage = asyncio.create_task(self._wait_for_redis())

    async def _wait_for_redis(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            with contextlib.suppress(*_AWAY):
                await self._ping()
                break
        self._outage = None
        _log.info("Redis at %s is back: requests are counted there again", self.place)


def _pool(url: str, patience_seconds: float) -> BlockingConnectionPool:
    try:
        return BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=patience_seconds,
            socket_timeout=patience_seconds,
            socket_connect_timeout=patience_seconds,
            retry=Retry(NoBackoff(), 1),  # a connection that Redis closed meanwhile is no outage
        )
    except (ValueError, TypeError) as error:
        raise InputError(
            "BYTHEBOOK_REDIS_URL is not the address of a Redis.",
            "Write it as redis://host:6379/0, rediss://user:password@host:6379/0 or unix:///path.",
        ) from error
