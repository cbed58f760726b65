"""Leaves a provider alone while it fails, and tries it again one call at a time."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

OPENS_AFTER = 5  # failures in a row
REST_SECONDS = 30.0  # before a trial
LONGEST_REST_SECONDS = 300.0  # however late a provider wants to be called again
# Attempts that may be waiting for a first word, or have just failed: so many, and one more for each
# answer of the last seconds. Who answers is thus asked by as many as like; who is silent meets few
# before the breaker opens.
MOST_UNANSWERED = 8
LATELY_SECONDS = 2.0
_EARLY = 0.01  # seconds by which timers may fire too soon


@dataclass(slots=True)
class Attempt:
    """One call that was let through."""

    began: float
    is_trial: bool
    is_silent: bool = True


class Breaker:
    """Open after failures in a row: then one trial each half minute, until one succeeds.

    For one thread at a time. Who begins an attempt says how it ended: by exactly one of
    `answered`, `failed`, `told_to_wait` and `abandoned`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._silent = 0
        self._signs = deque[float]()  # of life, lately
        self._open_until: float | None = None
        self.last_answer: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is let through, except a trial when it is due."""
        return self._open_until is not None

    @property
    def wait(self) -> int:
        """Whole seconds until an attempt may begin; 0 if one may now."""
        if self._open_until is None:
            return 0
        left = self._open_until - self._clock() - _EARLY
        return math.ceil(left) if left > 0 else 0

    @property
    def is_crowded(self) -> bool:
        """Whether so many attempts are unanswered that another one should wait for them."""
        since = self._clock() - LATELY_SECONDS
        while self._signs and self._signs[0] < since:
            self._signs.popleft()
        room = MOST_UNANSWERED + len(self._signs)
        return not self.is_open and self._silent + self._failures >= room

    def begin(self) -> Attempt:
        """Let an attempt through; call only when `wait` is 0."""
        attempt = Attempt(self._clock(), is_trial=self.is_open)
        self._silent += 1
        if attempt.is_trial:  # however long it takes, the next one need not wait for its end
            self._open_until = attempt.began + REST_SECONDS
        return attempt

    def alive(self, attempt: Attempt) -> None:
        """Note a first word; whether the attempt will succeed is not known yet."""
        if attempt.is_silent:
            self._heard(attempt)
            self._signs.append(self._clock())

    def answered(self, attempt: Attempt) -> None:
        """Note an answer; one that finds fault with what was asked is an answer too."""
        self.alive(attempt)
        self._failures = 0
        if attempt.is_trial:  # what began before the rest does not end it
            self._open_until = None
        self.last_answer = self._clock()

    def failed(self, attempt: Attempt) -> None:
        """Note a failure; while open, it changes nothing: a rest is never made longer by it."""
        self._heard(attempt)
        self._failures += 1
        if self._failures >= OPENS_AFTER and not self.is_open:
            self._rest_until(self._clock() + REST_SECONDS)

    def told_to_wait(self, attempt: Attempt, seconds: float) -> None:
        """Note that the provider, alive, wants no call for a while."""
        self.alive(attempt)
        self._rest_until(self._clock() + min(max(seconds, 1.0), LONGEST_REST_SECONDS))

    def abandoned(self, attempt: Attempt) -> None:
        """Note that nobody waited for the end of an attempt: it says nothing."""
        self._heard(attempt)
        if attempt.is_trial and self._open_until == attempt.began + REST_SECONDS:
            self._open_until = attempt.began

    def _heard(self, attempt: Attempt) -> None:
        """Count an attempt as silent no longer, once."""
        self._silent -= attempt.is_silent
        attempt.is_silent = False

    def _rest_until(self, end: float) -> None:
        self._open_until = max(end, self._open_until or end)
