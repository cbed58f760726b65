"""Sums over the log of questions."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Date, Select, and_, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.answers import NearestSection
from bythebook.domain.records import (
    AskedQuestion,
    CitedChapter,
    DayCount,
    Feedback,
    ModelRecord,
    QueryStats,
)

_columns = queries.c
# "What is URDF" and "what is urdf?" are one question. SQLite folds the case of ASCII only.
_same_question = func.rtrim(func.lower(_columns.query_text), " ?!.")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which questions are meant: from `since` on, before `until`, of one book or all."""

    since: datetime
    until: datetime
    book_id: str | None

    @property
    def condition(self) -> ColumnElement[bool]:
        """The same for the database."""
        within = and_(_columns.created_at >= self.since, _columns.created_at < self.until)
        return within if self.book_id is None else and_(within, _columns.book_id == self.book_id)


async def read_stats(connection: AsyncConnection, asked: Asked, most: int) -> QueryStats:
    """Sum up what was asked."""
    statuses = await _counts(connection, asked, _columns.status)
    refusals = await _counts(connection, asked, _columns.refusal_type)
    borderline = await _counts(connection, asked, _columns.borderline)
    days = await _counts(connection, asked, func.date(_columns.created_at, type_=Date()))
    # What a selection does not say is no gap of the book.
    of_the_book = and_(asked.condition, _columns.mode == "standard_rag")
    refused = and_(of_the_book, _columns.status == "refused")
    words = await _words(connection, asked)
    return QueryStats(
        questions=sum(statuses.values()),
        per_day=tuple(DayCount(day, count) for day, count in sorted(days.items())),
        by_status=statuses,
        refusals={kind: count for kind, count in refusals.items() if kind is not None},
        borderline=borderline.get(True, 0),
        most_asked=await _most_asked(connection, asked.condition, most),
        most_refused=await _most_asked(connection, refused, most),
        most_cited=await _most_cited(connection, asked, most),
        helpful=words.get(True, 0),
        not_helpful=words.get(False, 0),
        latest_reasons=await _latest_reasons(connection, asked, most),
        models=await _models(connection, asked),
    )


async def _counts(
    connection: AsyncConnection, asked: Asked, what: ColumnElement[Any]
) -> dict[Any, int]:
    rows = await connection.execute(
        select(what, func.count()).where(asked.condition).group_by(what)
    )
    return {row[0]: row[1] for row in rows}


async def _most_asked(
    connection: AsyncConnection, condition: ColumnElement[bool], most: int
) -> tuple[AskedQuestion, ...]:
    newest_first = [_columns.created_at.desc(), _columns.query_id]
    ranked = (
        select(
            _columns.query_text,
            _columns.nearest_section,
            func.count().over(partition_by=_same_question).label("times"),
            func.row_number().over(partition_by=_same_question, order_by=newest_first).label("age"),
        )
        .where(condition)
        .subquery()
    ).c
    newest: Select[Any] = (
        select(ranked.query_text, ranked.times, ranked.nearest_section)
        .where(ranked.age == 1)
        .order_by(ranked.times.desc(), ranked.query_text)
        .limit(most)
    )
    return tuple(
        AskedQuestion(text, times, NearestSection(**nearest) if nearest else None)
        for text, times, nearest in await connection.execute(newest)
    )


def _about(asked: Asked) -> ColumnElement[bool]:
    """Pick the feedback on the questions that are meant."""
    given = feedback.c
    own = and_(_columns.request_id == given.request_id, _columns.owner == given.owner)
    return exists().where(own, asked.condition)


async def _words(connection: AsyncConnection, asked: Asked) -> dict[bool, int]:
    helpful = feedback.c.helpful
    rows = await connection.execute(
        select(helpful, func.count()).where(_about(asked)).group_by(helpful)
    )
    return {row[0]: row[1] for row in rows}


async def _latest_reasons(
    connection: AsyncConnection, asked: Asked, most: int
) -> tuple[Feedback, ...]:
    given = feedback.c
    newest = (
        select(given.request_id, given.helpful, given.created_at, given.reason)
        .where(_about(asked), given.reason.is_not(None))
        .order_by(given.created_at.desc(), given.request_id)
        .limit(most)
    )
    return tuple(Feedback(*row) for row in await connection.execute(newest))


async def _models(connection: AsyncConnection, asked: Asked) -> tuple[ModelRecord, ...]:
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
        .where(asked.condition, _columns.model.is_not(None))
        .group_by(_columns.model)
        .order_by(func.count().desc(), _columns.model)
    )
    return tuple(ModelRecord(*row) for row in rows)


async def _most_cited(
    connection: AsyncConnection, asked: Asked, most: int
) -> tuple[CitedChapter, ...]:
    """Count answers per chapter, unfolding in Python the few distinct lists that there are."""
    cited = _columns.cited_sections
    rows = await connection.execute(
        select(cited, func.count()).where(asked.condition).group_by(cited)
    )
    answers: Counter[tuple[str, str]] = Counter()
    for sections, times in rows:
        for chapter in {(section["book_id"], section["chapter"]) for section in sections}:
            answers[chapter] += times
    ordered = sorted(answers.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CitedChapter(*chapter, times) for chapter, times in ordered[:most])
