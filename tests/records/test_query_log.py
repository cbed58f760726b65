import asyncio
import traceback
import uuid
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import Row, select
from tests.records.conftest import Place
from tests.records.samples import NOON, query

from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.questions.recent_citations import SqlRecentCitations
from bythebook.adapters.sql.tables import feedback, metadata, queries, query_sessions
from bythebook.domain.answers import NearestSection
from bythebook.domain.records import (
    OPEN,
    AskedQuestion,
    CitedChapter,
    CitedSection,
    DayCount,
    Feedback,
    Purged,
    QueryStats,
)
from bythebook.errors import RecordsFailed

pytestmark = pytest.mark.anyio
PRIVATE = "What ails " + "me?"  # put together, as the source stands in the traceback
YEAR = timedelta(days=365)
NEAREST = NearestSection("robots", "nodes", "Nodes", "Topics", "https://example.org/nodes#topics")
REFUSED = {"status": "refused", "refusal_type": "low_relevance", "refusal_reason": "Not there."}


@pytest.fixture
def log(database: Database) -> SqlQueryLog:
    return SqlQueryLog(database)


async def rows(database: Database, table: str) -> list[Row[Any]]:
    async with database.begin_read() as connection:
        return list((await connection.execute(select(metadata.tables[table]))).all())


async def sums(log: SqlQueryLog, book_id: str | None = None, most: int = 10) -> QueryStats:
    return await log.stats(NOON - YEAR, NOON + YEAR, book_id=book_id, most=most)


async def test_recent_citations_of_a_book_come_newest_first_and_once(
    log: SqlQueryLog, database: Database
) -> None:
    old = query(citation_ids=("robots.A", "tales.T"), created_at=NOON - timedelta(days=1))
    await log.log(old, query(citation_ids=("robots.B", "robots.A")), query(status="error"))
    recent = SqlRecentCitations(database)
    assert list(await recent.list_recent("robots", 10)) == ["robots.B", "robots.A"]
    assert list(await recent.list_recent("robots", 1)) == ["robots.B"]
    assert list(await recent.list_recent("robo", 10)) == []


async def test_every_field_of_an_entry_is_kept(log: SqlQueryLog, database: Database) -> None:
    entry = query(
        **REFUSED,
        session_id=uuid.uuid4(),
        user_ip="2001:db8::1",
        mode="selected_text_only",
        selected_text_length=321,
        chunks_retrieved=5,
        top_chunk_score=0.37,
        raw_cosine=0.52,
        borderline=True,
        has_sufficient_context=False,
        cited_sections=(CitedSection("robots", "Nodes", "Topics"),),
        nearest_section=NEAREST,
        model="maker/model",
        sentences_shown=3,
        sentences_dropped=1,
        prompt_tokens=900,
        completion_tokens=80,
        usd=0.0125,
        citation_ids=("robots.A",),
    )
    await log.log(entry)
    (row,) = await rows(database, "queries")
    kept = row._asdict()
    assert isinstance(kept.pop("query_id"), uuid.UUID)
    sections = [{"book_id": "robots", "chapter": "Nodes", "section": "Topics"}]
    assert kept.pop("cited_sections") == sections
    assert kept.pop("citation_ids") == ["robots.A"]
    assert NearestSection(**kept.pop("nearest_section")) == NEAREST
    assert kept == {name: getattr(entry, name) for name in kept}


def test_there_is_no_column_for_an_answer_a_chunk_or_the_selected_text() -> None:
    names = set(queries.c.keys()) | set(query_sessions.c.keys())
    texts = {name for name in names if "text" in name.split("_")}
    assert texts == {"query_text", "selected_text_length"}
    assert not {name for name in names if "answer" in name or "content" in name}
    assert {name for name in names if "chunk" in name} == {"chunks_retrieved", "top_chunk_score"}


async def test_questions_of_a_session_are_counted_in_it(
    log: SqlQueryLog, database: Database
) -> None:
    session = uuid.uuid4()
    at = [NOON, NOON + timedelta(minutes=2), NOON + timedelta(minutes=1)]
    for moment in at:
        await log.log(query(session_id=session, user_ip="192.0.2.7", created_at=moment))
    await log.log(query())  # belongs to none
    (row,) = await rows(database, "query_sessions")
    assert tuple(row) == (session, at[0], "192.0.2.7", 3, at[1])


async def test_questions_that_come_at_once_are_all_counted(
    log: SqlQueryLog, database: Database
) -> None:
    session = uuid.uuid4()
    await asyncio.gather(*(log.log(query(session_id=session)) for _ in range(40)))
    (row,) = await rows(database, "query_sessions")
    assert row.query_count == len(await rows(database, "queries")) == 40


@pytest.mark.parametrize(
    "wrong",
    [
        {"contract": "E"},
        {"mode": "guess"},
        {"status": "maybe"},
        {"status": "refused", "refusal_type": "whim"},
        {"status": "refused"},
        {"refusal_type": "low_relevance"},
    ],
)
async def test_what_is_not_of_a_closed_set_is_refused_with_its_session(
    log: SqlQueryLog, database: Database, wrong: dict[str, str]
) -> None:
    with pytest.raises(RecordsFailed, match="reject a value") as caught:
        await log.log(query(session_id=uuid.uuid4(), query_text=PRIVATE, **wrong))
    assert not caught.value.retryable
    assert PRIVATE not in "".join(traceback.format_exception(caught.value))
    assert await rows(database, "query_sessions") == []


async def test_what_a_selection_does_not_say_is_no_gap_of_the_book(log: SqlQueryLog) -> None:
    selected = {"mode": "selected_text_only", "refusal_type": "selected_text_missing"}
    await log.log(query(**{**REFUSED, **selected}))
    stats = await sums(log)
    assert stats.refusals == {"selected_text_missing": 1}
    assert stats.most_refused == ()


async def test_no_questions_sum_up_to_nothing(log: SqlQueryLog) -> None:
    stats = await sums(log)
    assert stats == QueryStats(0, (), {}, {}, 0, (), (), ())
    assert stats.refusal_rates == {}


async def test_the_sums_tell_what_readers_ask_and_what_the_book_lacks(log: SqlQueryLog) -> None:
    night = NOON.replace(hour=23, minute=59)
    for text in ("What is URDF?", "what is urdf", "What is SLAM?"):
        await log.log(query(query_text=text, created_at=night, borderline=text.endswith("F?")))
    for text, minutes in (("Who is Ada?", 2), ("who is ada", 3), ("Why?", 4)):
        at = night + timedelta(minutes=minutes)
        await log.log(query(**REFUSED, query_text=text, created_at=at, nearest_section=NEAREST))
    await log.log(query(status="error", query_text="Broken?", book_id="other"))
    stats = await sums(log)
    assert stats.questions == 7
    assert stats.per_day == (DayCount(date(2026, 3, 14), 4), DayCount(date(2026, 3, 15), 3))
    assert stats.by_status == {"success": 3, "refused": 3, "error": 1}
    assert stats.refusals == {"low_relevance": 3}
    assert stats.refusal_rates == {"low_relevance": 3 / 7}
    assert stats.borderline == 1
    assert {(asked.text.lower().rstrip("?"), asked.times) for asked in stats.most_asked[:2]} == {
        ("what is urdf", 2),
        ("who is ada", 2),
    }
    assert stats.most_refused == (
        AskedQuestion("who is ada", 2, NEAREST),
        AskedQuestion("Why?", 1, NEAREST),
    )
    assert (await sums(log, "other")).by_status == {"error": 1}
    assert len((await sums(log, most=1)).most_asked) == 1


async def test_a_period_has_its_first_moment_and_not_its_last(log: SqlQueryLog) -> None:
    for hours in range(4):
        await log.log(query(created_at=NOON + timedelta(hours=hours)))
    stats = await log.stats(NOON + timedelta(hours=1), NOON + timedelta(hours=3))
    assert stats.questions == 2


async def test_a_chapter_counts_once_per_answer_that_cites_it(log: SqlQueryLog) -> None:
    topics = CitedSection("robots", "Nodes", "Topics")
    services = CitedSection("robots", "Nodes", "Services")
    other = CitedSection("robots", "Simulation", "Gazebo")
    for cited in ((topics, services), (topics,), (other, topics), (other,)):
        await log.log(query(cited_sections=cited))
    assert (await sums(log)).most_cited == (
        CitedChapter("robots", "Nodes", 3),
        CitedChapter("robots", "Simulation", 2),
    )


async def test_feedback_is_taken_for_known_requests_only_and_the_latest_stands(
    log: SqlQueryLog, database: Database
) -> None:
    store = SqlFeedbackStore(database)
    entry = query()
    await log.log(entry)
    assert await store.give(OPEN, Feedback(entry.request_id, False, NOON, "Too short.")) is True
    assert await store.give(OPEN, Feedback(entry.request_id, True, NOON + timedelta(1))) is True
    assert await store.give(OPEN, Feedback(uuid.uuid4(), True, NOON)) is False
    kept = await rows(database, "feedback")
    assert [tuple(row) for row in kept] == [
        (OPEN, entry.request_id, True, None, NOON + timedelta(1))
    ]


async def test_one_owners_feedback_never_touches_anothers_under_the_same_request_id(
    log: SqlQueryLog, database: Database
) -> None:
    """Clients choose the ids of their requests, so two may choose the same."""
    store = SqlFeedbackStore(database)
    shared, mine = uuid.uuid4(), query(owner="ada")
    await log.log(mine)
    assert await store.give("bob", Feedback(mine.request_id, False, NOON)) is False
    for owner in ("ada", "bob"):
        await log.log(query(request_id=shared, owner=owner))
    assert await store.give("ada", Feedback(shared, True, NOON, "Clear.")) is True
    assert await store.give("bob", Feedback(shared, False, NOON, "Wrong.")) is True
    kept = {(row.owner, row.helpful, row.reason) for row in await rows(database, "feedback")}
    assert kept == {("ada", True, "Clear."), ("bob", False, "Wrong.")}


async def test_the_sums_tell_what_readers_thought(log: SqlQueryLog, database: Database) -> None:
    store = SqlFeedbackStore(database)
    entries = [query(), query(), query(book_id="other"), query(created_at=NOON - 2 * YEAR)]
    for number, entry in enumerate(entries):
        await log.log(entry)
        words = Feedback(entry.request_id, number != 1, NOON + timedelta(number), f"r{number}")
        await store.give(OPEN, words)
    await log.log(entries[0])  # an id that is sent twice is one request to readers
    stats = await sums(log)
    assert (stats.helpful, stats.not_helpful) == (2, 1)
    assert [word.reason for word in stats.latest_reasons] == ["r2", "r1", "r0"]
    assert [word.reason for word in (await sums(log, "other")).latest_reasons] == ["r2"]


async def test_purging_one_owners_feedback_leaves_anothers_under_the_same_request_id(
    log: SqlQueryLog, database: Database
) -> None:
    shared = uuid.uuid4()
    store = SqlFeedbackStore(database)
    for owner, days in (("ada", 0), ("bob", 30)):
        at = NOON + timedelta(days=days)
        await log.log(query(request_id=shared, owner=owner, created_at=at))
        await store.give(owner, Feedback(shared, True, at))
    assert await SqlHousekeeping(database).purge(NOON + timedelta(days=91)) == Purged(1, 0, 1)
    assert [row.owner for row in await rows(database, "feedback")] == ["bob"]


async def test_words_that_come_at_once_from_many_processes_all_count(place: Place) -> None:
    """Looking a request up and then writing must not find the file changed in between."""
    entries = [query() for _ in range(60)]
    async with place.database() as one, place.database() as other:
        logs = SqlQueryLog(one), SqlQueryLog(other)
        stores = SqlFeedbackStore(one), SqlFeedbackStore(other)

        async def take(number: int) -> bool:
            entry = entries[number]
            await logs[number % 2].log(entry)
            return await stores[1 - number % 2].give(OPEN, Feedback(entry.request_id, True, NOON))

        assert await asyncio.gather(*map(take, range(60))) == [True] * 60


async def test_a_reason_has_at_most_five_hundred_characters(
    log: SqlQueryLog, database: Database
) -> None:
    entry = query()
    await log.log(entry)
    store = SqlFeedbackStore(database)
    assert await store.give(OPEN, Feedback(entry.request_id, False, NOON, "ü" * 500))
    with pytest.raises(RecordsFailed):
        await store.give(OPEN, Feedback(entry.request_id, False, NOON, "ü" * 501))


async def test_queries_are_kept_for_ninety_days_and_so_are_sessions_and_feedback(
    log: SqlQueryLog, database: Database
) -> None:
    old, young = uuid.uuid4(), uuid.uuid4()
    entries = [
        query(session_id=old),
        query(session_id=young, created_at=NOON + timedelta(seconds=1)),
        query(session_id=young, created_at=NOON + timedelta(days=30)),
    ]
    for entry in entries:
        await log.log(entry)
        await SqlFeedbackStore(database).give(
            OPEN, Feedback(entry.request_id, True, NOON + timedelta(days=40))
        )
    now = NOON + timedelta(days=90, seconds=1)
    assert await SqlHousekeeping(database).purge(now) == Purged(1, 1, 1)
    assert [row.session_id for row in await rows(database, "query_sessions")] == [young]
    left = {entry.request_id for entry in entries[1:]}
    assert {row.request_id for row in await rows(database, "queries")} == left
    assert {row.request_id for row in await rows(database, feedback.name)} == left
