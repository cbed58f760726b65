"""What databases raise, as one error of ours with a sentence for a person."""

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

from bythebook.adapters.sql.address import Address
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
def told_as_ours(address: Address) -> Iterator[None]:
    """Turn a failure of the database into RecordsFailed; statements and values stay out of it."""
    try:
        yield
    except _VENDOR as error:
        if _is_refusal(error):
            raise _refusal(error, address) from None  # the cause may quote what a reader wrote
        raise _failure(error, address) from error


def _failure(error: Exception, address: Address) -> RecordsFailed:
    cause = _origin(error)
    if address.file is not None:
        return RecordsFailed(
            f"The records in {address.place} cannot be used ({_sqlite_words(cause)}).",
            "Check the data folder, who may write to it, and the room on the disk.",
        )
    what = f"The records database {address.place}"
    if isinstance(cause, _DENIED):
        return RecordsFailed(
            f"{what} refuses this user.", "Check user, password and rights in its address."
        )
    if isinstance(cause, asyncpg.InvalidCatalogNameError):
        return RecordsFailed(f"{what} does not exist.", "Create it, then run `bythebook migrate`.")
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if lost or not isinstance(cause, asyncpg.PostgresError) or isinstance(cause, _AWAY):
        return RecordsFailed(
            f"{what} cannot be reached.", "Try again; if it stays so, check that it runs."
        )
    return RecordsFailed(
        f"{what} failed ({type(cause).__name__}).", "Try again; if it stays so, check its log."
    )


def _refusal(error: Exception, address: Address) -> RecordsFailed:
    cause = _origin(error)
    rule = getattr(cause, "constraint_name", None) or _sqlite_words(cause)
    refused = RecordsFailed(
        f"The records in {address.place} do not take what they were given ({rule}).",
        "This is a fault of ByTheBook: please report it.",
    )
    refused.retryable = False
    return refused


def _is_refusal(error: Exception) -> bool:
    """Whether the database is well, and the statement or its values are not."""
    unsent = isinstance(error, StatementError) and not isinstance(error, DBAPIError)
    refused = isinstance(error, IntegrityError | DataError | ProgrammingError | UnicodeError)
    return unsent or refused


def _origin(error: BaseException) -> BaseException:
    """Dig out what the driver raised: SQLAlchemy wraps it, its adapter may wrap it again."""
    while (inner := getattr(error, "orig", None) or _wrapped(error)) is not None:
        error = inner
    return error


def _wrapped(error: BaseException) -> BaseException | None:
    module = type(error).__module__
    return error.__cause__ if module.startswith("sqlalchemy.") else None


def _sqlite_words(cause: BaseException) -> str:
    """SQLite's own messages name no value, except those on constraints, which name columns."""
    return str(cause) if type(cause).__module__ == "sqlite3" else type(cause).__name__
