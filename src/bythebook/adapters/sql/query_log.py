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
    async def log(self, *entries: QueryEntry) -> None:
        """Keep questions and count them in their sessions, all or none."""
        # In one order, so that processes that count the same sessions never wait for each other.
        counted = sorted(
            (entry.session_id, place) for place, entry in enumerate(entries) if entry.session_id
        )
        async with self.database.writing() as connection:
            for session_id, place in counted:
                await _count(connection, session_id, entries[place])
            await connection.execute(insert(queries), [_row(entry) for entry in entries])

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
