"""A circuit breaker: stops calls to a failing provider, and then tries one call at a time."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

OPENS_AFTER = 5  # failures in a row
REST_SECONDS = 30.0  # before a trial call
LONGEST_REST_SECONDS = 300.0  # even if a provider asks for more
# Attempts that may wait for a first token, or have just failed: this many, and one more for each
# recent answer. A provider that answers is not limited; a silent one gets few calls before the
# breaker opens.
MOST_UNANSWERED = 8
RECENT_SECONDS = 2.0
_EARLY = 0.01  # seconds; timers may fire slightly too soon


@dataclass(slots=True)
class Attempt:
    """One call that was allowed."""

    began: float
    is_trial: bool
    is_silent: bool = True


class Breaker:
    """Opens after consecutive failures; then one trial call every half minute, until one succeeds.

    Not thread-safe. Each attempt must end in exactly one of `record_answer`, `record_failure`,
    `record_rest_request` and `record_abandonment`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._silent = 0
        self._recent = deque[float]()  # times of first tokens
        self._open_until: float | None = None
        self.last_answer: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether only trial calls are allowed."""
        return self._open_until is not None

    @property
    def wait(self) -> int:
        """Whole seconds until an attempt may begin; 0 for now."""
        if self._open_until is None:
            return 0
        left = self._open_until - self._clock() - _EARLY
        return math.ceil(left) if left > 0 else 0

    @property
    def is_crowded(self) -> bool:
        """Whether another attempt should wait, because too many are unanswered."""
        since = self._clock() - RECENT_SECONDS
        while self._recent and self._recent[0] < since:
            self._recent.popleft()
        room = MOST_UNANSWERED + len(self._recent)
        return not self.is_open and self._silent + self._failures >= room

    def begin(self) -> Attempt:
        """Begin an attempt; only call this if `wait` is 0."""
        attempt = Attempt(self._clock(), is_trial=self.is_open)
        self._silent += 1
        if attempt.is_trial:  # the next trial does not wait for its end
            self._open_until = attempt.began + REST_SECONDS
        return attempt

    def record_first_token(self, attempt: Attempt) -> None:
        """Record a sign of life; the attempt may still fail."""
        if attempt.is_silent:
            self._end_silence(attempt)
            self._recent.append(self._clock())

    def record_answer(self, attempt: Attempt) -> None:
        """Record an answer; the rejection of a request is an answer too."""
        self.record_first_token(attempt)
        self._failures = 0
        if attempt.is_trial:  # attempts from before the rest do not end it
            self._open_until = None
        self.last_answer = self._clock()

    def record_failure(self, attempt: Attempt) -> None:
        """Record a failure; while the breaker is open it does not extend the rest."""
        self._end_silence(attempt)
        self._failures += 1
        if self._failures >= OPENS_AFTER and not self.is_open:
            self._rest_until(self._clock() + REST_SECONDS)

    def record_rest_request(self, attempt: Attempt, seconds: float) -> None:
        """Record that the provider works, but wants no calls for some seconds."""
        self.record_first_token(attempt)
        self._rest_until(self._clock() + min(max(seconds, 1.0), LONGEST_REST_SECONDS))

    def record_abandonment(self, attempt: Attempt) -> None:
        """Record that the caller left before the end; this says nothing about the provider."""
        self._end_silence(attempt)
        if attempt.is_trial and self._open_until == attempt.began + REST_SECONDS:
            self._open_until = attempt.began

    def _end_silence(self, attempt: Attempt) -> None:
        """Stop counting an attempt as silent."""
        self._silent -= attempt.is_silent
        attempt.is_silent = False

    def _rest_until(self, end: float) -> None:
        self._open_until = max(end, self._open_until or end)
