"""Sums over the log of questions in a period, for the `stats` command."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.questions.expressions import (
    DAY,
    FEEDBACK_OF_QUERY,
    rank_wordings,
    read_nearest,
)
from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.records import (
    AskedQuestion,
    CitedChapter,
    DayCount,
    Feedback,
    ModelRecord,
    QueryStats,
)

_columns = queries.c


@dataclass(frozen=True, slots=True)
class StatsScope:
    """The questions to sum up: from `since` until before `until`, of one book or all."""

    since: datetime
    until: datetime
    book_id: str | None

    @property
    def condition(self) -> ColumnElement[bool]:
        """The same as an SQL condition."""
        within = and_(_columns.created_at >= self.since, _columns.created_at < self.until)
        return within if self.book_id is None else and_(within, _columns.book_id == self.book_id)


async def read_stats(connection: AsyncConnection, scope: StatsScope, most: int) -> QueryStats:
    """Sum up the questions of a scope."""
    statuses = await _count_by(connection, scope, _columns.status)
    refusals = await _count_by(connection, scope, _columns.refusal_type)
    borderline = await _count_by(connection, scope, _columns.borderline)
    days = await _count_by(connection, scope, DAY)
    # A refusal about a selection is not a gap in the book.
    of_the_book = and_(scope.condition, _columns.mode == "standard_rag")
    refused = and_(of_the_book, _columns.status == "refused")
    opinions = await _count_opinions(connection, scope)
    return QueryStats(
        questions=sum(statuses.values()),
        per_day=tuple(DayCount(day, count) for day, count in sorted(days.items())),
        by_status=statuses,
        refusals={kind: count for kind, count in refusals.items() if kind is not None},
        borderline=borderline.get(True, 0),
        most_asked=await _find_most_asked(connection, scope.condition, most),
        most_refused=await _find_most_asked(connection, refused, most),
        most_cited=await _find_most_cited(connection, scope, most),
        helpful=opinions.get(True, 0),
        not_helpful=opinions.get(False, 0),
        latest_reasons=await _find_latest_reasons(connection, scope, most),
        models=await _sum_models(connection, scope),
    )


async def _count_by(
    connection: AsyncConnection, scope: StatsScope, what: ColumnElement[Any]
) -> dict[Any, int]:
    rows = await connection.execute(
        select(what, func.count()).where(scope.condition).group_by(what)
    )
    return {row[0]: row[1] for row in rows}


async def _find_most_asked(
    connection: AsyncConnection, condition: ColumnElement[bool], most: int
) -> tuple[AskedQuestion, ...]:
    ranked = rank_wordings(queries, condition).c
    newest: Select[Any] = (
        select(ranked.query_text, ranked.times, ranked.nearest_section)
        .where(ranked.age == 1)
        .order_by(ranked.times.desc(), ranked.query_text)
        .limit(most)
    )
    return tuple(
        AskedQuestion(text, times, read_nearest(nearest))
        for text, times, nearest in await connection.execute(newest)
    )


def _has_feedback_on(scope: StatsScope) -> ColumnElement[bool]:
    """Pick the feedback on the questions of a scope."""
    return exists().where(FEEDBACK_OF_QUERY, scope.condition)


async def _count_opinions(connection: AsyncConnection, scope: StatsScope) -> dict[bool, int]:
    helpful = feedback.c.helpful
    rows = await connection.execute(
        select(helpful, func.count()).where(_has_feedback_on(scope)).group_by(helpful)
    )
    return {row[0]: row[1] for row in rows}


async def _find_latest_reasons(
    connection: AsyncConnection, scope: StatsScope, most: int
) -> tuple[Feedback, ...]:
    given = feedback.c
    newest = (
        select(given.request_id, given.helpful, given.created_at, given.reason)
        .where(_has_feedback_on(scope), given.reason.is_not(None))
        .order_by(given.created_at.desc(), given.request_id)
        .limit(most)
    )
    return tuple(Feedback(*row) for row in await connection.execute(newest))


async def _sum_models(connection: AsyncConnection, scope: StatsScope) -> tuple[ModelRecord, ...]:
    shown, dropped = _columns.sentences_shown, _columns.sentences_dropped
    rows = await connection.execute(
        select(
            _columns.model,
            func.count(),
            func.sum(shown + dropped),
            func.sum(dropped),
            func.sum(_columns.prompt_tokens + _columns.completion_tokens),
            func.sum(_columns.usd),
        )
        .where(scope.condition, _columns.model.is_not(None))
        .group_by(_columns.model)
        .order_by(func.count().desc(), _columns.model)
    )
    return tuple(ModelRecord(*row) for row in rows)


async def _find_most_cited(
    connection: AsyncConnection, scope: StatsScope, most: int
) -> tuple[CitedChapter, ...]:
    """Count answers per chapter; Python expands the few distinct lists of sections."""
    cited = _columns.cited_sections
    rows = await connection.execute(
        select(cited, func.count()).where(scope.condition).group_by(cited)
    )
    answers: Counter[tuple[str, str]] = Counter()
    for sections, times in rows:
        for chapter in {(section["book_id"], section["chapter"]) for section in sections}:
            answers[chapter] += times
    ordered = sorted(answers.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CitedChapter(*chapter, times) for chapter, times in ordered[:most])
