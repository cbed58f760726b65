"""A cache of question vectors, so that a repeated question is embedded once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import sha256

from bythebook.ports import Vector

KEPT_SECONDS = 3600.0
MOST_KEPT = 2048  # vectors: about 12 MB of the longest
Key = tuple[str, bytes]


class QueryCache:
    """Stores vectors by model and question for an hour; questions are stored as hashes only."""

    def __init__(
        self,
        *,
        seconds: float = KEPT_SECONDS,
        most: int = MOST_KEPT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[Key, tuple[float, Vector]] = OrderedDict()
        self._running: dict[tuple[asyncio.AbstractEventLoop, Key], asyncio.Task[Vector]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, model_id: str, text: str, embed: Callable[[], Awaitable[Vector]]) -> Vector:
        """Return the vector of a question; concurrent callers share one embedding."""
        key = (model_id, sha256(text.encode("utf-8", "surrogatepass")).digest())
        known = self._find(key)
        if known is not None:
            return known
        place = (asyncio.get_running_loop(), key)
        task = self._running.get(place)
        if task is None:
            task = asyncio.create_task(self._fill(key, embed))
            self._running[place] = task
            task.add_done_callback(lambda done: self._forget_task(place, done))
        # A cancelled caller must not cancel the embedding for the others.
        return await asyncio.shield(task)

    def _find(self, key: Key) -> Vector | None:
        until, vector = self._kept.get(key, (0.0, None))
        if vector is None or until <= self._clock():
            self._kept.pop(key, None)
            return None
        self._kept.move_to_end(key)
        return vector

    async def _fill(self, key: Key, embed: Callable[[], Awaitable[Vector]]) -> Vector:
        vector = await embed()
        vector.flags.writeable = False  # it is shared
        self._kept[key] = (self._clock() + self._seconds, vector)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return vector

    def _forget_task(
        self, place: tuple[asyncio.AbstractEventLoop, Key], done: asyncio.Task[Vector]
    ) -> None:
        self._running.pop(place, None)
        if not done.cancelled():
            done.exception()  # retrieved, even if all callers are gone
