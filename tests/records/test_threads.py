import asyncio
import random
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Insert, func, insert, select
from tests.records.conftest import Place
from tests.records.samples import NOON, QUOTE, exchange, query

from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.tables import (
    archived_messages,
    conversation_threads,
    feedback,
    messages,
    queries,
    query_sessions,
)
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.domain.records import Exchange, Feedback, Message, Thread
from bythebook.errors import RecordsFailed

pytestmark = pytest.mark.anyio
OWNER = "reader"
SESSION = uuid.uuid4()


@pytest.fixture
def threads(database: Database) -> SqlThreads:
    return SqlThreads(database)


async def read_thread(threads: SqlThreads, session_id: uuid.UUID = SESSION) -> Thread:
    thread = await threads.history(OWNER, session_id)
    assert thread is not None
    return thread


def contents(thread: Thread) -> list[str]:
    return [message.content for message in thread.messages]


async def write(database: Database, statement: Insert) -> None:
    async with database.begin_write() as connection:
        await connection.execute(statement)


async def count_rows(database: Database) -> tuple[int, int, int]:
    tables = conversation_threads, messages, archived_messages
    async with database.begin_read() as connection:
        counts = [
            await connection.scalar(select(func.count()).select_from(table)) for table in tables
        ]
    first, second, third = (count or 0 for count in counts)
    return first, second, third


async def test_a_thread_gives_back_what_was_said_in_order(threads: SqlThreads) -> None:
    first = exchange("What is URDF?", "A format — “XML” for robots 🤖.")
    assert await threads.append(OWNER, SESSION, first) == 2
    second = exchange("An example?", at=NOON + timedelta(minutes=1))
    assert await threads.append(OWNER, SESSION, second) == 4
    thread = await read_thread(threads)
    said = (first.asked, first.answered, second.asked, second.answered)
    assert thread.messages == said
    assert thread.messages[1].citations == (QUOTE,)
    assert (thread.created_at, thread.updated_at) == (NOON, second.answered.created_at)
    assert thread.created_at.tzinfo is UTC
    assert (thread.session_id, thread.state, thread.message_count) == (SESSION, "active", 4)
    assert (thread.topic_summary, thread.metadata) == (None, {})


async def test_a_time_of_another_zone_is_kept_as_the_same_moment(threads: SqlThreads) -> None:
    there = datetime(2026, 3, 14, 17, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    await threads.append(OWNER, SESSION, exchange("Now?", at=there))
    thread = await read_thread(threads)
    assert thread.messages[0].created_at == NOON
    assert thread.messages[0].created_at.utcoffset() == timedelta(0)


async def test_a_time_without_a_zone_is_not_taken(threads: SqlThreads) -> None:
    naive = exchange("When?", at=datetime(2026, 3, 14, 12))  # noqa: DTZ001 - that is the point
    with pytest.raises(RecordsFailed):
        await threads.append(OWNER, SESSION, naive)
    assert await threads.history(OWNER, SESSION) is None


async def test_another_owners_session_is_simply_unknown(threads: SqlThreads) -> None:
    await threads.append(OWNER, SESSION, exchange("Mine?"))
    assert await threads.history("other", SESSION) is None
    assert await threads.delete("other", SESSION) is False
    assert await threads.append("other", SESSION, exchange("Theirs?")) == 2
    assert contents(await read_thread(threads)) == ["Mine?", "It is so."]
    theirs = await threads.history("other", SESSION)
    assert theirs is not None
    assert contents(theirs) == ["Theirs?", "It is so."]
    assert await threads.delete("other", SESSION) is True
    assert contents(await read_thread(threads)) == ["Mine?", "It is so."]


async def test_fifty_messages_are_live_and_the_older_ones_archived_in_order(
    threads: SqlThreads, database: Database
) -> None:
    for number in range(40):
        await threads.append(OWNER, SESSION, exchange(f"question {number}", f"answer {number}"))
    thread = await read_thread(threads)
    assert thread.message_count == 80
    assert contents(thread) == [
        f"{kind} {number}" for number in range(15, 40) for kind in ("question", "answer")
    ]
    in_order = select(archived_messages).order_by(archived_messages.c.position)
    async with database.begin_read() as connection:
        rows = (await connection.execute(in_order)).all()
    assert [row.position for row in rows] == list(range(30))
    assert [row.content for row in rows][:3] == ["question 0", "answer 0", "question 1"]
    assert rows[1].citations == [
        {name: getattr(QUOTE, name) for name in type(QUOTE).__dataclass_fields__}
    ]
    assert all(row.archived_at >= row.created_at for row in rows)


async def test_an_archiving_that_fails_takes_the_append_back_with_it(
    threads: SqlThreads, database: Database
) -> None:
    for number in range(25):
        await threads.append(OWNER, SESSION, exchange(f"question {number}"))
    async with database.begin_write() as connection:
        thread_id = await connection.scalar(select(messages.c.thread_id).limit(1))
        taken = {"thread_id": thread_id, "position": 0, "role": "user", "content": "in the way"}
        times = {"created_at": NOON, "archived_at": NOON}
        await connection.execute(insert(archived_messages).values(**taken, **times, citations=[]))
    before = await read_thread(threads)
    with pytest.raises(RecordsFailed):
        await threads.append(OWNER, SESSION, exchange("question 25"))
    assert await read_thread(threads) == before


async def test_delete_removes_every_message_live_and_archived(
    threads: SqlThreads, database: Database
) -> None:
    for number in range(30):
        await threads.append(OWNER, SESSION, exchange(f"question {number}"))
    assert await count_rows(database) == (1, 50, 10)
    assert await threads.delete(OWNER, SESSION) is True
    assert await count_rows(database) == (0, 0, 0)
    assert await threads.history(OWNER, SESSION) is None
    assert await threads.delete(OWNER, SESSION) is False


@pytest.mark.parametrize(
    ("asked", "answered"), [("assistant", "user"), ("user", "user"), ("assistant", "assistant")]
)
def test_an_exchange_is_a_question_and_then_an_answer(asked: str, answered: str) -> None:
    with pytest.raises(ValueError, match="user's message and then"):
        Exchange(Message(asked, "a", NOON), Message(answered, "b", NOON))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("position", "role"), [(2, "assistant"), (3, "user"), (2, "system"), (1, "assistant")]
)
async def test_the_database_itself_refuses_roles_out_of_turn(
    threads: SqlThreads, database: Database, position: int, role: str
) -> None:
    await threads.append(OWNER, SESSION, exchange("First?"))
    row = {"position": position, "role": role, "content": "", "citations": [], "created_at": NOON}
    async with database.begin_read() as connection:
        thread_id = await connection.scalar(select(messages.c.thread_id).limit(1))
    wrong = insert(messages).values(thread_id=thread_id, **row)
    with pytest.raises(RecordsFailed, match=r"roles_alternate|pk_messages|UNIQUE"):
        await write(database, wrong)


async def test_summary_and_metadata_stay_until_new_ones_are_given(threads: SqlThreads) -> None:
    metadata = {"user_id": "u1", "tags": ["ros2", "urdf"]}
    await threads.append(OWNER, SESSION, exchange("One?"), metadata=metadata)
    await threads.append(OWNER, SESSION, exchange("Two?"), topic_summary="x" * 200)
    await threads.append(OWNER, SESSION, exchange("Three?"))
    thread = await read_thread(threads)
    assert (thread.metadata, thread.topic_summary) == (metadata, "x" * 200)
    await threads.append(OWNER, SESSION, exchange("Four?"), metadata={}, topic_summary="robots")
    thread = await read_thread(threads)
    assert (thread.metadata, thread.topic_summary) == ({}, "robots")
    with pytest.raises(RecordsFailed):
        await threads.append(OWNER, SESSION, exchange("Five?"), topic_summary="x" * 201)
    assert (await read_thread(threads)).message_count == 8


async def test_a_summary_of_what_was_deleted_does_not_come_back(threads: SqlThreads) -> None:
    """Another process may delete a thread while this one answers in it."""
    await threads.append(OWNER, SESSION, exchange("One?"))
    await threads.delete(OWNER, SESSION)
    await threads.append(OWNER, SESSION, exchange("Two?"), topic_summary="what was deleted")
    assert (await read_thread(threads)).topic_summary is None


async def read_log(database: Database) -> tuple[list[str], int, int]:
    """Give the questions in the log, and count its sessions and the feedback."""
    async with database.begin_read() as connection:
        texts = await connection.scalars(select(queries.c.query_text))
        sessions = await connection.scalar(select(func.count()).select_from(query_sessions))
        words = await connection.scalar(select(func.count()).select_from(feedback))
    return sorted(texts), sessions or 0, words or 0


async def test_delete_removes_what_was_asked_in_the_thread_from_the_log_too(
    threads: SqlThreads, database: Database
) -> None:
    log, words = SqlQueryLog(database), SqlFeedbackStore(database)
    other = uuid.uuid4()
    said = {
        "mine": query(contract="chat", session_id=SESSION, owner=OWNER),
        "again": query(contract="chat", session_id=SESSION, owner=OWNER),
        "of another session": query(contract="chat", session_id=other, owner=OWNER),
        "of no session": query(contract="chat", owner=OWNER),
    }
    for text, entry in said.items():
        await log.log(replace(entry, query_text=text))
        assert await words.give(OWNER, Feedback(entry.request_id, True, NOON, reason=text))
    await threads.append(OWNER, SESSION, exchange("mine"))
    assert await threads.delete("other", SESSION) is False
    assert await read_log(database) == (sorted(said), 2, 4)
    assert await threads.delete(OWNER, SESSION) is True
    assert await read_log(database) == (["of another session", "of no session"], 1, 2)


async def test_delete_leaves_what_others_and_other_contracts_asked_under_that_session(
    threads: SqlThreads, database: Database
) -> None:
    log, words = SqlQueryLog(database), SqlFeedbackStore(database)
    request = uuid.uuid4()
    mine = query(contract="chat", session_id=SESSION, owner=OWNER, query_text="mine")
    kept = (
        query(contract="chat", session_id=SESSION, owner="other", query_text="theirs"),
        query(session_id=SESSION, owner=OWNER, query_text="of a contract", request_id=request),
    )
    for entry in (mine, replace(mine, request_id=request), *kept):
        await log.log(entry)
    await words.give(OWNER, Feedback(request, False, NOON))
    await threads.append(OWNER, SESSION, exchange("mine"))
    assert await threads.delete(OWNER, SESSION) is True
    assert await read_log(database) == (["of a contract", "theirs"], 1, 1)


async def test_an_idle_thread_is_archived_and_the_next_message_resumes_it(
    threads: SqlThreads, database: Database
) -> None:
    housekeeping = SqlHousekeeping(database)
    fresh = uuid.uuid4()
    await threads.append(OWNER, SESSION, exchange("Still there?"))
    now = NOON + timedelta(hours=1, seconds=2)
    await threads.append(OWNER, fresh, exchange("And I?", at=NOON + timedelta(minutes=10)))
    assert await housekeeping.archive_idle(now) == 1
    assert (await read_thread(threads)).state == "archived"
    assert (await read_thread(threads, fresh)).state == "active"
    await threads.append(OWNER, SESSION, exchange("Back again", at=now))
    thread = await read_thread(threads)
    assert thread.state == "active"
    assert contents(thread)[::2] == ["Still there?", "Back again"]


async def test_a_thread_idle_for_just_an_hour_is_not_archived(
    threads: SqlThreads, database: Database
) -> None:
    await threads.append(OWNER, SESSION, exchange("Still there?"))
    at_an_hour = NOON + timedelta(hours=1, seconds=1)
    assert await SqlHousekeeping(database).archive_idle(at_an_hour) == 0


async def test_times_in_a_thread_never_go_back(threads: SqlThreads) -> None:
    await threads.append(OWNER, SESSION, exchange("Quick?", at=NOON + timedelta(seconds=30)))
    await threads.append(OWNER, SESSION, exchange("Overtaken?", at=NOON))
    thread = await read_thread(threads)
    times = [message.created_at for message in thread.messages]
    assert times == sorted(times)
    assert thread.updated_at == times[-1]


async def test_thirty_two_writers_lose_nothing_and_keep_their_order(place: Place) -> None:
    """Two processes' worth of connections, four conversations, for two seconds."""
    sessions = [uuid.uuid4() for _ in range(4)]
    kept: dict[uuid.UUID, list[tuple[int, str]]] = {session: [] for session in sessions}
    async with place.database() as one, place.database() as other:
        stores = SqlThreads(one), SqlThreads(other)
        end = asyncio.get_running_loop().time() + 2

        async def write(writer: int) -> None:
            number = 0
            while asyncio.get_running_loop().time() < end:
                session = sessions[writer % 4]
                question = f"{writer}:{number}"
                said = exchange(question, f"to {question}")
                count = await stores[writer % 2].append(OWNER, session, said)
                kept[session].append((count, question))
                number += 1

        await asyncio.gather(*map(write, range(32)))
        for session in sessions:
            await assert_nothing_lost(one, session, sorted(kept[session]))


async def assert_nothing_lost(
    database: Database, session: uuid.UUID, kept: list[tuple[int, str]]
) -> None:
    assert [count for count, _ in kept] == list(range(2, 2 * len(kept) + 2, 2))
    ours = select(conversation_threads.c.thread_id).where(
        conversation_threads.c.session_id == session
    )
    stored = [
        select(table.c.position, table.c.content).where(table.c.thread_id.in_(ours))
        for table in (archived_messages, messages)
    ]
    async with database.begin_read() as connection:
        archived, live = [
            (await connection.execute(rows.order_by("position"))).all() for rows in stored
        ]
    expected = [text for _, question in kept for text in (question, f"to {question}")]
    assert [tuple(row) for row in [*archived, *live]] == list(enumerate(expected))
    assert len(live) == min(50, len(expected))
    writers = {question.split(":")[0] for _, question in kept}
    for writer in writers:
        own = [int(q.split(":")[1]) for _, q in kept if q.split(":")[0] == writer]
        assert own == list(range(len(own)))


async def test_a_reader_sees_whole_exchanges_while_others_write(place: Place) -> None:
    async with place.database() as database:
        threads = SqlThreads(database)

        async def write() -> None:
            for number in range(60):
                await threads.append(OWNER, SESSION, exchange(f"q{number}", f"a{number}"))

        writing = asyncio.create_task(write())
        seen = 0
        while not writing.done():
            thread = await threads.history(OWNER, SESSION)
            if thread is None:
                continue
            seen = thread.message_count
            last = range(seen // 2 - len(thread.messages) // 2, seen // 2)
            assert len(thread.messages) == min(seen, 50)
            assert contents(thread) == [text for n in last for text in (f"q{n}", f"a{n}")]
        await writing
        assert seen > 0


async def test_deletes_and_appends_that_meet_leave_whole_threads(place: Place) -> None:
    async with place.database() as database:
        threads = SqlThreads(database)

        async def write(writer: int) -> None:
            for number in range(15):
                await threads.append(OWNER, SESSION, exchange(f"{writer}:{number}"))
                if number % 5 == writer:
                    await threads.delete(OWNER, SESSION)

        await asyncio.gather(*map(write, range(4)))
        _, live, archived = await count_rows(database)
        thread = await threads.history(OWNER, SESSION)
        assert (thread.message_count if thread else 0) == live + archived


async def test_callers_who_go_away_leave_whole_exchanges_and_block_nobody(place: Place) -> None:
    moments = random.Random(3)
    async with place.database() as database:
        threads = SqlThreads(database)
        await threads.append(OWNER, SESSION, exchange("warm up"))
        for number in range(60):
            task = asyncio.create_task(threads.append(OWNER, SESSION, exchange(f"gone {number}")))
            await asyncio.sleep(moments.uniform(0, 0.004))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            reading = asyncio.create_task(threads.history(OWNER, SESSION))
            await asyncio.sleep(moments.uniform(0, 0.002))
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        async with asyncio.timeout(60):
            count = await threads.append(OWNER, SESSION, exchange("the last word"))
            thread = await read_thread(threads)
        assert thread.message_count >= count  # one that was given up may still come after it
        roles = [message.role for message in thread.messages]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert "the last word" in contents(thread)
