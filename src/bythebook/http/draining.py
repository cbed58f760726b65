"""The end of serving: what is under way may finish for a while, and is then told to stop."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bythebook.errors import Stopping

STOPPING = "The service is stopping; please ask again."
_Result = TypeVar("_Result")


class Draining:
    """Tells requests under way when the service cannot wait for them any longer."""

    def __init__(self) -> None:
        self._waiting: set[Callable[[], object]] = set()
        self._over = False

    @property
    def under_way(self) -> int:
        """How many requests would be told."""
        return len(self._waiting)

    def begin(self, seconds: float) -> None:
        """Let what is under way end by itself for a while, and stop the rest then."""
        asyncio.get_running_loop().call_later(seconds, self._end)

    @contextmanager
    def told(self, stop: Callable[[], object]) -> Iterator[None]:
        """Have someone told, for the length of a with block."""
        self._waiting.add(stop)
        try:
            if self._over:
                stop()
            yield
        finally:
            self._waiting.discard(stop)

    async def unless_over(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Do work, or raise Stopping when there is no more time for it."""
        task = asyncio.create_task(work)
        with self.told(task.cancel):
            try:
                return await task
            except asyncio.CancelledError:
                if self._over and task.cancelled():
                    raise Stopping(STOPPING) from None
                raise

    def _end(self) -> None:
        self._over = True
        for stop in tuple(self._waiting):
            stop()
