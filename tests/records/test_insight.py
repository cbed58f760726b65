"""What an author reads off the log of questions, on both databases."""

import random
import uuid
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from benchmarks.author_page import fill, make_busy_log
from tests.contracts.fakes import NoReports, fake_service
from tests.records.samples import NOON, query

from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.questions.author_log import SqlAuthorLog
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.domain.answers import NearestSection
from bythebook.domain.insight import LoggedQuestion, QuestionFilter, Wording
from bythebook.domain.records import OPEN, CitedSection, Feedback, QueryEntry
from bythebook.operate.grouping import ALIKE_FROM, group_wordings
from bythebook.operate.insight import Insight, Period

pytestmark = pytest.mark.anyio
DAY = timedelta(days=1)
NEAR = NearestSection("robots", "nodes", "Nodes", "Topics", "https://book.test/nodes#topics")
NODES, SIM = CitedSection("robots", "Nodes", "Topics"), CitedSection("robots", "Sim", "Gazebo")
SERVICES = CitedSection("robots", "Nodes", "Services")


def make_filter(
    since: datetime = NOON - 40 * DAY, until: datetime = NOON + DAY, **given: Any
) -> QuestionFilter:
    return QuestionFilter(since, until, **given)


def make_refusal(text: str, **given: Any) -> QueryEntry:
    usual = {"status": "refused", "refusal_type": "low_relevance", "nearest_section": NEAR}
    return query(query_text=text, **usual | given)


def make_insight(database: Database, now: datetime = NOON) -> Insight:
    ports = fake_service().answerer.ports
    return Insight(SqlAuthorLog(database), ports, NoReports(), lambda: now)


async def keep(database: Database, *entries: QueryEntry) -> None:
    await SqlQueryLog(database).log(*entries)


async def texts(database: Database, which: QuestionFilter) -> list[str]:
    page = await SqlAuthorLog(database).list_questions(which, most=100)
    assert page.total == len(page.questions)
    return [one.text for one in page.questions]


# By day


async def test_days_and_weeks_count_what_became_of_questions(database: Database) -> None:
    await keep(
        database,
        query(created_at=NOON),
        query(created_at=NOON, status="error"),
        make_refusal("What is a heron?", created_at=NOON - DAY),
        make_refusal(
            "What is it?", created_at=NOON - 6 * DAY, refusal_type="insufficient_grounding"
        ),
        query(created_at=NOON - 7 * DAY),
        query(created_at=NOON - 13 * DAY),
        query(created_at=NOON - 14 * DAY),
    )
    seen = make_insight(database)
    found = await seen.overview(make_filter(), seen.period(30))
    assert len(found.days) == 30
    assert (found.days[0][0], found.days[-1][0]) == (date(2026, 2, 13), date(2026, 3, 14))
    week, sums = found.this_week
    assert (week.first, week.last) == (date(2026, 3, 8), date(2026, 3, 14))
    assert (sums.questions, sums.answered, sums.refused, sums.failed) == (4, 1, 2, 1)
    assert sums.refusals == Counter(low_relevance=1, insufficient_grounding=1)
    week, sums = found.last_week
    assert (week.first, week.last) == (date(2026, 3, 1), date(2026, 3, 7))
    assert (sums.questions, sums.answered) == (2, 2)
    assert found.sums.questions == 7


async def test_both_weeks_are_counted_though_the_period_is_shorter_or_elsewhere(
    database: Database,
) -> None:
    await keep(database, query(created_at=NOON), query(created_at=NOON - 8 * DAY))
    seen = make_insight(database)
    for period in (seen.period(1), seen.period(1, until=date(2026, 1, 1))):
        found = await seen.overview(make_filter(), period)
        assert found.this_week[1].questions == 1
        assert found.last_week[1].questions == 1


async def test_a_day_ends_at_midnight_utc(database: Database) -> None:
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    await keep(
        database,
        query(created_at=midnight - timedelta(microseconds=1)),
        query(created_at=midnight),
    )
    tallies = await SqlAuthorLog(database).count_by_day(make_filter())
    assert [(one.day, one.questions) for one in tallies] == [
        (date(2026, 3, 9), 1),
        (date(2026, 3, 10), 1),
    ]
    day = Period(date(2026, 3, 10), date(2026, 3, 10))
    assert len(await texts(database, make_filter(day.since, day.until))) == 1


async def test_a_period_is_cut_to_a_year(database: Database) -> None:
    seen = make_insight(database)
    assert len(seen.period(30, since=date(2000, 1, 1)).days()) == 366
    assert seen.period(30, since=date(2026, 5, 1), until=date(2026, 4, 1)).days() == []


async def test_a_readers_word_is_counted_on_the_day_of_the_question(database: Database) -> None:
    liked, disliked = query(created_at=NOON - DAY), query(created_at=NOON - DAY, query_text="No?")
    await keep(database, liked, disliked, query())
    store = SqlFeedbackStore(database)
    await store.give(OPEN, Feedback(liked.request_id, True, NOON))
    await store.give(OPEN, Feedback(disliked.request_id, False, NOON, "Wrong robot."))
    seen = make_insight(database)
    found = await seen.overview(make_filter(), seen.period(7))
    assert (found.sums.helpful, found.sums.not_helpful) == (1, 1)
    assert (found.days[-2][1].helpful, found.days[-2][1].not_helpful) == (1, 1)
    assert await texts(database, make_filter(helpful=False)) == ["No?"]
    page = await SqlAuthorLog(database).list_questions(make_filter(helpful=False), most=1)
    assert page.questions[0].reason == "Wrong robot."


# What the book did not answer


async def test_wordings_of_one_question_stand_together_with_the_nearest_section(
    database: Database,
) -> None:
    await keep(
        database,
        make_refusal("How much does a Unitree G1 cost?", created_at=NOON - 3 * DAY),
        make_refusal("how much does a unitree g1 cost", created_at=NOON - 2 * DAY),
        make_refusal("What does the Unitree G1 cost?", created_at=NOON - DAY),
        make_refusal("What is a heron?"),
        query(query_text="What does the Unitree G1 cost?"),
        make_refusal(
            "Does this say so?", mode="selected_text_only", refusal_type="selected_text_missing"
        ),
    )
    found = await make_insight(database).group_unanswered(make_filter(), most=10)
    assert [(group.wordings[0].text, group.times) for group in found.groups] == [
        ("how much does a unitree g1 cost", 3),
        ("What is a heron?", 1),
    ]
    assert (found.questions, found.group_count) == (4, 2)
    assert found.groups[0].wordings[0].nearest == NEAR
    assert found.groups[0].last_asked == NOON - DAY


async def test_the_questions_of_a_group_are_found_by_any_one_of_them(database: Database) -> None:
    await keep(
        database,
        make_refusal("How much does a Unitree G1 cost?", created_at=NOON - 3 * DAY),
        make_refusal("What does the UNITREE G1 cost?!", created_at=NOON - DAY),
        make_refusal("What is a heron?"),
        query(query_text="What does the Unitree G1 cost?"),
    )
    seen = make_insight(database)
    page = await SqlAuthorLog(database).list_questions(make_filter(status="refused"), most=9)
    for one in page.questions:
        like = await seen.like(make_filter(), one.query_id)
        together = await texts(database, like)
        assert one.text in together
        assert len(together) == (1 if "heron" in one.text else 2)
    assert await texts(database, await seen.like(make_filter(), uuid.uuid4())) == []


def wording(text: str, times: int = 1) -> Wording:
    return Wording(text.lower(), text, times, NOON, uuid.uuid4())


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("How do I install ROS 2 on Windows?", "installing ROS 2 on Windows", True),
        ("Which camera should I buy?", "what cameras should we buy", True),
        ("Does it run on ROS 1?", "Does it run on ROS 2?", False),
        ("What is a heron?", "What is a robot?", False),
        ("What is it?", "What is that?", False),
        ("🤖", "🤖", True),
        ("🤖", "🦾", False),
        ("", "?", False),
        ("¿Qué es un nodo?", "qué es un NODO", True),
        ("机器人是什么", "机器人是什么？", True),
    ],
)
def test_what_shares_its_words_and_figures_stands_together(
    one: str, other: str, together: bool
) -> None:
    assert (len(group_wordings([wording(one), wording(other)])) == 1) == together


def test_no_chain_of_small_differences_joins_what_has_little_in_common() -> None:
    words = "arm leg hand foot knee hip elbow wrist neck waist".split()
    chain = [wording(" ".join(words[start : start + 4])) for start in range(7)]
    groups = group_wordings(chain)
    assert len(groups) > 1
    for group in groups:
        lead = set(group.wordings[0].text.split())
        assert all(len(lead & set(one.text.split())) >= 3 for one in group.wordings)


def test_every_wording_stands_in_the_first_group_that_it_is_like() -> None:
    pick = random.Random(4)
    words = [f"word{letter}{number}x" for letter in "abcdefgh" for number in ("", "z", "q", "k")]
    many = [wording(" ".join(pick.sample(words, 5))) for _ in range(3000)]
    groups = sorted(group_wordings(many), key=lambda group: many.index(group.wordings[0]))
    assert sum(group.times for group in groups) == 3000
    leads = [set(group.wordings[0].text.split()) for group in groups]
    for place, group in enumerate(groups):
        for one in group.wordings:
            own = set(one.text.split())
            shares = [len(own & lead) / len(own | lead) for lead in leads[: place + 1]]
            assert [share >= ALIKE_FROM for share in shares] == [False] * place + [True]


# What is quoted, scores, times


async def test_an_answer_counts_once_for_each_chapter_it_quotes(database: Database) -> None:
    await keep(
        database,
        query(cited_sections=(NODES, SERVICES)),
        query(cited_sections=(NODES, SIM)),
        query(cited_sections=()),
        make_refusal("No?"),
    )
    first, second = await make_insight(database).count_cited(make_filter())
    assert (first.chapter, first.answers, first.sections) == (
        "Nodes",
        2,
        (("Topics", 2), ("Services", 1)),
    )
    assert (second.chapter, second.answers, second.sections) == ("Sim", 1, (("Gazebo", 1),))


async def test_the_answers_that_quote_a_chapter_or_section_are_found(database: Database) -> None:
    await keep(
        database,
        query(query_text="both", cited_sections=(NODES, SIM)),
        query(query_text="services", cited_sections=(SERVICES,), created_at=NOON - DAY),
        query(query_text="none"),
    )
    assert await texts(database, make_filter(chapter="Nodes")) == ["both", "services"]
    assert await texts(database, make_filter(chapter="Nodes", section="Topics")) == ["both"]
    assert await texts(database, make_filter(section="Gazebo")) == ["both"]
    assert (
        await texts(database, make_filter(chapter="Sim", section="Topics")) == []
    )  # not of one place
    assert await texts(database, make_filter(chapter="No' OR 1=1 --")) == []


@pytest.mark.parametrize(
    ("score", "number"),
    [(0.0, 0), (0.0499, 0), (0.05, 1), (0.3, 6), (0.39999, 7), (0.4, 8), (0.95, 19), (1.0, 19)],
)
async def test_a_score_lies_in_its_part_of_the_scale(
    database: Database, score: float, number: int
) -> None:
    await keep(
        database,
        query(top_chunk_score=score),
        make_refusal("No?", top_chunk_score=score),
        query(top_chunk_score=1.0, mode="selected_text_only"),
        query(top_chunk_score=None, status="error"),
    )
    bins = await make_insight(database).scores(make_filter())
    assert [one.number for one in bins] == list(range(20))
    assert [one.number for one in bins if one.answered or one.refused] == [number]
    assert (bins[number].answered, bins[number].refused) == (1, 1)
    last = 1 if number == 19 else (number + 1) / 20
    within = make_filter(score_from=number / 20, score_to=last if number < 19 else None)
    assert len(await texts(database, replace(within, mode="standard_rag"))) == 2


async def test_percentiles_are_of_the_nearest_rank(database: Database) -> None:
    await keep(database, *(query(processing_time_ms=ms) for ms in range(1, 101)))
    await keep(database, query(processing_time_ms=7, created_at=NOON - DAY))
    lone, full = await SqlAuthorLog(database).measure_latency(make_filter())
    assert (lone.questions, lone.percentiles) == (1, (7, 7, 7))
    assert (full.questions, full.percentiles) == (100, (50, 90, 99))
    assert len(await texts(database, make_filter(took_from=91))) == 10


# Rows


async def test_rows_come_page_by_page_newest_first_and_without_who_asked(
    database: Database,
) -> None:
    for hour in range(5):
        await keep(
            database,
            query(
                query_text=f"Q{hour}",
                created_at=NOON + timedelta(hours=hour),
                user_ip="192.0.2.7",
                owner="somebody",
                session_id=uuid.uuid4(),
                selected_text_length=44,
            ),
        )
    log = SqlAuthorLog(database)
    pages = [await log.list_questions(make_filter(), most=2, skip=skip) for skip in (0, 2, 4, 6)]
    assert [[one.text for one in page.questions] for page in pages] == [
        ["Q4", "Q3"],
        ["Q2", "Q1"],
        ["Q0"],
        [],
    ]
    assert {page.total for page in pages} == {5}
    fields = set(LoggedQuestion.__dataclass_fields__)
    assert not fields & {"user_ip", "owner", "session_id", "selected_text", "selected_text_length"}


async def test_one_question_is_found_by_its_id(database: Database) -> None:
    await keep(database, query(query_text="This one?"))
    log = SqlAuthorLog(database)
    (one,) = (await log.list_questions(make_filter(), most=1)).questions
    assert await log.find_question(one.query_id) == one
    assert await log.find_question(uuid.uuid4()) is None


async def test_books_and_kinds_narrow_every_look(database: Database) -> None:
    await keep(
        database,
        query(query_text="a", book_id="robots"),
        make_refusal("b", book_id="tales", refusal_type="empty_retrieval"),
        query(query_text="c", book_id=None, status="error"),
    )
    assert sorted(await texts(database, make_filter())) == ["a", "b", "c"]
    assert await texts(database, make_filter(books=("tales",))) == ["b"]
    assert sorted(await texts(database, make_filter(books=("tales", "robots")))) == ["a", "b"]
    assert await texts(database, make_filter(books=())) == []
    assert await texts(database, make_filter(status="error")) == ["c"]
    assert await texts(database, make_filter(refusal_type="empty_retrieval")) == ["b"]
    assert await texts(database, make_filter(refusal_type="low_relevance")) == []
    log = SqlAuthorLog(database)
    assert sum(one.questions for one in await log.count_by_day(make_filter(books=("tales",)))) == 1


# Many


async def test_every_look_at_many_questions_is_right_and_bounded(database: Database) -> None:
    """What the looks take at a hundred thousand, `make bench-author` measures."""
    rows = make_busy_log(5_000)
    await fill(database, rows)
    gaps = [row for row in rows if row["status"] == "refused"]
    times = sorted(row["processing_time_ms"] for row in rows)
    seen, log, all_of_them = (
        make_insight(database),
        SqlAuthorLog(database),
        make_filter(NOON - 90 * DAY),
    )

    found = await seen.overview(all_of_them, seen.period(90))
    assert (found.sums.questions, found.sums.refused) == (5_000, len(gaps))
    assert len(found.days) == 90

    unanswered = await seen.group_unanswered(all_of_them, 50)
    assert (unanswered.questions, len(unanswered.groups)) == (len(gaps), 50)
    assert 50 < unanswered.group_count < len(gaps)
    leading = unanswered.groups[0]
    group = await seen.like(all_of_them, leading.wordings[0].query_id)
    assert (await log.list_questions(group, most=1)).total == leading.times

    cited = await seen.count_cited(all_of_them)
    assert {one.chapter for one in cited} == {f"C{number}" for number in range(30)}
    assert sum(one.answers for one in cited) == 5_000 - len(gaps)
    scores = await seen.scores(all_of_them)
    assert sum(one.answered + one.refused for one in scores) == 5_000
    assert len(await seen.latency(all_of_them)) <= 90
    slowest = await log.list_questions(replace(all_of_them, took_from=times[-1]), most=50)
    assert slowest.total == times.count(times[-1])

    newest = await log.list_questions(all_of_them, most=50)
    assert (newest.total, len(newest.questions)) == (5_000, 50)
    last = await log.list_questions(all_of_them, most=50, skip=4_990)
    assert [one.asked_at for one in last.questions] == sorted(
        (row["created_at"] for row in rows), reverse=True
    )[-10:]
    chapter = await log.list_questions(replace(all_of_them, chapter="C7"), most=50)
    assert chapter.total == sum(one.answers for one in cited if one.chapter == "C7")
