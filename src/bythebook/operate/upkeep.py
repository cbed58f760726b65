"""Periodic work while the service runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from bythebook.errors import PartFailed
from bythebook.ports import Housekeeping

_log = logging.getLogger("bythebook.upkeep")


class Upkeep:
    """Asks for the work often; the records make sure that it is done once."""

    def __init__(self, housekeeping: Housekeeping, *, every_seconds: float = 60.0) -> None:
        self._housekeeping = housekeeping
        self._every_seconds = every_seconds

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self.work()
            await asyncio.sleep(self._every_seconds)

    async def work(self) -> None:
        """Do each task once, if it is due."""
        await _attempt("purge", self._purge)
        await _attempt("archive_idle", self._archive)

    async def _purge(self) -> None:
        gone = await self._housekeeping.purge(datetime.now(UTC))
        if gone is not None and (gone.queries or gone.sessions or gone.feedback):
            counts = {
                "queries": gone.queries,
                "sessions": gone.sessions,
                "feedback": gone.feedback,
            }
            _log.info("what was too old was deleted", extra=counts)

    async def _archive(self) -> None:
        if threads := await self._housekeeping.archive_idle(datetime.now(UTC)):
            _log.info("idle conversations were archived", extra={"threads": threads})


async def _attempt(task: str, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except PartFailed as error:
        _log.warning("upkeep is put off: %s", error.what, extra={"task": task})
    except Exception:  # noqa: BLE001 - what fails today may work in a minute
        _log.warning("upkeep failed", exc_info=True, extra={"task": task})
