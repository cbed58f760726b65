"""Vectors of questions that were asked lately, so that the same question is embedded once."""

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
    """Keeps vectors by model and question for an hour; what was asked is kept as a hash only."""

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
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, Key], asyncio.Task[Vector]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, model_id: str, text: str, embed: Callable[[], Awaitable[Vector]]) -> Vector:
        """Give the vector of a question; of those who ask it at once, one embeds and all wait."""
        key = (model_id, sha256(text.encode("utf-8", "surrogatepass")).digest())
        known = self._known(key)
        if known is not None:
            return known
        place = (asyncio.get_running_loop(), key)
        task = self._under_way.get(place)
        if task is None:
            task = asyncio.create_task(self._fill(key, embed))
            self._under_way[place] = task
            task.add_done_callback(lambda done: self._end(place, done))
        # An asker who leaves must not take the vector from the others.
        return await asyncio.shield(task)

    def _known(self, key: Key) -> Vector | None:
        until, vector = self._kept.get(key, (0.0, None))
        if vector is None or until <= self._clock():
            self._kept.pop(key, None)
            return None
        self._kept.move_to_end(key)
        return vector

    async def _fill(self, key: Key, embed: Callable[[], Awaitable[Vector]]) -> Vector:
        vector = await embed()
        vector.flags.writeable = False  # many will hold it
        self._kept[key] = (self._clock() + self._seconds, vector)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return vector

    def _end(
        self, place: tuple[asyncio.AbstractEventLoop, Key], done: asyncio.Task[Vector]
    ) -> None:
        self._under_way.pop(place, None)
        if not done.cancelled():
            done.exception()  # seen, even if every asker has left
