"""The AuthorLog port: the log of questions without addresses, sessions and owners."""

import uuid
from collections import Counter
from typing import Any

from sqlalchemy import Select, and_, case, func, select

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.questions.expressions import (
    DAY,
    FEEDBACK_OF_QUERY,
    rank_wordings,
    read_nearest,
)
from bythebook.adapters.sql.questions.filters import (
    QUERIES_WITH_FEEDBACK,
    choose_source,
    make_condition,
)
from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.insight import (
    PERCENTILES,
    CitedTimes,
    DayFeedback,
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    QuestionFilter,
    ScoreBin,
    Tally,
    Wording,
)
from bythebook.domain.records import CitedSection

_asked = queries.c
_COLUMNS = (
    _asked.query_id,
    _asked.created_at,
    _asked.query_text,
    _asked.contract,
    _asked.mode,
    _asked.status,
    _asked.refusal_type,
    _asked.book_id,
    _asked.top_chunk_score,
    _asked.processing_time_ms,
    _asked.cited_sections,
    _asked.nearest_section,
    feedback.c.helpful,
    feedback.c.reason,
)


class SqlAuthorLog(SqlRecords):
    """Reads questions for the authors' pages."""

    @uncancellable
    async def count_by_day(self, chosen: QuestionFilter) -> tuple[Tally, ...]:
        """Count questions by day and outcome, in order of days."""
        kinds = (DAY, _asked.status, _asked.refusal_type)
        async with self.database.begin_read() as connection:
            rows = await connection.execute(
                select(*kinds, func.count())
                .select_from(choose_source(chosen))
                .where(make_condition(chosen, connection))
                .group_by(*kinds)
                .order_by(DAY)
            )
            return tuple(Tally(*row) for row in rows)

    @uncancellable
    async def count_feedback(self, chosen: QuestionFilter) -> tuple[DayFeedback, ...]:
        """Count the questions with feedback by day and opinion."""
        helpful = feedback.c.helpful
        async with self.database.begin_read() as connection:
            rows = await connection.execute(
                select(DAY, helpful, func.count())
                .select_from(queries.join(feedback, FEEDBACK_OF_QUERY))
                .where(make_condition(chosen, connection))
                .group_by(DAY, helpful)
                .order_by(DAY)
            )
            return tuple(DayFeedback(*row) for row in rows)

    @uncancellable
    async def list_wordings(self, chosen: QuestionFilter, most: int) -> tuple[Wording, ...]:
        """Return the wordings of questions, most frequent first."""
        async with self.database.begin_read() as connection:
            newest = rank_wordings(choose_source(chosen), make_condition(chosen, connection))
            rows = await connection.execute(
                select(newest)
                .where(newest.c.age == 1)
                .order_by(newest.c.times.desc(), newest.c.created_at.desc(), newest.c.query_id)
                .limit(most)
            )
            return tuple(
                Wording(
                    key=row.key,
                    text=row.query_text,
                    times=row.times,
                    last_asked=row.created_at,
                    query_id=row.query_id,
                    book_id=row.book_id,
                    nearest=read_nearest(row.nearest_section),
                )
                for row in rows
            )

    @uncancellable
    async def count_citations(self, chosen: QuestionFilter) -> tuple[CitedTimes, ...]:
        """Count answers by the sections that they cite."""
        cited = _asked.cited_sections
        async with self.database.begin_read() as connection:
            rows = await connection.execute(
                select(cited, func.count())
                .select_from(choose_source(chosen))
                .where(make_condition(chosen, connection), _asked.status == "success")
                .group_by(cited)
            )
            return tuple(CitedTimes(_read_sections(sections), times) for sections, times in rows)

    @uncancellable
    async def count_by_score(self, chosen: QuestionFilter, bins: int) -> tuple[ScoreBin, ...]:
        """Count questions to the book by the score of their best passage, in equal bins of 0 to 1."""
        score = _asked.top_chunk_score
        # Explicit edges: a cast to an integer rounds on one database and truncates on the other.
        edges = [(score < number / bins, number - 1) for number in range(1, bins)]
        place = case(*edges, else_=bins - 1)
        of_the_book = and_(_asked.mode == "standard_rag", score.is_not(None))
        async with self.database.begin_read() as connection:
            rows = await connection.execute(
                select(place, _asked.status, func.count())
                .select_from(choose_source(chosen))
                .where(make_condition(chosen, connection), of_the_book)
                .group_by(place, _asked.status)
            )
            counts = Counter({(number, status): count for number, status, count in rows})
        return tuple(
            ScoreBin(number, counts[number, "success"], counts[number, "refused"])
            for number in range(bins)
        )

    @uncancellable
    async def measure_latency(self, chosen: QuestionFilter) -> tuple[DayLatency, ...]:
        """Return the nearest-rank percentiles of each day's processing times, in order of days."""
        took = _asked.processing_time_ms
        async with self.database.begin_read() as connection:
            ranked = (
                select(
                    DAY.label("day"),
                    took.label("took"),
                    func.row_number().over(partition_by=DAY, order_by=took).label("place"),
                    func.count().over(partition_by=DAY).label("questions"),
                )
                .select_from(choose_source(chosen))
                .where(make_condition(chosen, connection))
                .subquery()
            ).c
            percentiles = [
                func.min(case((ranked.place * 100 >= ranked.questions * share, ranked.took)))
                for share in PERCENTILES
            ]
            rows = await connection.execute(
                select(ranked.day, func.max(ranked.questions), *percentiles)
                .group_by(ranked.day)
                .order_by(ranked.day)
            )
            return tuple(DayLatency(row[0], row[1], tuple(row[2:])) for row in rows)

    @uncancellable
    async def list_questions(
        self, chosen: QuestionFilter, *, most: int, skip: int = 0
    ) -> LoggedPage:
        """Return a page of questions, newest first."""
        async with self.database.begin_read() as connection:
            condition = make_condition(chosen, connection)
            total = await connection.scalar(
                select(func.count()).select_from(choose_source(chosen)).where(condition)
            )
            rows = await connection.execute(
                _select_questions()
                .where(condition)
                .order_by(_asked.created_at.desc(), _asked.query_id)
                .limit(most)
                .offset(skip)
            )
            return LoggedPage(tuple(_read_question(row) for row in rows), total or 0)

    @uncancellable
    async def find_question(self, query_id: uuid.UUID) -> LoggedQuestion | None:
        """Return one question, or None if it is no longer stored."""
        async with self.database.begin_read() as connection:
            rows = await connection.execute(_select_questions().where(_asked.query_id == query_id))
            row = rows.one_or_none()
            return _read_question(row) if row else None


def _select_questions() -> Select[Any]:
    return select(*_COLUMNS).select_from(QUERIES_WITH_FEEDBACK)


def _read_question(row: Any) -> LoggedQuestion:
    return LoggedQuestion(
        query_id=row.query_id,
        asked_at=row.created_at,
        text=row.query_text,
        contract=row.contract,
        mode=row.mode,
        status=row.status,
        refusal_type=row.refusal_type,
        book_id=row.book_id,
        score=row.top_chunk_score,
        took_ms=row.processing_time_ms,
        cited=_read_sections(row.cited_sections),
        nearest=read_nearest(row.nearest_section),
        helpful=row.helpful,
        reason=row.reason,
    )


def _read_sections(stored: Any) -> tuple[CitedSection, ...]:
    return tuple(CitedSection(**section) for section in stored)
