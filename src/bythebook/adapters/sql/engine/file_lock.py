"""A lock between processes; the kernel releases it when its holder dies."""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_PAUSE_SECONDS = 0.02


@asynccontextmanager
async def hold_lock(path: Path) -> AsyncIterator[None]:
    """Wait for the lock without blocking the event loop."""
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_PAUSE_SECONDS)
        yield
