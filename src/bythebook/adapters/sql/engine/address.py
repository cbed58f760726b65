"""The address of the records: a file in the data folder, or a PostgreSQL server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bythebook.errors import InputError

RECORDS_FILE = "records.sqlite"
_SCHEMES = {"postgresql", "postgresql+asyncpg", "postgres"}
_CONNECTION_OPTIONS = {"host", "port"}
_IGNORED = {"channel_binding"}  # asyncpg negotiates it with the server
_COMMAND_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Address:
    """A database, how to connect to it, and its name in messages."""

    url: URL
    place: str
    file: Path | None  # of SQLite
    connect: dict[str, Any]


def records_address(url: str, data_dir: Path, *, connect_seconds: float = 5) -> Address:
    """Read the setting: empty for the file in the data folder, otherwise postgresql://..."""
    if not url:
        file = data_dir / RECORDS_FILE
        return Address(URL.create("sqlite+aiosqlite", database=str(file)), file.name, file, {})
    try:
        given = make_url(url)
    except (ArgumentError, ValueError):
        raise _invalid_address_error(
            "is not an address"
        ) from None  # the vendor's error may quote the password
    if given.drivername not in _SCHEMES:
        raise _invalid_address_error(f"begins with {given.drivername}://")
    return _read_server_address(given, connect_seconds)


def _read_server_address(given: URL, connect_seconds: float) -> Address:
    options: dict[str, Any] = {
        "timeout": connect_seconds,
        "command_timeout": _COMMAND_SECONDS,
        "server_settings": {"timezone": "UTC", "application_name": "bythebook"},
    }
    for name, value in given.query.items():
        if name == "sslmode":
            options["ssl"] = value
        elif name == "application_name":
            options["server_settings"]["application_name"] = value
        elif name not in _CONNECTION_OPTIONS | _IGNORED:
            raise _invalid_address_error(f"has an unknown option, {name}")
    query = {name: value for name, value in given.query.items() if name in _CONNECTION_OPTIONS}
    url = given.set(drivername="postgresql+asyncpg", query=query)
    host = url.host or query.get("host") or "localhost"
    place = f"{url.database or url.username} at {host}"
    return Address(url, f"{place}:{url.port}" if url.port else place, None, options)


def _invalid_address_error(what: str) -> InputError:
    return InputError(
        f"The address of the records database {what}.",
        "Write it as postgresql://user:password@host:5432/name, or leave it out for a file in the data folder.",
    )
