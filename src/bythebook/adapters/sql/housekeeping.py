"""Work that comes due with time, done once however many processes ask for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, and_, delete, exists, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.database import SqlRecords, carried_through
from bythebook.adapters.sql.tables import (
    conversation_threads,
    feedback,
    housekeeping,
    queries,
    query_sessions,
)
from bythebook.adapters.sql.upsert import upsert
from bythebook.domain.records import QUERIES_KEPT, THREAD_IDLE, Purged

_PURGE_EVERY = timedelta(hours=1)
_ARCHIVE_EVERY = timedelta(minutes=1)
_STEP = 5000


class SqlHousekeeping(SqlRecords):
    """Deletes what is past its time, and archives what is idle."""

    @carried_through
    async def purge(self, now: datetime) -> Purged | None:
        """Delete old queries with their sessions and feedback; archived threads are kept for good."""
        end = now - QUERIES_KEPT
        known = exists().where(
            queries.c.request_id == feedback.c.request_id, queries.c.owner == feedback.c.owner
        )
        async with self._turn("purge", now, _PURGE_EVERY) as connection:
            if connection is None:
                return None
            return Purged(
                queries=await _delete(connection, queries, queries.c.created_at < end),
                sessions=await _delete(
                    connection, query_sessions, query_sessions.c.last_query_at < end
                ),
                feedback=await _delete(connection, feedback, ~known),
            )

    @carried_through
    async def archive_idle(self, now: datetime) -> int | None:
        """Archive threads that nothing was said in for an hour, and count them."""
        columns = conversation_threads.c
        idle = and_(columns.state == "active", columns.updated_at < now - THREAD_IDLE)
        async with self._turn("archive_idle", now, _ARCHIVE_EVERY) as connection:
            if connection is None:
                return None
            archived = await connection.execute(
                update(conversation_threads).where(idle).values(state="archived")
            )
            return archived.rowcount

    @asynccontextmanager
    async def _turn(
        self, task: str, now: datetime, every: timedelta
    ) -> AsyncIterator[AsyncConnection | None]:
        """Give a transaction to whoever comes first; None to all others until the time is round.

        The mark is part of the transaction: a process that dies in between leaves the turn to the next.
        """
        last = housekeeping.c.last_run_at
        # A mark from ahead of us was set by a clock that was wrong.
        round_again = or_(last.is_(None), last <= now - every, last > now + every)
        due = and_(housekeeping.c.task == task, round_again)
        async with self.database.writing() as connection:
            await connection.execute(
                upsert(connection, housekeeping).values(task=task).on_conflict_do_nothing()
            )
            # PostgreSQL: whoever finds the row taken goes away. SQLite: writers queue up anyway.
            free = select(housekeeping.c.task).where(due).with_for_update(skip_locked=True)
            if await connection.scalar(free) is None:
                yield None
                return
            await connection.execute(
                update(housekeeping).where(housekeeping.c.task == task).values(last_run_at=now)
            )
            yield connection


async def _delete(connection: AsyncConnection, table: Table, old: ColumnElement[bool]) -> int:
    """Delete in steps, none of which takes so long that a server's answer is given up."""
    key = list(table.primary_key)
    step = delete(table).where(tuple_(*key).in_(select(*key).where(old).limit(_STEP)))
    deleted = 0
    while count := (await connection.execute(step)).rowcount:
        deleted += count
    return deleted
