"""Log lines that may come by the thousand: at most one a second, with how many it stands for."""

import time
from collections.abc import Callable


class PacedLog:
    """Counts events, and writes a line for all since the last line, at most once a second."""

    def __init__(
        self, write: Callable[[int], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._written_at = float("-inf")
        self._unwritten = 0

    def count(self) -> None:
        """Count an event, and write a line if the last one is a second old."""
        self._unwritten += 1
        if (now := self._clock()) - self._written_at >= 1.0:
            self._write(self._unwritten)
            self._written_at, self._unwritten = now, 0
