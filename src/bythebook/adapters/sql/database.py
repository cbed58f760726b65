"""The database behind the records: connections, transactions, opening."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import event, inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bythebook.adapters.sql.address import Address
from bythebook.adapters.sql.failures import told_as_ours
from bythebook.adapters.sql.file_lock import locked
from bythebook.adapters.sql.tables import HEAD
from bythebook.errors import RecordsFailed

_BUSY_SECONDS = 30
_POOL_SECONDS = 5
_READERS = 4
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
        self._at_work: set[asyncio.Task[Any]] = set()
        if address.file is None:
            self._writer = self._reader = _postgresql_engine(address)
        else:
            # One writer per process: its callers wait in a fair queue, not by polling the file.
            self._writer = _sqlite_engine(address, "BEGIN IMMEDIATE", connections=1)
            self._reader = _sqlite_engine(address, "BEGIN", connections=_READERS)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection that only reads."""
        with told_as_ours(self.address):
            await self.open()
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Give a transaction: all of it is kept on leaving, or nothing."""
        with told_as_ours(self.address):
            await self.open()
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
            if self.address.file is None:
                return await _migrate_server(self.address)
            self.address.file.parent.mkdir(parents=True, exist_ok=True)
            async with locked(self.address.file.with_suffix(".lock")):
                os.close(os.open(self.address.file, os.O_CREAT, 0o600))  # questions are private
                async with self._writer.connect() as connection:
                    await connection.run_sync(_use_wal)
                async with self._writer.begin() as connection:
                    return await connection.run_sync(_upgrade)

    async def check(self) -> None:
        """Ask for nothing, to see whether an answer comes."""
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
        """Let go of every connection, once what is at work is done."""
        opening = {self._opening} if self._opening else set()
        await asyncio.gather(*self._at_work, *opening, return_exceptions=True)
        for engine in {self._writer, self._reader}:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _open(self) -> None:
        if self.address.file is not None:
            await self.migrate()
        else:
            await self._require_head()
        self._is_open = True

    async def _check(self) -> None:
        async with self.reading() as connection:
            await connection.execute(text("SELECT 1"))

    async def _require_head(self) -> None:
        with told_as_ours(self.address):
            async with self._reader.connect() as connection:
                revision = await connection.run_sync(_revision)
        if revision != HEAD:
            raise RecordsFailed(
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


def _sqlite_engine(address: Address, begin: str, *, connections: int) -> AsyncEngine:
    engine = create_async_engine(
        address.url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_BUSY_SECONDS,
        hide_parameters=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def set_up(connection: DBAPIConnection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA foreign_keys=ON")
        # An acknowledged message outlives a cut of power too; NORMAL would do for a killed process.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _use_wal(connection: Connection) -> None:
    """Switch the journal, outside any transaction; the file remembers it."""
    driver = connection.connection.dbapi_connection
    if driver is None:
        raise AssertionError("a connection that is open has a driver's connection")
    cursor = driver.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


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
