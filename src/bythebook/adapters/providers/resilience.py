"""Timeouts, retries and breakers of all providers.

The error of an attempt decides what happens next:

- a failure of the provider (`retryable`): retried by its policy, and counted; after five in a row
  the breaker opens, and no call reaches the provider for half a minute;
- "not before some seconds" (`retry_after`, from a 429 or 503): no calls before that; the failed call
  itself waits only if the time is short;
- a rejection that a person must fix (wrong key, no credit, unknown model, invalid request; not
  `retryable`): never retried. The provider works, so this counts as an answer: the breaker stays
  closed, and the next call after the fix succeeds;
- an unusable answer (not `is_unwell`): also counts as an answer, since a question may provoke it,
  and one reader must not block a provider for all others.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from bythebook.adapters.providers.breaker import Attempt, Breaker
from bythebook.errors import PartFailed

_log = logging.getLogger("bythebook.providers")
_CROWD_SECONDS = 0.02  # between checks for free places
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Policy:
    """The time limits of a provider, in seconds, and its retries."""

    timeout: float  # of one attempt; of a stream as a whole
    retries: int = 0
    backoff: float = 0.0  # before the first retry; doubled before each next one
    first_token: float | None = None  # of a stream
    gap: float | None = None  # between two tokens of a stream

    @property
    def waits(self) -> tuple[float, ...]:
        """Seconds before each retry."""
        return tuple(self.backoff * 2**retry for retry in range(self.retries))


STORE = Policy(timeout=5.0, retries=1, backoff=2.0)
EMBEDDER = Policy(timeout=10.0, retries=2, backoff=0.5)
MODEL = Policy(timeout=30.0, first_token=20.0, gap=15.0)


class Provider:
    """Calls one provider with its policy and one breaker."""

    def __init__(
        self,
        name: str,
        failed: type[PartFailed],
        policy: Policy,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        timed_out: type[PartFailed] | None = None,
    ) -> None:
        self.name = name
        self.policy = policy
        self._failed = failed
        self._timed_out = timed_out or failed
        self._clock = clock
        self._sleep = sleep
        self._breaker = Breaker(clock)
        self._last_failure = ""

    async def call(
        self, what: str, attempt: Callable[[], Awaitable[T]], *, longest_wait: float | None = None
    ) -> T:
        """Return the result of an attempt, with retries by the policy; attempts raise only our errors.

        `what` completes "was asked to ...". `longest_wait` is the longest Retry-After to wait for,
        in seconds; by default the timeout of one attempt.
        """
        longest = self.policy.timeout if longest_wait is None else longest_wait
        for wait in self.policy.waits:
            began = await self._begin(what)  # an open breaker is final: no retries
            try:
                return await self._attempt(began, what, attempt)
            except PartFailed as error:
                pause = max(wait, error.retry_after or 0)
                if not error.retryable or pause > max(longest, wait) or self._breaker.wait > pause:
                    raise
            await self._sleep(pause)
        return await self._attempt(await self._begin(what), what, attempt)

    @asynccontextmanager
    async def stream(self, what: str) -> AsyncIterator["StreamTimer"]:
        """Time an answer that arrives in parts; without retries.

        It succeeds if the block ends without an exception. A block that is left early, by
        cancellation or by closing the generator around it, says nothing about the provider.
        """
        began = await self._begin(what)
        with self._record_outcome(began):
            yield StreamTimer(
                self.policy,
                self._clock,
                on_token=lambda: self._breaker.record_first_token(began),
                make_timeout=lambda: self._make_timeout(what),
            )

    def has_worked_within(self, seconds: float) -> bool:
        """Return True if it answered so recently that no check is needed."""
        last = self._breaker.last_answer
        return not self._last_failure and last is not None and self._clock() - last < seconds

    async def _attempt(self, began: Attempt, what: str, attempt: Callable[[], Awaitable[T]]) -> T:
        with self._record_outcome(began):
            try:
                async with asyncio.timeout(self.policy.timeout):
                    return await attempt()
            except TimeoutError:
                raise self._make_timeout(what) from None

    async def _begin(self, what: str) -> Attempt:
        """Wait for a free place, at most for the timeout; raise at once if the breaker is open."""
        latest = self._clock() + self.policy.timeout
        while self._breaker.is_crowded:
            if self._clock() > latest:
                raise self._make_timeout(what)
            await self._sleep(_CROWD_SECONDS)
        if seconds := self._breaker.wait:
            raise self._failed(
                f"{self.name} is not called for {seconds} seconds. {self._last_failure}".strip(),
                "It is tried again automatically.",
                retry_after=seconds,
            )
        return self._breaker.begin()

    @contextmanager
    def _record_outcome(self, began: Attempt) -> Iterator[None]:
        was_open = self._breaker.is_open
        try:
            yield
        except PartFailed as error:
            self._record_error(error, began)
            raise
        except Exception as error:
            self._breaker.record_failure(began)
            self._last_failure = f"It failed ({type(error).__name__})."
            raise
        except BaseException:  # the caller left
            self._breaker.record_abandonment(began)
            raise
        else:
            self._breaker.record_answer(began)
            self._last_failure = ""
        finally:
            self._log_change(was_open=was_open)

    def _record_error(self, error: PartFailed, began: Attempt) -> None:
        if not isinstance(error, (self._failed, self._timed_out)):
            self._breaker.record_abandonment(began)  # another part failed inside the stream
            return
        self._last_failure = error.what
        if not error.retryable or not error.is_unwell:
            self._breaker.record_answer(began)
        elif error.retry_after is not None:
            self._breaker.record_rest_request(began, error.retry_after)
        else:
            self._breaker.record_failure(began)
            error.retry_after = self._breaker.wait or None

    def _log_change(self, *, was_open: bool) -> None:
        if self._breaker.is_open and not was_open:
            _log.warning(
                "%s is not called for %d seconds: %s",
                self.name,
                self._breaker.wait,
                self._last_failure,
            )
        if was_open and not self._breaker.is_open:
            _log.warning("%s answers again", self.name)

    def _make_timeout(self, what: str) -> PartFailed:
        return self._timed_out(
            f"{self.name} did not answer in time when asked to {what}.",
            "Try again; if the problem persists, check the provider's status and the address.",
        )


class StreamTimer:
    """Applies the time limits to the parts of one answer, counting only time spent waiting for them."""

    def __init__(
        self,
        policy: Policy,
        clock: Callable[[], float],
        on_token: Callable[[], None],
        make_timeout: Callable[[], PartFailed],
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._on_token = on_token
        self._make_timeout = make_timeout
        self._has_token = False
        self._waited = 0.0  # seconds, in all
        self._quiet = 0.0  # seconds since the last token

    async def time_parts(
        self, source: AsyncIterator[T], is_token: Callable[[T], bool] = lambda _: True
    ) -> AsyncIterator[T]:
        """Yield the parts as they arrive; only tokens restart the wait."""
        end = object()
        while (part := await self.wait_for(anext(source, end))) is not end:
            if is_token(part):  # type: ignore[arg-type]
                self.record_token()
            yield part  # type: ignore[misc]

    async def wait_for(self, awaited: Awaitable[T]) -> T:
        """Wait for the provider as long as the stream may be silent."""
        began = self._clock()
        try:
            async with asyncio.timeout(max(0.0, self._compute_remaining())):
                return await awaited
        except TimeoutError:
            raise self._make_timeout() from None
        finally:
            seconds = self._clock() - began
            self._waited += seconds
            self._quiet += seconds

    def record_token(self) -> None:
        """Record that the provider is working."""
        self._has_token, self._quiet = True, 0.0
        self._on_token()

    def _compute_remaining(self) -> float:
        silence = self._policy.gap if self._has_token else self._policy.first_token
        left = self._policy.timeout - self._waited
        return left if silence is None else min(left, silence - self._quiet)
