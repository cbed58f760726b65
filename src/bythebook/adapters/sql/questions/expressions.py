"""SQL expressions that operators' sums and authors' views of the log share."""

from typing import Any

from sqlalchemy import ColumnElement, Date, FromClause, Subquery, and_, func, select

from bythebook.adapters.sql.tables import feedback, queries
from bythebook.domain.answers import NearestSection

DAY = func.date(queries.c.created_at, type_=Date())
# "What is URDF" and "what is urdf?" are the same question. SQLite lowercases ASCII only.
WORDING_KEY = func.rtrim(func.lower(queries.c.query_text), " ?!.")
FEEDBACK_OF_QUERY = and_(
    feedback.c.owner == queries.c.owner, feedback.c.request_id == queries.c.request_id
)


def rank_wordings(source: FromClause, condition: ColumnElement[bool]) -> Subquery:
    """Number the questions of each wording by age, 1 for the newest, and count them in `times`."""
    asked = queries.c
    newest_first = [asked.created_at.desc(), asked.query_id]
    return (
        select(
            WORDING_KEY.label("key"),
            asked.query_text,
            asked.query_id,
            asked.created_at,
            asked.book_id,
            asked.nearest_section,
            func.count().over(partition_by=WORDING_KEY).label("times"),
            func.row_number().over(partition_by=WORDING_KEY, order_by=newest_first).label("age"),
        )
        .select_from(source)
        .where(condition)
        .subquery()
    )


def read_nearest(stored: Any) -> NearestSection | None:
    """Read the section that a refusal pointed to."""
    return NearestSection(**stored) if stored else None
