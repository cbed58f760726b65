"""The Housekeeping port: periodic work, done once however many processes run it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, and_, delete, exists, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.engine.database import Database, SqlRecords, uncancellable
from bythebook.adapters.sql.engine.upsert import upsert
from bythebook.adapters.sql.tables import (
    conversation_threads,
    feedback,
    housekeeping,
    queries,
    query_sessions,
)
from bythebook.domain.records import QUERIES_KEPT, THREAD_IDLE, Purged

_PURGE_EVERY = timedelta(hours=1)
_ARCHIVE_EVERY = timedelta(minutes=1)


class SqlHousekeeping(SqlRecords):
    """Deletes expired records and archives idle threads."""

    def __init__(self, database: Database, *, step: int = 5000) -> None:
        super().__init__(database)
        self._step = step  # rows deleted by one statement

    @uncancellable
    async def purge(self, now: datetime) -> Purged | None:
        """Delete old queries with their sessions and feedback; archived threads are kept."""
        end = now - QUERIES_KEPT
        known = exists().where(
            queries.c.request_id == feedback.c.request_id, queries.c.owner == feedback.c.owner
        )
        async with self._claim_turn("purge", now, _PURGE_EVERY) as connection:
            if connection is None:
                return None
            return Purged(
                queries=await self._delete(connection, queries, queries.c.created_at < end),
                sessions=await self._delete(
                    connection, query_sessions, query_sessions.c.last_query_at < end
                ),
                feedback=await self._delete(connection, feedback, ~known),
            )

    @uncancellable
    async def archive_idle(self, now: datetime) -> int | None:
        """Archive threads without messages for an hour, and return their number."""
        columns = conversation_threads.c
        idle = and_(columns.state == "active", columns.updated_at < now - THREAD_IDLE)
        async with self._claim_turn("archive_idle", now, _ARCHIVE_EVERY) as connection:
            if connection is None:
                return None
            archived = await connection.execute(
                update(conversation_threads).where(idle).values(state="archived")
            )
            return archived.rowcount

    @asynccontextmanager
    async def _claim_turn(
        self, task: str, now: datetime, every: timedelta
    ) -> AsyncIterator[AsyncConnection | None]:
        """Yield a transaction to the first caller, and None to all others until the task is due again.

        The mark is part of the transaction: if a process dies, the next one takes the turn.
        """
        last = housekeeping.c.last_run_at
        # A mark in the future was set by a wrong clock.
        is_due = or_(last.is_(None), last <= now - every, last > now + every)
        own_and_due = and_(housekeeping.c.task == task, is_due)
        async with self.database.begin_write() as connection:
            await connection.execute(
                upsert(connection, housekeeping).values(task=task).on_conflict_do_nothing()
            )
            # PostgreSQL: skip the row if another process has it. SQLite: writers queue anyway.
            free = select(housekeeping.c.task).where(own_and_due).with_for_update(skip_locked=True)
            if await connection.scalar(free) is None:
                yield None
                return
            await connection.execute(
                update(housekeeping).where(housekeeping.c.task == task).values(last_run_at=now)
            )
            yield connection

    async def _delete(
        self, connection: AsyncConnection, table: Table, old: ColumnElement[bool]
    ) -> int:
        """Delete in batches, each short enough to end before the command timeout."""
        key = list(table.primary_key)
        step = delete(table).where(tuple_(*key).in_(select(*key).where(old).limit(self._step)))
        deleted = 0
        while count := (await connection.execute(step)).rowcount:
            deleted += count
        return deleted
