"""The log of questions, read for authors; without addresses, sessions and owners."""

import uuid
from collections import Counter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Select,
    and_,
    case,
    exists,
    false,
    func,
    select,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.database import SqlRecords, carried_through
from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.answers import NearestSection
from bythebook.domain.insight import (
    PERCENTILES,
    Chosen,
    CitedTimes,
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    Opinion,
    ScoreBin,
    Tally,
    Wording,
)
from bythebook.domain.records import CitedSection

_asked = queries.c
_day = func.date(_asked.created_at, type_=Date())
# "What is URDF" and "what is urdf?" are one wording. SQLite folds the case of ASCII only.
_wording = func.rtrim(func.lower(_asked.query_text), " ?!.")
_own_word = and_(feedback.c.owner == _asked.owner, feedback.c.request_id == _asked.request_id)
_with_word = queries.outerjoin(feedback, _own_word)
_shown = (
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


class SqlQuestionLog(SqlRecords):
    """Reads what authors are shown of the questions."""

    @carried_through
    async def tallies(self, chosen: Chosen) -> tuple[Tally, ...]:
        """Count questions by day and what became of them, by day."""
        kinds = (_day, _asked.status, _asked.refusal_type)
        async with self.database.reading() as connection:
            rows = await connection.execute(
                select(*kinds, func.count())
                .select_from(_source(chosen))
                .where(_condition(chosen, connection))
                .group_by(*kinds)
                .order_by(_day)
            )
            return tuple(Tally(*row) for row in rows)

    @carried_through
    async def opinions(self, chosen: Chosen) -> tuple[Opinion, ...]:
        """Count the questions that readers said a word on."""
        helpful = feedback.c.helpful
        async with self.database.reading() as connection:
            rows = await connection.execute(
                select(_day, helpful, func.count())
                .select_from(queries.join(feedback, _own_word))
                .where(_condition(chosen, connection))
                .group_by(_day, helpful)
                .order_by(_day)
            )
            return tuple(Opinion(*row) for row in rows)

    @carried_through
    async def wordings(self, chosen: Chosen, most: int) -> tuple[Wording, ...]:
        """Give the ways in which questions were put, those asked most first."""
        async with self.database.reading() as connection:
            newest = _newest_of_each(chosen, connection)
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
                    nearest=_nearest(row.nearest_section),
                )
                for row in rows
            )

    @carried_through
    async def cited(self, chosen: Chosen) -> tuple[CitedTimes, ...]:
        """Count answers by the sections that they quote."""
        cited = _asked.cited_sections
        async with self.database.reading() as connection:
            rows = await connection.execute(
                select(cited, func.count())
                .select_from(_source(chosen))
                .where(_condition(chosen, connection), _asked.status == "success")
                .group_by(cited)
            )
            return tuple(CitedTimes(_sections(sections), times) for sections, times in rows)

    @carried_through
    async def scores(self, chosen: Chosen, bins: int) -> tuple[ScoreBin, ...]:
        """Count questions to the book by the score of their best passage, in equal parts of 0 to 1."""
        score = _asked.top_chunk_score
        # Spelt out, since casting to a whole number rounds on one database and cuts on the other.
        edges = [(score < number / bins, number - 1) for number in range(1, bins)]
        place = case(*edges, else_=bins - 1)
        of_the_book = and_(_asked.mode == "standard_rag", score.is_not(None))
        async with self.database.reading() as connection:
            rows = await connection.execute(
                select(place, _asked.status, func.count())
                .select_from(_source(chosen))
                .where(_condition(chosen, connection), of_the_book)
                .group_by(place, _asked.status)
            )
            counts = Counter({(number, status): count for number, status, count in rows})
        return tuple(
            ScoreBin(number, counts[number, "success"], counts[number, "refused"])
            for number in range(bins)
        )

    @carried_through
    async def latency(self, chosen: Chosen) -> tuple[DayLatency, ...]:
        """Give the percentiles of each day's processing times, by day; of the nearest rank."""
        took = _asked.processing_time_ms
        async with self.database.reading() as connection:
            ranked = (
                select(
                    _day.label("day"),
                    took.label("took"),
                    func.row_number().over(partition_by=_day, order_by=took).label("place"),
                    func.count().over(partition_by=_day).label("questions"),
                )
                .select_from(_source(chosen))
                .where(_condition(chosen, connection))
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

    @carried_through
    async def page(self, chosen: Chosen, *, most: int, skip: int = 0) -> LoggedPage:
        """Give questions, newest first."""
        async with self.database.reading() as connection:
            condition = _condition(chosen, connection)
            total = await connection.scalar(
                select(func.count()).select_from(_source(chosen)).where(condition)
            )
            rows = await connection.execute(
                _questions()
                .where(condition)
                .order_by(_asked.created_at.desc(), _asked.query_id)
                .limit(most)
                .offset(skip)
            )
            return LoggedPage(tuple(_question(row) for row in rows), total or 0)

    @carried_through
    async def question(self, query_id: uuid.UUID) -> LoggedQuestion | None:
        """Give one, if it is still kept."""
        async with self.database.reading() as connection:
            rows = await connection.execute(_questions().where(_asked.query_id == query_id))
            row = rows.one_or_none()
            return _question(row) if row else None


def _source(chosen: Chosen) -> Any:
    """Read the feedback too only where it is asked for."""
    return queries if chosen.helpful is None else _with_word


def _condition(chosen: Chosen, connection: AsyncConnection) -> ColumnElement[bool]:
    equal = {
        _asked.status: chosen.status,
        _asked.refusal_type: chosen.refusal_type,
        _asked.mode: chosen.mode,
        feedback.c.helpful: chosen.helpful,
    }
    parts = [_asked.created_at >= chosen.since, _asked.created_at < chosen.until]
    parts += [column == value for column, value in equal.items() if value is not None]
    if chosen.books is not None:
        parts.append(_asked.book_id.in_(chosen.books) if chosen.books else false())
    if chosen.score_from is not None:
        parts.append(_asked.top_chunk_score >= chosen.score_from)
    if chosen.score_to is not None:
        parts.append(_asked.top_chunk_score < chosen.score_to)
    if chosen.took_from is not None:
        parts.append(_asked.processing_time_ms >= chosen.took_from)
    if chosen.wordings is not None:
        parts.append(_wording.in_(chosen.wordings))
    parts.append(_quotes(chosen, connection))
    return and_(*parts)


def _quotes(chosen: Chosen, connection: AsyncConnection) -> ColumnElement[bool]:
    """Pick the answers that quote a chapter or section, as each database looks into JSON."""
    place = {"chapter": chosen.chapter, "section": chosen.section}
    sought = {name: value for name, value in place.items() if value is not None}
    if not sought:
        return true()
    if connection.dialect.name == "postgresql":
        return type_coerce(_asked.cited_sections, JSONB).contains([sought])
    cited = func.json_each(_asked.cited_sections).table_valued("value")
    same = [
        func.json_extract(cited.c.value, f"$.{name}") == value for name, value in sought.items()
    ]
    return exists().where(*same).select_from(cited)


def _newest_of_each(chosen: Chosen, connection: AsyncConnection) -> Any:
    newest_first = [_asked.created_at.desc(), _asked.query_id]
    return (
        select(
            _wording.label("key"),
            _asked.query_text,
            _asked.query_id,
            _asked.created_at,
            _asked.book_id,
            _asked.nearest_section,
            func.count().over(partition_by=_wording).label("times"),
            func.row_number().over(partition_by=_wording, order_by=newest_first).label("age"),
        )
        .select_from(_source(chosen))
        .where(_condition(chosen, connection))
        .subquery()
    )


def _questions() -> Select[Any]:
    return select(*_shown).select_from(_with_word)


def _question(row: Any) -> LoggedQuestion:
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
        cited=_sections(row.cited_sections),
        nearest=_nearest(row.nearest_section),
        helpful=row.helpful,
        reason=row.reason,
    )


def _sections(kept: Any) -> tuple[CitedSection, ...]:
    return tuple(CitedSection(**section) for section in kept)


def _nearest(kept: Any) -> NearestSection | None:
    return NearestSection(**kept) if kept else None
