"""The log of questions."""

import uuid
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import case, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.database import SqlRecords, carried_through
from bythebook.adapters.sql.query_stats import Asked, read_stats
from bythebook.adapters.sql.tables import queries, query_sessions
from bythebook.adapters.sql.upsert import upsert
from bythebook.domain.records import QueryEntry, QueryStats


class SqlQueryLog(SqlRecords):
    """Keeps questions, and sums them up."""

    @carried_through
    async def log(self, entry: QueryEntry) -> None:
        """Keep a question and count it in its session."""
        async with self.database.writing() as connection:
            if entry.session_id is not None:
                await _count(connection, entry.session_id, entry)
            await connection.execute(insert(queries).values(_row(entry)))

    @carried_through
    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        """Sum up the questions from `since` on and before `until`, of one book or all."""
        async with self.database.reading() as connection:
            return await read_stats(connection, Asked(since, until, book_id), most)


async def _count(connection: AsyncConnection, session_id: uuid.UUID, entry: QueryEntry) -> None:
    new = upsert(connection, query_sessions).values(
        session_id=session_id,
        created_at=entry.created_at,
        user_ip=entry.user_ip,
        query_count=1,
        last_query_at=entry.created_at,
    )
    last = query_sessions.c.last_query_at
    later = case((new.excluded.last_query_at > last, new.excluded.last_query_at), else_=last)
    counted = {"query_count": query_sessions.c.query_count + 1, "last_query_at": later}
    await connection.execute(
        new.on_conflict_do_update(index_elements=[query_sessions.c.session_id], set_=counted)
    )


def _row(entry: QueryEntry) -> dict[str, Any]:
    row = {name: value for name, value in asdict(entry).items() if name in queries.c}
    return row | {"query_id": uuid.uuid4()}
