"""The end of serving: requests in progress get some time to finish, and are then stopped."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bythebook.errors import Stopping

STOPPING = "The service is stopping; please ask again."
_Result = TypeVar("_Result")


class Draining:
    """Stops requests in progress when the service cannot wait any longer."""

    def __init__(self) -> None:
        self._waiting: set[Callable[[], object]] = set()
        self._over = False

    @property
    def under_way(self) -> int:
        """The number of requests in progress."""
        return len(self._waiting)

    def begin(self, seconds: float) -> None:
        """Give requests in progress some time to finish, then stop the rest."""
        asyncio.get_running_loop().call_later(seconds, self._end)

    @contextmanager
    def call_on_stop(self, stop: Callable[[], object]) -> Iterator[None]:
        """Within a with block, call `stop` when the time is over."""
        self._waiting.add(stop)
        try:
            if self._over:
                stop()
            yield
        finally:
            self._waiting.discard(stop)

    async def unless_over(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run work, or raise Stopping when there is no more time for it."""
        task = asyncio.create_task(work)
        with self.call_on_stop(task.cancel):
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
