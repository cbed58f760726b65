"""The QueryLog port: writes every question, and sums them up for operators."""

import uuid
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import case, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.engine.upsert import upsert
from bythebook.adapters.sql.questions.period_stats import StatsScope, read_stats
from bythebook.adapters.sql.tables import queries, query_sessions
from bythebook.domain.records import QueryEntry, QueryStats


class SqlQueryLog(SqlRecords):
    """Stores questions and sums them up."""

    @uncancellable
    async def log(self, *entries: QueryEntry) -> None:
        """Store questions and count them in their sessions, all or none."""
        # In a fixed order, so that processes that count the same sessions cannot deadlock.
        counted = sorted(
            (entry.session_id, place) for place, entry in enumerate(entries) if entry.session_id
        )
        async with self.database.begin_write() as connection:
            for session_id, place in counted:
                await _count_in_session(connection, session_id, entries[place])
            await connection.execute(insert(queries), [_make_row(entry) for entry in entries])

    @uncancellable
    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        """Sum up the questions from `since` until before `until`, of one book or all."""
        async with self.database.begin_read() as connection:
            return await read_stats(connection, StatsScope(since, until, book_id), most)


async def _count_in_session(
    connection: AsyncConnection, session_id: uuid.UUID, entry: QueryEntry
) -> None:
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


def _make_row(entry: QueryEntry) -> dict[str, Any]:
    row = {name: value for name, value in asdict(entry).items() if name in queries.c}
    return row | {"query_id": uuid.uuid4()}
