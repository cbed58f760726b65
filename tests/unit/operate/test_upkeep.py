"""What comes due with time: tried for ever, whatever fails."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from bythebook.domain.records import Purged
from bythebook.errors import RecordsFailed
from bythebook.operate.upkeep import Upkeep


@dataclass
class Work:
    """Housekeeping that fails as given."""

    failures: Iterator[Exception | None] = field(default_factory=lambda: iter(()))
    purges: int = 0
    archives: int = 0

    async def purge(self, now: datetime) -> Purged | None:
        self.purges += 1
        assert now.tzinfo is not None
        if failure := next(self.failures, None):
            raise failure
        return Purged(3, 2, 1) if self.purges == 1 else None

    async def archive_idle(self, now: datetime) -> int | None:
        self.archives += 1
        return None


async def until(work: Work, purges: int) -> None:
    duty = asyncio.create_task(Upkeep(work, every_seconds=0.001).run())
    async with asyncio.timeout(60):
        while work.purges < purges:  # noqa: ASYNC110 - it is nobody's event
            await asyncio.sleep(0.001)
    assert not duty.done()
    duty.cancel()


def test_the_work_is_asked_for_again_and_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "bythebook.upkeep")
    work = Work()
    asyncio.run(until(work, 5))
    assert work.archives >= 4
    (record,) = caplog.records
    assert (record.__dict__["queries"], record.__dict__["feedback"]) == (3, 1)


def test_a_failure_is_a_warning_and_not_the_end(caplog: pytest.LogCaptureFixture) -> None:
    work = Work(iter([RecordsFailed("The records are away."), KeyError("a defect"), None]))
    asyncio.run(until(work, 5))
    assert work.archives >= 4  # one task that fails does not keep the other
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "The records are away." in caplog.text
    assert [bool(record.exc_info) for record in caplog.records] == [False, True]
