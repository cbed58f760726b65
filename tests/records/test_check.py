"""Whether the check of the records tells the truth, and how they are let go of."""

import asyncio
import logging
import resource
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event, select
from tests.records.conftest import Place, PostgreSql
from tests.records.samples import exchange

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database, DatabaseTimes
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.tables import housekeeping
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.errors import RecordsFailed, RecordsOutdated

pytestmark = pytest.mark.anyio
SESSION = uuid.uuid4()


def open_distrustful(url: str, folder: Path) -> Database:
    """Open a database in which each check writes, however soon it comes after another."""
    return Database(records_address(url, folder), DatabaseTimes(trusted_seconds=0.0))


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Let no file grow beyond what the largest of the records is."""
    largest = max(path.stat().st_size for path in folder.glob("records.sqlite*"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_noticed_and_room_again_too(tmp_path: Path) -> None:
    async with open_distrustful("", tmp_path) as database:
        await database.check()
        with full_disk(tmp_path), pytest.raises(RecordsFailed, match="cannot be used"):
            await database.check()
        await database.check()


async def test_records_that_may_only_be_read_are_noticed(tmp_path: Path) -> None:
    async with open_distrustful("", tmp_path) as database:
        await database.check()
        async with database._writer.connect() as connection:  # as a remount would
            await connection.exec_driver_sql("PRAGMA query_only=1")
        with pytest.raises(RecordsFailed, match="readonly"):
            await database.check()


async def test_a_server_that_may_only_be_read_is_noticed(started_postgresql: PostgreSql) -> None:
    url = await started_postgresql.new_database()
    async with open_distrustful(url, Path()) as database:
        await database.migrate()
        await database.check()
        name = url.partition("?")[0].rpartition("/")[2]
        await started_postgresql.execute(
            f"ALTER DATABASE {name} SET default_transaction_read_only = on"
        )
        await database._writer.dispose()  # connections made later know it
        with pytest.raises(RecordsFailed, match="ReadOnly") as caught:
            await database.check()
        assert caught.value.retryable


async def test_a_server_whose_tables_are_gone_is_noticed(started_postgresql: PostgreSql) -> None:
    url = await started_postgresql.new_database()
    async with open_distrustful(url, Path()) as database:
        await database.migrate()
        await database.check()
        await started_postgresql.execute("DROP TABLE alembic_version", url)
        with pytest.raises(RecordsOutdated) as caught:
            await database.check()
        assert "bythebook migrate" in caught.value.help_message


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_is_no_longer_there_takes_and_gives_nothing(
    tmp_path: Path, *, replaced: bool
) -> None:
    async with Database(records_address("", tmp_path)) as database:
        threads = SqlThreads(database)
        await threads.append("reader", SESSION, exchange("One?"))
        await database.check()
        for path in list(tmp_path.glob("records.sqlite*")):  # noqa: ASYNC240
            path.rename(path.with_name(f"old-{path.name}"))
        if replaced:
            async with Database(records_address("", tmp_path)) as other:
                await other.check()
        for use in (
            database.check(),
            threads.append("reader", SESSION, exchange("Two?")),
            threads.history("reader", SESSION),
        ):
            with pytest.raises(RecordsFailed, match="removed or replaced") as caught:
                await use
            assert "restart the service" in caught.value.help_message
    async with Database(records_address("", tmp_path)) as database:
        await database.check()


async def test_checks_that_come_together_write_once(place: Place) -> None:
    writes = 0

    def count(*_: object) -> None:
        nonlocal writes
        writes += 1

    async with place.database() as database:
        await database.open()
        event.listen(database._writer.sync_engine, "commit", count)
        await asyncio.gather(*(database.check() for _ in range(50)))
        await database.check()
        reads = 51 if place.url else 0  # there, readings are committed on the same engine
        assert writes == reads + 1


async def test_a_check_takes_no_turn_away(place: Place) -> None:
    now = datetime.now(UTC)
    async with place.database() as database:
        await database.check()
        tasks = SqlHousekeeping(database)
        assert await tasks.archive_idle(now) == 0
        assert await tasks.purge(now) is not None
        await database.check()
        assert await tasks.archive_idle(now) is None
        async with database.begin_read() as connection:
            marks = await connection.scalars(select(housekeeping.c.task))
        assert sorted(marks) == ["archive_idle", "check", "purge"]


@contextmanager
def hold_records(folder: Path) -> Iterator[sqlite3.Connection]:
    """Hold the records as another process would that writes for long."""
    with closing(sqlite3.connect(folder / "records.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def test_a_writer_waits_for_another_process_and_not_for_ever(tmp_path: Path) -> None:
    address = records_address("", tmp_path)
    async with Database(address, DatabaseTimes(busy_seconds=60)) as database:
        threads = SqlThreads(database)
        await threads.append("reader", SESSION, exchange("One?"))
        with hold_records(tmp_path) as other:
            waiting = asyncio.create_task(threads.append("reader", SESSION, exchange("Two?")))
            await asyncio.sleep(0.5)
            assert not waiting.done()
            other.execute("ROLLBACK")
            assert await waiting == 4
    async with Database(address, DatabaseTimes(busy_seconds=1)) as database:
        threads = SqlThreads(database)
        with hold_records(tmp_path):
            started = time.monotonic()
            async with asyncio.timeout(60):
                with pytest.raises(RecordsFailed, match="locked"):
                    await threads.append("reader", SESSION, exchange("Three?"))
            assert time.monotonic() - started > 0.9
        assert await threads.append("reader", SESSION, exchange("Four?")) == 6


async def test_closing_does_not_wait_for_ever_for_what_is_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    times = DatabaseTimes(busy_seconds=600, close_seconds=0.3)
    database = Database(records_address("", tmp_path), times)
    threads = SqlThreads(database)
    await threads.append("reader", SESSION, exchange("One?"))
    with hold_records(tmp_path):
        tasks = [
            asyncio.create_task(threads.append("reader", SESSION, exchange(f"{number}?")))
            for number in range(5)
        ]
        while len(database._running) < 5:  # noqa: ASYNC110 - it is nobody's event
            await asyncio.sleep(0)
        started = time.monotonic()
        async with asyncio.timeout(60):
            await database.close()
        assert time.monotonic() - started > 0.2
        await asyncio.gather(*tasks, return_exceptions=True)
    assert "closed while 5 tasks" in caplog.text
    async with Database(records_address("", tmp_path)) as again:
        assert await SqlThreads(again).append("reader", SESSION, exchange("Two?")) == 4
