"""Connections to SQLite's file, and how they wait for each other."""

import sqlite3
import time

from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bythebook.adapters.sql.address import Address

_BUSY_SECONDS = 5
_TRY_MILLISECONDS = 50
_READERS = 4


def reading_engine(address: Address) -> AsyncEngine:
    """Make connections that read side by side."""
    engine = _engine(address, connections=_READERS)

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def writing_engine(address: Address) -> AsyncEngine:
    """Make one connection that writes: its callers wait in a fair queue, not by polling the file."""
    engine = _engine(address, connections=1)

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        end = time.monotonic() + _BUSY_SECONDS
        # SQLite asks for a lock ever more seldom: beside a busy process it would come too late.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={_TRY_MILLISECONDS}")
        while not _begun(connection, is_last=time.monotonic() >= end):
            pass
        connection.exec_driver_sql(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")

    return engine


def use_wal(connection: Connection) -> None:
    """Switch the journal, outside any transaction; the file remembers it."""
    driver = connection.connection.dbapi_connection
    if driver is None:
        raise AssertionError("a connection that is open has a driver's connection")
    cursor = driver.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def _begun(connection: Connection, *, is_last: bool) -> bool:
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as error:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF  # without what it adds to it
        if is_last or code != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _engine(address: Address, *, connections: int) -> AsyncEngine:
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

    return engine
