"""The wait before the answer path: bounded in time, and fair between callers."""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bythebook.errors import Overloaded
from bythebook.ports import Metrics

_NEWEST_SHARE = 0.05  # weight of the newest answer in the average time of an answer
# Shares of the maximum wait. Estimates miss by some percent; the rest is for what a busy machine
# takes before and after the queue, so that few wait in vain and none much longer than promised.
_FORESEEN_SHARE = 0.9
_LONGEST_SHARE = 0.95


class AnswerQueue:
    """Answers a few questions at once; the rest take turns, caller by caller.

    A question that cannot get its turn within the maximum wait is refused: at once where that is
    foreseeable, else when the time is up.
    """

    def __init__(
        self,
        at_once: int,
        max_wait_seconds: float,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_wait_seconds = max_wait_seconds
        self._at_once = at_once
        self._free = at_once
        self._metrics = metrics
        self._clock = clock
        self._answer_seconds = 0.0  # average; 0 until the first answer
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, holder: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it for a with block; raise Overloaded if there is none in time."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(holder)
        started = self._clock()
        try:
            yield
        finally:
            self._learn(self._clock() - started)
            self._pass_on()

    def require_short_wait(self, holder: str) -> None:
        """Raise Overloaded if one more question by this caller would wait too long."""
        expected = self._estimate_wait(holder)
        if expected > self.max_wait_seconds * _FORESEEN_SHARE:
            raise self.refuse(expected)

    async def _wait(self, holder: str) -> None:
        self.require_short_wait(holder)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(holder, deque()).append(turn)
        try:
            async with asyncio.timeout(self.max_wait_seconds * _LONGEST_SHARE):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # granted at the moment the caller left
            else:
                self._remove(holder, turn)
            if isinstance(error, TimeoutError):
                raise self.refuse(self.max_wait_seconds) from None
            raise

    def _estimate_wait(self, holder: str) -> float:
        """Estimate the wait of one more question by this caller."""
        if self._free:
            return 0.0
        own = len(self._waiting.get(holder, ()))
        # When this caller has had `own` turns, so has every other caller with as many questions waiting.
        ahead = own + sum(
            min(len(turns), own + 1) for name, turns in self._waiting.items() if name != holder
        )
        return (ahead + 1) * self._answer_seconds / self._at_once

    def _learn(self, seconds: float) -> None:
        share = _NEWEST_SHARE if self._answer_seconds else 1.0
        self._answer_seconds += share * (seconds - self._answer_seconds)

    def _pass_on(self) -> None:
        """Pass a finished turn on to the caller who has waited longest since its last one."""
        while self._waiting:
            holder, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[holder] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _remove(self, holder: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(holder, deque())
        if turn in turns:
            turns.remove(turn)
        if not turns:
            self._waiting.pop(holder, None)

    def refuse(self, expected: float) -> Overloaded:
        """Count a question that cannot be answered in time, and make its error."""
        self._metrics.count_overload()
        return make_overload(expected)


def make_overload(seconds: float) -> Overloaded:
    """Make the error of a question that cannot be answered in time, with when to retry."""
    return Overloaded(
        "Too many questions are being asked right now. Please try again in a moment.",
        retry_after=max(1, math.ceil(seconds)),
    )
