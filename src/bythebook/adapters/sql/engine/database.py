"""The database of the records: opening, connections, transactions."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bythebook.adapters.sql.engine.address import Address
from bythebook.adapters.sql.engine.failures import translate_errors
from bythebook.adapters.sql.engine.file_lock import hold_lock
from bythebook.adapters.sql.engine.sqlite_engine import (
    make_reading_engine,
    make_writing_engine,
    use_wal,
)
from bythebook.adapters.sql.engine.sqlite_file import RecordsFile
from bythebook.adapters.sql.engine.upsert import upsert
from bythebook.adapters.sql.tables import HEAD, housekeeping
from bythebook.errors import RecordsOutdated

_log = logging.getLogger("bythebook.records")
_POOL_SECONDS = 5
_MIGRATION_LOCK = 0x6279_7468_6562_6F6F  # "bythebook" as a number, for PostgreSQL's advisory locks
_Parameters = ParamSpec("_Parameters")
_Value = TypeVar("_Value")
_Records = TypeVar("_Records", bound="SqlRecords")


@dataclass(frozen=True, slots=True)
class DatabaseTimes:
    """How long a database is waited for."""

    busy_seconds: float = 5.0  # a writer waits for another process that holds the SQLite file
    close_seconds: float = 3.0  # closing waits for running work
    # A check writes at most this often: anyone may request the health page.
    trusted_seconds: float = 1.0


_TIMES = DatabaseTimes()


class Database:
    """One database for one event loop; opened on first use, and again after a failed attempt."""

    def __init__(self, address: Address, times: DatabaseTimes = _TIMES) -> None:
        self.address = address
        self._times = times
        self._opening: asyncio.Task[None] | None = None
        self._is_open = False
        self._marking: asyncio.Task[None] | None = None
        self._written_at = float("-inf")
        self._running: set[asyncio.Task[Any]] = set()
        self._file = RecordsFile(address.file) if address.file else None
        if address.file is None:
            self._writer = self._reader = _make_postgresql_engine(address)
        else:
            self._writer = make_writing_engine(address, times.busy_seconds)
            self._reader = make_reading_engine(address, times.busy_seconds)

    @asynccontextmanager
    async def begin_read(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection that only reads."""
        with translate_errors(self.address):
            await self._require_ready()
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def begin_write(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that is committed as a whole, or not at all."""
        with translate_errors(self.address):
            await self._require_ready()
            async with self._writer.begin() as connection:
                yield connection

    async def open(self) -> None:
        """Make sure that the tables are current: SQLite's are migrated, those of a server must already be."""
        if self._is_open:
            return
        # Concurrent callers share one attempt, so that a silent server delays each of them once.
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)

    async def migrate(self) -> bool:
        """Upgrade the tables; False if they were already current."""
        with translate_errors(self.address):
            if self._file is None:
                return await _migrate_server(self.address)
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
            async with hold_lock(self._file.path.with_suffix(".lock")):
                self._file.create()
                async with self._writer.connect() as connection:
                    await connection.run_sync(use_wal)
                async with self._writer.begin() as connection:
                    return await connection.run_sync(_upgrade)

    async def check(self) -> None:
        """Read and write a little, to check that both work."""
        await self.run_to_end(self._check())

    async def run_to_end(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Run work to its end, even if the caller is cancelled.

        A statement that SQLite's thread is running cannot be stopped: an abandoned transaction would
        keep the file locked.
        """
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Close all connections, after giving running work some time to end."""
        if running := self._running | ({self._opening} if self._opening else set()):
            _, left = await asyncio.wait(running, timeout=self._times.close_seconds)
            if left:
                _log.warning("the records are closed while %d tasks are running", len(left))
            for task in left:
                task.cancel()
        for engine in {self._writer, self._reader}:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _require_ready(self) -> None:
        await self.open()
        if self._file is not None:
            self._file.require_same()

    async def _open(self) -> None:
        if self._file is not None:
            await self.migrate()
        else:
            await self._require_head()
        self._is_open = True

    async def _check(self) -> None:
        async with self.begin_read() as connection:
            revision = await connection.run_sync(_read_revision)
        if revision is None or revision < HEAD:
            raise self._make_outdated_error()
        if time.monotonic() - self._written_at < self._times.trusted_seconds:
            return
        # Concurrent callers share one write.
        if self._marking is None or self._marking.done():
            self._marking = asyncio.create_task(self._write_mark())
        await asyncio.shield(self._marking)

    async def _write_mark(self) -> None:
        """Write a mark: reading alone also works on a full or read-only disk."""
        now = datetime.now(UTC)
        async with self.begin_write() as connection:
            mark = upsert(connection, housekeeping).values(task="check", last_run_at=now)
            await connection.execute(
                mark.on_conflict_do_update(
                    index_elements=[housekeeping.c.task], set_={"last_run_at": now}
                )
            )
        self._written_at = time.monotonic()

    async def _require_head(self) -> None:
        with translate_errors(self.address):
            async with self._reader.connect() as connection:
                revision = await connection.run_sync(_read_revision)
        if revision != HEAD:
            raise self._make_outdated_error()

    def _make_outdated_error(self) -> RecordsOutdated:
        return RecordsOutdated(
            f"The records database {self.address.place} is not up to date with this version.",
            "Run `bythebook migrate`.",
        )


class SqlRecords:
    """Base of the records that are stored in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database


def uncancellable(
    method: Callable[Concatenate[_Records, _Parameters], Coroutine[Any, Any, _Value]],
) -> Callable[Concatenate[_Records, _Parameters], Coroutine[Any, Any, _Value]]:
    """Make a method run to its end even if its caller is cancelled."""

    @wraps(method)
    async def run(
        self: _Records, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Value:
        return await self.database.run_to_end(method(self, *args, **kwargs))

    return run


async def _migrate_server(address: Address) -> bool:
    engine = _make_postgresql_engine(address, command_timeout=None)  # a large table may take long
    try:
        async with engine.begin() as connection:
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            return await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


def _make_postgresql_engine(address: Address, **connect: object) -> AsyncEngine:
    return create_async_engine(
        address.url,
        connect_args=address.connect | connect,
        pool_pre_ping=True,
        pool_recycle=1800,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
    )


def _read_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _upgrade(connection: Connection) -> bool:
    if _read_revision(connection) == HEAD:
        return False
    from bythebook.adapters.sql.engine.migrate import upgrade  # slow to load, rarely needed

    upgrade(connection)
    return True
