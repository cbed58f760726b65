"""Turns errors of databases into RecordsFailed, with a message for people."""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg  # type: ignore[import-untyped]
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from bythebook.adapters.sql.engine.address import Address
from bythebook.errors import RecordsFailed

_VENDOR = (
    SQLAlchemyError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
    UnicodeError,
)
_DENIED = (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InsufficientPrivilegeError)
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
)


@contextmanager
def translate_errors(address: Address) -> Iterator[None]:
    """Turn database errors into RecordsFailed, without statements and values."""
    try:
        yield
    except _VENDOR as error:
        if _is_rejection(error):
            raise _make_rejection(error, address) from None  # the cause may contain a reader's text
        raise _make_failure(error, address) from error


def _make_failure(error: Exception, address: Address) -> RecordsFailed:
    cause = _find_origin(error)
    if address.file is not None:
        return RecordsFailed(
            f"The records in {address.place} cannot be used ({_describe_sqlite_error(cause)}).",
            "Check the data folder, its permissions, and the free space on the disk.",
        )
    what = f"The records database {address.place}"
    if isinstance(cause, _DENIED):
        return RecordsFailed(
            f"{what} refuses this user.", "Check the user, password and permissions in its address."
        )
    if isinstance(cause, asyncpg.InvalidCatalogNameError):
        return RecordsFailed(f"{what} does not exist.", "Create it, then run `bythebook migrate`.")
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if lost or not isinstance(cause, asyncpg.PostgresError) or isinstance(cause, _AWAY):
        return RecordsFailed(
            f"{what} cannot be reached.",
            "Try again; if the problem persists, check that it is running.",
        )
    return RecordsFailed(
        f"{what} failed ({type(cause).__name__}).",
        "Try again; if the problem persists, check its log.",
    )


def _make_rejection(error: Exception, address: Address) -> RecordsFailed:
    cause = _find_origin(error)
    rule = getattr(cause, "constraint_name", None) or _describe_sqlite_error(cause)
    refused = RecordsFailed(
        f"The records in {address.place} reject a value ({rule}).",
        "This is a bug in ByTheBook: please report it.",
    )
    refused.retryable = False
    return refused


def _is_rejection(error: Exception) -> bool:
    """Return True if the database works, but the statement or its values are wrong."""
    unsent = isinstance(error, StatementError) and not isinstance(error, DBAPIError)
    refused = isinstance(error, IntegrityError | DataError | ProgrammingError | UnicodeError)
    return unsent or refused


def _find_origin(error: BaseException) -> BaseException:
    """Return the driver's error: SQLAlchemy wraps it, and its adapter may wrap it again."""
    while (inner := getattr(error, "orig", None) or _unwrap(error)) is not None:
        error = inner
    return error


def _unwrap(error: BaseException) -> BaseException | None:
    module = type(error).__module__
    return error.__cause__ if module.startswith("sqlalchemy.") else None


def _describe_sqlite_error(cause: BaseException) -> str:
    """Return SQLite's message: it contains no values, at most names of columns."""
    return str(cause) if type(cause).__module__ == "sqlite3" else type(cause).__name__
