"""A lock between processes that the kernel takes back from a dead one."""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_PAUSE_SECONDS = 0.02


@asynccontextmanager
async def locked(path: Path) -> AsyncIterator[None]:
    """Wait until no other process holds the lock, without holding up this one's loop."""
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_PAUSE_SECONDS)
        yield
