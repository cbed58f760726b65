"""The one place for timeouts, retries and breakers of providers.

What an attempt raises says what is done about it:

- a failure of the provider (`retryable`): tried again as its policy says, and counted; after five
  in a row the breaker opens, and for half a minute nothing reaches the provider;
- "not before so many seconds" (`retry_after`, of a 429 or 503): nobody calls before that; the call
  itself waits for it only if it is not long;
- a refusal that only a person can put right (wrong key, no credit, unknown model, a request that is
  not valid; not `retryable`): never tried again. The provider is well, so that it counts as an
  answer: the breaker stays closed, and the very next call after the fix succeeds;
- an answer that cannot be used (not `is_unwell`): counts as an answer too, since a question may
  provoke it, and no reader may close a provider to all others.
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
_CROWD_SECONDS = 0.02  # between two looks whether others were answered
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a provider is waited for, in seconds, and how often it is tried again."""

    timeout: float  # of one attempt; of a stream as a whole
    retries: int = 0
    backoff: float = 0.0  # before the first retry; doubled before each further one
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
    """Calls one provider by its policy, behind one breaker."""

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
        self, what: str, attempt: Callable[[], Awaitable[T]], *, patience: float | None = None
    ) -> T:
        """Give what an attempt gives, made again as the policy says; it raises our errors only.

        `what` completes "was asked to ...". `patience`: the longest Retry-After that is waited
        for, in seconds; else as long as one attempt may take.
        """
        longest = self.policy.timeout if patience is None else patience
        for wait in self.policy.waits:
            began = await self._begin(what)  # to be refused is final: nobody waits behind a breaker
            try:
                return await self._attempt(began, what, attempt)
            except PartFailed as error:
                pause = max(wait, error.retry_after or 0)
                if not error.retryable or pause > max(longest, wait) or self._breaker.wait > pause:
                    raise
            await self._sleep(pause)
        return await self._attempt(await self._begin(what), what, attempt)

    @asynccontextmanager
    async def stream(self, what: str) -> AsyncIterator["Stream"]:
        """Watch over an answer that comes in parts; never made again.

        Its success is that the block ends without an exception. A block that is left early, by
        cancellation or by closing the generator around it, says nothing of the provider.
        """
        began = await self._begin(what)
        with self._outcome(began):
            yield Stream(
                self.policy,
                self._clock,
                alive=lambda: self._breaker.alive(began),
                late=lambda: self._late(what),
            )

    def worked_within(self, seconds: float) -> bool:
        """Whether it answered so recently that it need not be asked just to see that it works."""
        last = self._breaker.last_answer
        return not self._last_failure and last is not None and self._clock() - last < seconds

    async def _attempt(self, began: Attempt, what: str, attempt: Callable[[], Awaitable[T]]) -> T:
        with self._outcome(began):
            try:
                async with asyncio.timeout(self.policy.timeout):
                    return await attempt()
            except TimeoutError:
                raise self._late(what) from None

    async def _begin(self, what: str) -> Attempt:
        """Wait for room, at most as long as one attempt may take; raise at once if it is open."""
        latest = self._clock() + self.policy.timeout
        while self._breaker.is_crowded:
            if self._clock() > latest:
                raise self._late(what)
            await self._sleep(_CROWD_SECONDS)
        if seconds := self._breaker.wait:
            raise self._failed(
                f"{self.name} is left alone for {seconds} seconds. {self._last_failure}".strip(),
                "It is tried again by itself.",
                retry_after=seconds,
            )
        return self._breaker.begin()

    @contextmanager
    def _outcome(self, began: Attempt) -> Iterator[None]:
        was_open = self._breaker.is_open
        try:
            yield
        except PartFailed as error:
            self._note(error, began)
            raise
        except Exception as error:
            self._breaker.failed(began)
            self._last_failure = f"It failed ({type(error).__name__})."
            raise
        except BaseException:  # nobody waits for the answer any more
            self._breaker.abandoned(began)
            raise
        else:
            self._breaker.answered(began)
            self._last_failure = ""
        finally:
            self._tell(was_open=was_open)

    def _note(self, error: PartFailed, began: Attempt) -> None:
        if not isinstance(error, (self._failed, self._timed_out)):
            self._breaker.abandoned(began)  # another part failed, inside a stream
            return
        self._last_failure = error.what
        if not error.retryable or not error.is_unwell:
            self._breaker.answered(began)
        elif error.retry_after is not None:
            self._breaker.told_to_wait(began, error.retry_after)
        else:
            self._breaker.failed(began)
            error.retry_after = self._breaker.wait or None

    def _tell(self, *, was_open: bool) -> None:
        if self._breaker.is_open and not was_open:
            _log.warning(
                "%s is left alone for %d seconds: %s",
                self.name,
                self._breaker.wait,
                self._last_failure,
            )
        if was_open and not self._breaker.is_open:
            _log.warning("%s answers again", self.name)

    def _late(self, what: str) -> PartFailed:
        return self._timed_out(
            f"{self.name} did not answer in time when asked to {what}.",
            "Try again; if it stays so, look whether the provider is well and the address is right.",
        )


class Stream:
    """Holds the parts of one answer to their times, counting only while the provider is waited for."""

    def __init__(
        self,
        policy: Policy,
        clock: Callable[[], float],
        alive: Callable[[], None],
        late: Callable[[], PartFailed],
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._alive = alive
        self._late = late
        self._has_token = False
        self._waited = 0.0  # seconds, in all
        self._quiet = 0.0  # seconds since the last token

    async def parts(
        self, source: AsyncIterator[T], is_token: Callable[[T], bool] = lambda _: True
    ) -> AsyncIterator[T]:
        """Give the parts as they come; those that are no token do not make the wait begin anew."""
        end = object()
        while (part := await self.within(anext(source, end))) is not end:
            if is_token(part):  # type: ignore[arg-type]
                self.token()
            yield part  # type: ignore[misc]

    async def within(self, awaited: Awaitable[T]) -> T:
        """Wait for something of the provider as long as the stream may be silent."""
        began = self._clock()
        try:
            async with asyncio.timeout(max(0.0, self._left())):
                return await awaited
        except TimeoutError:
            raise self._late() from None
        finally:
            seconds = self._clock() - began
            self._waited += seconds
            self._quiet += seconds

    def token(self) -> None:
        """Note that the provider is at work."""
        self._has_token, self._quiet = True, 0.0
        self._alive()

    def _left(self) -> float:
        silence = self._policy.gap if self._has_token else self._policy.first_token
        left = self._policy.timeout - self._waited
        return left if silence is None else min(left, silence - self._quiet)
