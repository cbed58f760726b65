import asyncio
import fcntl
import sqlite3
import sys
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, inspect
from sqlalchemy.ext.asyncio import create_async_engine
from tests.records.conftest import Place
from tests.records.samples import NOON

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.engine.migrate import alembic_config, upgrade
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.tables import HEAD, metadata
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.domain.records import OPEN as OPEN_OWNER
from bythebook.domain.records import Feedback
from bythebook.errors import RecordsFailed

pytestmark = pytest.mark.anyio
SCRIPTS = ScriptDirectory.from_config(alembic_config())
REVISIONS = [script.revision for script in reversed(list(SCRIPTS.walk_revisions()))]
SESSION, REQUEST, THREAD = (uuid.UUID(int=number) for number in (1, 2, 3))
# What each revision's tables held at its time; a new revision adds its own.
FIRST: Mapping[str, Mapping[str, Any]] = {
    "query_sessions": {
        "session_id": SESSION,
        "created_at": NOON,
        "query_count": 1,
        "last_query_at": NOON,
    },
    "queries": {
        "query_id": REQUEST,
        "session_id": SESSION,
        "request_id": REQUEST,
        "contract": "query",
        "query_text": "What is a node?",
        "mode": "standard_rag",
        "status": "success",
        "chunks_retrieved": 5,
        "borderline": False,
        "cited_sections": [],
        "processing_time_ms": 9,
        "created_at": NOON,
    },
    "conversation_threads": {
        "thread_id": THREAD,
        "owner": "reader",
        "session_id": SESSION,
        "state": "active",
        "message_count": 2,
        "created_at": NOON,
        "updated_at": NOON,
        "metadata": {},
    },
    "messages": {
        "thread_id": THREAD,
        "position": 0,
        "role": "user",
        "content": "What is a node?",
        "citations": [],
        "created_at": NOON,
    },
    "feedback": {"request_id": REQUEST, "helpful": True, "created_at": NOON},
}
SECOND: Mapping[str, Mapping[str, Any]] = {
    **FIRST,
    "queries": {**FIRST["queries"], "owner": "open"},
    "feedback": {**FIRST["feedback"], "owner": "open"},
}
THIRD: Mapping[str, Mapping[str, Any]] = {
    **SECOND,
    "queries": {**SECOND["queries"], "model": "maker/model", "sentences_shown": 2, "usd": 0.5},
}
FOURTH = {**THIRD, "queries": {**THIRD["queries"], "contract": "openai"}}
FIFTH = {**FOURTH, "queries": {**FOURTH["queries"], "citation_ids": ["robots.AQgI"]}}
ROWS = {"0001": FIRST, "0002": SECOND, "0003": THIRD, "0004": FOURTH, "0005": FIFTH}


async def on(place: Place, work: Callable[[Connection], Any]) -> Any:
    """Do work in a transaction on the bare database."""
    engine = create_async_engine(place.address.url)
    async with engine.begin() as connection:
        done = await connection.run_sync(work)
    await engine.dispose()
    return done


def test_the_newest_revision_is_the_one_the_tables_name() -> None:
    assert SCRIPTS.get_heads() == [HEAD]
    assert set(ROWS) == set(REVISIONS)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_revision_is_brought_up_to_date_with_what_it_holds(
    empty_place: Place, revision: str
) -> None:
    def fill(connection: Connection) -> None:
        upgrade(connection, revision)
        for name, row in ROWS[revision].items():
            # SQLite's reflection knows neither UUID nor time: there the values go by our types.
            table = Table(name, MetaData(), autoload_with=connection)
            types = {column.name: column.type for column in metadata.tables[name].columns}
            for column in table.columns:
                column.type = types.get(column.name, column.type)
            connection.execute(table.insert().values(row))

    await on(empty_place, fill)
    async with empty_place.database() as database:
        await database.migrate()
        stats = await SqlQueryLog(database).stats(NOON, NOON.replace(year=2027))
        thread = await SqlThreads(database).history("reader", SESSION)
        assert await SqlFeedbackStore(database).give(OPEN_OWNER, Feedback(REQUEST, False, NOON))
        after = await SqlQueryLog(database).stats(NOON, NOON.replace(year=2027))
    assert (stats.helpful, stats.not_helpful) == (1, 0)
    assert (after.helpful, after.not_helpful) == (0, 1)  # the same word, not a second one
    assert [asked.text for asked in stats.most_asked] == ["What is a node?"]
    assert thread is not None
    assert [message.content for message in thread.messages] == ["What is a node?"]


async def test_tables_and_migrations_agree(empty_place: Place) -> None:
    async with empty_place.database() as database:
        assert await database.migrate() is True
        assert await database.migrate() is False

    def difference(connection: Connection) -> Any:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, metadata)

    assert await on(empty_place, difference) == []


async def test_migrations_make_the_very_constraints_that_the_tables_have(
    empty_place: Place,
) -> None:
    """Alembic's own comparison passes over CHECKs and names."""

    def make(connection: Connection) -> dict[str, Any]:
        metadata.create_all(connection)
        made = shape(connection)
        metadata.drop_all(connection)
        return made

    made = await on(empty_place, make)
    async with empty_place.database() as database:
        await database.migrate()
    migrated = await on(empty_place, shape)
    assert migrated.pop("alembic_version")
    assert migrated == made


def shape(connection: Connection) -> dict[str, Any]:
    inspector = inspect(connection)

    def sort_texts(found: Any) -> list[str]:
        return sorted(repr(one) for one in found)

    return {
        name: {
            "columns": [
                (column["name"], repr(column["type"]), column["nullable"])
                for column in inspector.get_columns(name)
            ],
            "key": inspector.get_pk_constraint(name),
            "foreign": sort_texts(inspector.get_foreign_keys(name)),
            "unique": sort_texts(inspector.get_unique_constraints(name)),
            "checks": sort_texts(inspector.get_check_constraints(name)),
            "indexes": sort_texts(inspector.get_indexes(name)),
        }
        for name in inspector.get_table_names()
    }


async def test_a_migration_that_fails_leaves_nothing_behind(
    empty_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(connection: Connection) -> None:
        upgrade(connection)
        raise OSError("the disk is gone")

    async with empty_place.database() as database:
        with monkeypatch.context() as broken:
            broken.setattr("bythebook.adapters.sql.engine.migrate.upgrade", half)
            with pytest.raises(RecordsFailed):
                await database.migrate()
        names = await on(empty_place, lambda connection: inspect(connection).get_table_names())
        assert names == []
        assert await database.migrate() is True


async def test_records_of_a_newer_version_are_left_alone(empty_place: Place) -> None:
    async with empty_place.database() as database:
        await database.migrate()

    def move_on(connection: Connection) -> None:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")

    await on(empty_place, move_on)
    async with empty_place.database() as database:
        with pytest.raises(RecordsFailed, match="newer version"):
            await database.migrate()
        with pytest.raises(RecordsFailed):
            await database.check()


@pytest.mark.parametrize("kind", ["postgresql"])
async def test_a_server_is_never_migrated_by_itself(empty_place: Place, kind: str) -> None:
    async with empty_place.database() as database:
        with pytest.raises(RecordsFailed) as caught:
            await database.check()
        assert "bythebook migrate" in caught.value.help_message
        assert await on(empty_place, lambda one: inspect(one).get_table_names()) == []
        await database.migrate()
        await database.check()


async def test_migrations_that_meet_run_once(empty_place: Place) -> None:
    databases = [empty_place.database() for _ in range(4)]
    done = await asyncio.gather(*(database.migrate() for database in databases))
    assert sorted(done) == [False, False, False, True]
    for database in databases:
        await database.close()


OPEN = """
import asyncio, sys
from pathlib import Path
from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database

async def main():
    async with Database(records_address("", Path(sys.argv[1]))) as database:
        sys.stdin.readline()
        await database.check()

asyncio.run(main())
"""


async def test_processes_that_start_at_once_on_a_new_folder_all_open_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN, str(folder), stdin=pipe, stderr=pipe
        )
        for _ in range(4)
    ]
    ends = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [error.decode() for _, error in ends] == [""] * 4
    assert [process.returncode for process in processes] == [0] * 4
    with sqlite3.connect(folder / "records.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
    connection.close()


async def test_opening_waits_while_another_process_makes_the_tables(tmp_path: Path) -> None:
    async with Database(records_address("", tmp_path)) as database:
        with (tmp_path / "records.lock").open("w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            opening = asyncio.create_task(database.check())
            await asyncio.sleep(0.2)
            assert not opening.done()
            assert not (tmp_path / "records.sqlite").exists()
        await opening


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    async def modes() -> set[int]:
        async with Database(records_address("", tmp_path)) as database:
            await database.check()
            return {path.stat().st_mode & 0o777 for path in tmp_path.glob("records.sqlite*")}  # noqa: ASYNC240

    assert asyncio.run(modes()) == {0o600}


async def test_opening_again_does_not_load_alembic(tmp_path: Path) -> None:
    async with Database(records_address("", tmp_path)) as database:
        await database.check()
    code = OPEN + "\nassert 'alembic' not in sys.modules"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(tmp_path), stdin=asyncio.subprocess.PIPE
    )
    await process.communicate(b"go\n")
    assert process.returncode == 0


async def test_every_connection_to_the_file_waits_checks_references_and_writes_through(
    tmp_path: Path,
) -> None:
    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}
    async with Database(records_address("", tmp_path)) as database:
        for transaction in (database.begin_read, database.begin_write):
            async with transaction() as connection:
                found = {
                    name: (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar()
                    for name in expected
                }
            assert found == expected
