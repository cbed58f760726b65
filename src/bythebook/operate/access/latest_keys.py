"""All keys, as the database had them a moment ago, or as last known while it does not answer."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from bythebook.domain.records import ApiKey
from bythebook.errors import RecordsFailed
from bythebook.ports import KeyStore


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """How often keys are read, and how long a read is waited for, in seconds."""

    fresh: float = 0.5  # the age of keys that may be used: a revoked key is refused within a second
    pace: float = 0.05  # between two reads, however many callers guess keys
    patience: float = 2.0  # for a read, where the last one was quick enough
    brief_patience: float = 0.4  # for a read, where the last one failed or was too slow
    first_patience: float = 20.0  # for a read, where no keys are known to go on with


KEY_TIMES = KeyTimes()


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The keys that one read found."""

    keys: Mapping[UUID, ApiKey]
    began: float  # the moment the read began: all changes up to then are included

    def of_prefix(self, prefix: str) -> list[ApiKey]:
        """Return the keys whose secrets begin like this."""
        return [key for key in self.keys.values() if key.prefix == prefix]


@dataclass(frozen=True, slots=True)
class _Read:
    """A read of all keys, in progress or ended."""

    began: float
    patience: float
    task: asyncio.Task[KnownKeys]


class LatestKeys:
    """Reads all keys, one read at a time, and shares each read among all callers it serves.

    A read shows changes made before it began. So a caller who needs the keys of some moment waits
    for a read that began after that moment: the one in progress, or the one after it.
    """

    def __init__(
        self,
        store: KeyStore,
        clock: Callable[[], float] = time.monotonic,
        times: KeyTimes = KEY_TIMES,
    ) -> None:
        self._store = store
        self._times = times
        self._clock = clock
        self._known: KnownKeys | None = None
        self._read: _Read | None = None
        self._patience = times.patience

    async def at_most(self, seconds: float) -> KnownKeys:
        """Return keys at most this old, or the last known while the database does not answer.

        Raises RecordsFailed if none were ever read.
        """
        return await self._wait_for_read_after(self._clock() - seconds)

    async def newest(self) -> KnownKeys:
        """Return keys by a read that begins after this call; raise RecordsFailed if it fails."""
        called = self._clock()
        if self._read is not None:
            await asyncio.sleep(max(0.0, self._read.began + self._times.pace - called))
        known = await self._wait_for_read_after(called)
        if known.began < called:
            raise _make_unreadable_error()
        return known

    async def _wait_for_read_after(self, moment: float) -> KnownKeys:
        if self._known is not None and self._known.began > moment:
            return self._known
        read = self._read
        if read is not None and not read.task.done() and read.began <= moment:
            with contextlib.suppress(RecordsFailed):  # the next one begins when this one ends
                await self._end_of(read)
        try:
            return await self._end_of(self._read_for(moment))
        except RecordsFailed:
            if self._known is None:
                raise
            return self._known

    def _read_for(self, moment: float) -> _Read:
        """Return the read in progress, or the last one if it began after the moment, or begin one."""
        read = self._read
        if read is not None and not read.task.done():
            return read
        if read is not None and read.began > moment and self._known is not None:
            return read  # it failed just now, and there are keys to go on with
        self._read = self._begin()
        return self._read

    def _begin(self) -> _Read:
        began = self._clock()
        task = asyncio.create_task(self._fetch(began))
        task.add_done_callback(_retrieve_exception)
        patience = self._times.first_patience if self._known is None else self._patience
        return _Read(began, patience, task)

    async def _fetch(self, began: float) -> KnownKeys:
        self._patience = self._times.brief_patience  # unless this ends well
        known = KnownKeys({key.key_id: key for key in await self._store.list()}, began)
        if self._clock() - began <= self._times.patience:
            self._patience = self._times.patience
        self._known = known
        return known

    async def _end_of(self, read: _Read) -> KnownKeys:
        """Wait for a read, but no longer than its patience, which all callers share."""
        left = read.began + read.patience - self._clock()
        if not read.task.done():
            await asyncio.wait({read.task}, timeout=max(0.0, left))
        if not read.task.done():
            raise _make_unreadable_error()
        return read.task.result()


def _make_unreadable_error() -> RecordsFailed:
    return RecordsFailed("The keys cannot be read.", "Try again.")


def _retrieve_exception(task: asyncio.Task[KnownKeys]) -> None:
    """Take the failure of a read that no caller waits for any more, so that it is not logged."""
    if not task.cancelled():
        task.exception()
