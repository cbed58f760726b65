"""Whether the books are whole: checked when the service starts, and from time to time after."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from bythebook.errors import DamagedBook, StoreFailed, UnknownBook
from bythebook.ports import BookFiles

_NAMED = 5  # of many damaged books


def find_damaged(files: BookFiles, *, deep: bool = False) -> list[DamagedBook]:
    """Check every book for damage."""
    found = []
    for book_id in files.book_ids():
        with suppress(UnknownBook):  # removed meanwhile
            damaged = files.damage(book_id, deep=deep)
            found += [damaged] if damaged is not None else []
    return found


class Soundness:
    """A health check of the books' files, which looks at them at most so often while all are whole."""

    def __init__(
        self,
        files: BookFiles,
        *,
        every_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._every_seconds = every_seconds
        self._clock = clock
        self._sound_until = -1.0
        self._looking = asyncio.Lock()

    async def check(self) -> None:
        """Raise StoreFailed with the books that are damaged."""
        async with self._looking:  # a check that waited uses what the other found
            if self._clock() < self._sound_until:
                return
            found = await asyncio.to_thread(find_damaged, self._files)
            if found:
                raise _combine_failures(found)
            self._sound_until = self._clock() + self._every_seconds


def _combine_failures(found: Sequence[DamagedBook]) -> StoreFailed:
    """Name all damaged books in one failure."""
    if len(found) == 1:
        return found[0]
    more = f" {len(found) - _NAMED} more are." if len(found) > _NAMED else ""
    named = found[:_NAMED]
    failed = StoreFailed(
        " ".join(one.what for one in named) + more, " ".join(one.help_message for one in named)
    )
    failed.public = " ".join(one.public for one in named) + more
    failed.retryable = False
    return failed
