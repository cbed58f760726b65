"""Connections to the SQLite file, and how they wait for each other."""

import sqlite3
import time

from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bythebook.adapters.sql.engine.address import Address

_TRY_MILLISECONDS = 50
_READERS = 4


def make_reading_engine(address: Address, busy_seconds: float) -> AsyncEngine:
    """Make an engine whose connections read in parallel."""
    engine = _make_engine(address, busy_seconds, connections=_READERS)

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def make_writing_engine(address: Address, busy_seconds: float) -> AsyncEngine:
    """Make an engine with one connection: writers wait in a fair queue instead of polling the file."""
    engine = _make_engine(address, busy_seconds, connections=1)

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        end = time.monotonic() + busy_seconds
        # SQLite retries less and less often: next to a busy process it would wait too long.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={_TRY_MILLISECONDS}")
        while not _try_begin(connection, is_last=time.monotonic() >= end):
            pass
        connection.exec_driver_sql(f"PRAGMA busy_timeout={round(busy_seconds * 1000)}")

    return engine


def use_wal(connection: Connection) -> None:
    """Switch to the write-ahead log, outside any transaction; the file remembers it."""
    driver = connection.connection.dbapi_connection
    if driver is None:
        raise AssertionError("an open connection has a driver connection")
    cursor = driver.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def _try_begin(connection: Connection, *, is_last: bool) -> bool:
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as error:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF  # without the extended code
        if is_last or code != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _make_engine(address: Address, busy_seconds: float, *, connections: int) -> AsyncEngine:
    engine = create_async_engine(
        address.url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=busy_seconds,
        hide_parameters=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def set_up(connection: DBAPIConnection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction on its own
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={round(busy_seconds * 1000)}")
        cursor.execute("PRAGMA foreign_keys=ON")
        # FULL keeps acknowledged messages after a power cut; NORMAL would only survive a killed process.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    return engine
