"""An author's choice of questions, as conditions of a query."""

from sqlalchemy import (
    ColumnElement,
    FromClause,
    and_,
    exists,
    false,
    func,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.questions.expressions import FEEDBACK_OF_QUERY, WORDING_KEY
from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.insight import QuestionFilter

_asked = queries.c
QUERIES_WITH_FEEDBACK = queries.outerjoin(feedback, FEEDBACK_OF_QUERY)


def choose_source(chosen: QuestionFilter) -> FromClause:
    """Join the feedback only where the choice needs it."""
    return queries if chosen.helpful is None else QUERIES_WITH_FEEDBACK


def make_condition(chosen: QuestionFilter, connection: AsyncConnection) -> ColumnElement[bool]:
    """Make the condition that picks the chosen questions."""
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
        parts.append(WORDING_KEY.in_(chosen.wordings))
    parts.append(_cites_place(chosen, connection))
    return and_(*parts)


def _cites_place(chosen: QuestionFilter, connection: AsyncConnection) -> ColumnElement[bool]:
    """Pick the answers that cite the chapter or section; each database reads JSON in its own way."""
    place = {"chapter": chosen.chapter, "section": chosen.section}
    wanted = {name: value for name, value in place.items() if value is not None}
    if not wanted:
        return true()
    if connection.dialect.name == "postgresql":
        return type_coerce(_asked.cited_sections, JSONB).contains([wanted])
    cited = func.json_each(_asked.cited_sections).table_valued("value")
    same = [
        func.json_extract(cited.c.value, f"$.{name}") == value for name, value in wanted.items()
    ]
    return exists().where(*same).select_from(cited)
