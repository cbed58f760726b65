"""The database behind the records: connections, transactions, opening."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bythebook.adapters.sql.address import Address
from bythebook.adapters.sql.failures import told_as_ours
from bythebook.adapters.sql.file_lock import locked
from bythebook.adapters.sql.sqlite_engine import reading_engine, use_wal, writing_engine
from bythebook.adapters.sql.sqlite_file import RecordsFile
from bythebook.adapters.sql.tables import HEAD, housekeeping
from bythebook.adapters.sql.upsert import upsert
from bythebook.errors import RecordsOutdated

_log = logging.getLogger("bythebook.records")
_POOL_SECONDS = 5
_CLOSE_SECONDS = 3.0
_PROVEN_SECONDS = 1.0  # for which a write speaks for the next: everybody may ask for the health
_MIGRATION_LOCK = 0x6279_7468_6562_6F6F  # "bythebook" as a number, for PostgreSQL's advisory locks
_Parameters = ParamSpec("_Parameters")
_Value = TypeVar("_Value")
_Records = TypeVar("_Records", bound="SqlRecords")


class Database:
    """One database for one event loop; opened on first use, and again after every failure to."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._opening: asyncio.Task[None] | None = None
        self._is_open = False
        self._proof: asyncio.Task[None] | None = None
        self._proven_at = float("-inf")
        self._at_work: set[asyncio.Task[Any]] = set()
        self._file = RecordsFile(address.file) if address.file else None
        if address.file is None:
            self._writer = self._reader = _postgresql_engine(address)
        else:
            self._writer, self._reader = writing_engine(address), reading_engine(address)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection that only reads."""
        with told_as_ours(self.address):
            await self._ready()
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Give a transaction: all of it is kept on leaving, or nothing."""
        with told_as_ours(self.address):
            await self._ready()
            async with self._writer.begin() as connection:
                yield connection

    async def open(self) -> None:
        """See that the tables are there: SQLite's are made or brought up to date, a server's must be."""
        if self._is_open:
            return
        # All who come meanwhile wait for one attempt, so that a silent server costs each its time once.
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)

    async def migrate(self) -> bool:
        """Bring the tables up to date; False if they were."""
        with told_as_ours(self.address):
            if self._file is None:
                return await _migrate_server(self.address)
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
            async with locked(self._file.path.with_suffix(".lock")):
                self._file.make()
                async with self._writer.connect() as connection:
                    await connection.run_sync(use_wal)
                async with self._writer.begin() as connection:
                    return await connection.run_sync(_upgrade)

    async def check(self) -> None:
        """Read and write a little, to see that records can be read and kept."""
        await self.carry(self._check())

    async def carry(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Do work to its end, also when the caller is cancelled.

        A statement that SQLite's thread is at cannot be called back: a transaction left in its middle
        would hold the file's lock.
        """
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Let go of every connection, once what is at work is done or has had its time."""
        if at_work := self._at_work | ({self._opening} if self._opening else set()):
            _, left = await asyncio.wait(at_work, timeout=_CLOSE_SECONDS)
            if left:
                _log.warning("the records are let go of in the midst of %d tasks", len(left))
            for task in left:
                task.cancel()
        for engine in {self._writer, self._reader}:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ready(self) -> None:
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
        async with self.reading() as connection:
            revision = await connection.run_sync(_revision)
        if revision is None or revision < HEAD:
            raise self._outdated()
        if time.monotonic() - self._proven_at < _PROVEN_SECONDS:
            return
        # All who come meanwhile wait for one write, as for one opening.
        if self._proof is None or self._proof.done():
            self._proof = asyncio.create_task(self._prove())
        await asyncio.shield(self._proof)

    async def _prove(self) -> None:
        """Keep a mark durably: reading goes on where the disk is full or nothing may be written."""
        now = datetime.now(UTC)
        async with self.writing() as connection:
            mark = upsert(connection, housekeeping).values(task="check", last_run_at=now)
            await connection.execute(
                mark.on_conflict_do_update(
                    index_elements=[housekeeping.c.task], set_={"last_run_at": now}
                )
            )
        self._proven_at = time.monotonic()

    async def _require_head(self) -> None:
        with told_as_ours(self.address):
            async with self._reader.connect() as connection:
                revision = await connection.run_sync(_revision)
        if revision != HEAD:
            raise self._outdated()

    def _outdated(self) -> RecordsOutdated:
        return RecordsOutdated(
            f"The records database {self.address.place} is not up to date with this version.",
            "Run `bythebook migrate`.",
        )


class SqlRecords:
    """Records that are kept in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database


def carried_through(
    method: Callable[Concatenate[_Records, _Parameters], Coroutine[Any, Any, _Value]],
) -> Callable[Concatenate[_Records, _Parameters], Coroutine[Any, Any, _Value]]:
    """Let a method come to its end also when its caller goes away."""

    @wraps(method)
    async def carried(
        self: _Records, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Value:
        return await self.database.carry(method(self, *args, **kwargs))

    return carried


async def _migrate_server(address: Address) -> bool:
    engine = _postgresql_engine(address, command_timeout=None)  # a large table takes its time
    try:
        async with engine.begin() as connection:
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            return await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


def _postgresql_engine(address: Address, **connect: object) -> AsyncEngine:
    return create_async_engine(
        address.url,
        connect_args=address.connect | connect,
        pool_pre_ping=True,
        pool_recycle=1800,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
    )


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _upgrade(connection: Connection) -> bool:
    if _revision(connection) == HEAD:
        return False
    from bythebook.adapters.sql.alembic_run import upgrade  # takes time to load, rarely needed

    upgrade(connection)
    return True
