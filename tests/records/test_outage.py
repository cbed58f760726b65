import asyncio
import traceback
import uuid
from pathlib import Path

import pytest
from tests.conftest import free_port
from tests.records.conftest import PostgreSql
from tests.records.samples import exchange, query

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.errors import RecordsFailed

pytestmark = pytest.mark.anyio
SESSION = uuid.uuid4()
PRIVATE = "What ails " + "me?"  # put together, as the source stands in the traceback


def full_text(error: RecordsFailed) -> str:
    return "".join(traceback.format_exception(error))


async def test_records_fail_while_the_server_is_down_and_work_when_it_is_back(
    own_server: PostgreSql,
) -> None:
    await own_server.execute("CREATE DATABASE books")
    async with Database(records_address(own_server.url("books"), Path())) as database:
        await database.migrate()
        threads = SqlThreads(database)
        for number in range(3):
            await threads.append("reader", SESSION, exchange(f"before {number}"))

        own_server.server.stop()
        for _ in range(3):
            with pytest.raises(RecordsFailed, match="cannot be reached") as caught:
                await threads.append("reader", SESSION, exchange(PRIVATE))
            assert caught.value.retryable
            assert caught.value.help_message
            assert PRIVATE not in full_text(caught.value)
        with pytest.raises(RecordsFailed, match="cannot be reached"):
            await database.check()

        own_server.server.start()
        assert await threads.append("reader", SESSION, exchange("after")) == 8
        await SqlQueryLog(database).log(query())


async def test_a_server_that_was_restarted_between_two_messages_is_not_noticed(
    own_server: PostgreSql,
) -> None:
    await own_server.execute("CREATE DATABASE books")
    async with Database(records_address(own_server.url("books"), Path())) as database:
        await database.migrate()
        threads = SqlThreads(database)
        await threads.append("reader", SESSION, exchange("before"))
        own_server.server.stop()
        own_server.server.start()
        assert await threads.append("reader", SESSION, exchange("after")) == 4


async def test_a_server_that_is_down_at_the_start_is_used_once_it_is_up(
    own_server: PostgreSql,
) -> None:
    await own_server.execute("CREATE DATABASE books")
    url = own_server.url("books")
    async with Database(records_address(url, Path())) as database:
        await database.migrate()
    own_server.server.stop()
    async with Database(records_address(url, Path())) as database:
        with pytest.raises(RecordsFailed, match="cannot be reached"):
            await database.check()
        own_server.server.start()
        await database.check()


async def test_transactions_that_the_server_cuts_off_are_ours_to_try_again(
    own_server: PostgreSql,
) -> None:
    """What was acknowledged is there, what failed is not, or whole."""
    await own_server.execute("CREATE DATABASE books")
    async with Database(records_address(own_server.url("books"), Path())) as database:
        await database.migrate()
        threads = SqlThreads(database)
        kept, failed = set[str](), set[str]()

        async def write(writer: int) -> None:
            number = 0
            while number < 12 or not failed:
                number += 1
                question = f"{writer}:{number}"
                session = uuid.UUID(int=writer)
                try:
                    await threads.append("reader", session, exchange(question))
                    kept.add(question)
                except RecordsFailed as error:
                    assert error.retryable  # noqa: PT017 - not that it fails, but how
                    failed.add(question)

        async def cut() -> None:
            times = 0
            while times < 5 or not failed:
                times += 1
                await asyncio.sleep(0.03)
                await own_server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'books'"
                )

        async with asyncio.timeout(120):
            await asyncio.gather(cut(), *map(write, range(8)))
        stored = set[str]()
        for writer in range(8):
            thread = await threads.history("reader", uuid.UUID(int=writer))
            if thread is not None:
                assert [m.role for m in thread.messages] == ["user", "assistant"] * (
                    len(thread.messages) // 2
                )
                stored |= {message.content for message in thread.messages[::2]}
        assert kept <= stored <= kept | failed
        assert failed


async def test_nothing_listening_is_told_without_the_password() -> None:
    url = f"postgresql://ada:s3cret@127.0.0.1:{free_port()}/books"
    async with Database(records_address(url, Path())) as database:
        with pytest.raises(RecordsFailed, match=r"books at 127\.0\.0\.1") as caught:
            await database.check()
        assert "s3cret" not in full_text(caught.value)


async def test_a_server_that_never_answers_is_given_up_and_costs_all_callers_their_time_once() -> (
    None
):
    callers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(
        lambda _reader, writer: callers.append(writer), "127.0.0.1", 0
    )
    port = silent.sockets[0].getsockname()[1]
    url = f"postgresql://ada:s3cret@127.0.0.1:{port}/books"
    address = records_address(url, Path(), connect_seconds=0.3)
    async with silent, Database(address) as database:
        async with asyncio.timeout(60):
            ends = await asyncio.gather(
                *(database.check() for _ in range(40)), return_exceptions=True
            )
        for caller in callers:
            caller.close()
            await caller.wait_closed()
    assert len(callers) == 1
    assert all(isinstance(end, RecordsFailed) for end in ends)
    assert all("cannot be reached" in str(end) for end in ends)


async def test_a_database_that_does_not_exist_is_named(started_postgresql: PostgreSql) -> None:
    address = records_address(started_postgresql.url("nowhere"), Path())
    async with Database(address) as database:
        with pytest.raises(RecordsFailed, match=r"nowhere.*does not exist") as caught:
            await database.check()
        assert "bythebook migrate" in caught.value.help_message


async def test_a_user_who_may_not_enter_is_told(started_postgresql: PostgreSql) -> None:
    url = started_postgresql.url("postgres").replace("postgres:@", "nobody:s3cret@", 1)
    async with Database(records_address(url, Path())) as database:
        with pytest.raises(RecordsFailed, match="refuses this user") as caught:
            await database.check()
        assert "s3cret" not in full_text(caught.value)


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").write_bytes(b"not a database at all" * 100)
    async with Database(records_address("", tmp_path)) as database:
        with pytest.raises(RecordsFailed, match=r"records\.sqlite.*not a database") as caught:
            await database.check()
        assert caught.value.help_message


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with Database(records_address("", tmp_path / "file" / "data")) as database:
        with pytest.raises(RecordsFailed, match=r"records\.sqlite"):
            await database.check()


async def test_a_full_disk_is_told_and_does_no_lasting_harm(tmp_path: Path) -> None:
    async with Database(records_address("", tmp_path)) as database:
        threads = SqlThreads(database)
        await threads.append("reader", SESSION, exchange("while there is room"))
        async with database.begin_write() as connection:
            pages = await connection.exec_driver_sql("PRAGMA page_count")
            await connection.exec_driver_sql(f"PRAGMA max_page_count={pages.scalar()}")
        with pytest.raises(RecordsFailed, match="full") as caught:
            await threads.append("reader", SESSION, exchange(PRIVATE * 10_000))
        assert PRIVATE not in full_text(caught.value)
        async with database.begin_write() as connection:
            await connection.exec_driver_sql("PRAGMA max_page_count=1000000")
        assert await threads.append("reader", SESSION, exchange("room again")) == 4
