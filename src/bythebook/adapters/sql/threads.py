"""The Threads port: one row per conversation, and its messages in an append-only table."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Row,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.engine.upsert import upsert
from bythebook.adapters.sql.tables import (
    UtcTime,
    archived_messages,
    conversation_threads,
    feedback,
    messages,
    queries,
    query_sessions,
)
from bythebook.domain.records import LIVE_MESSAGES, Exchange, Message, MessageCitation, Thread

_threads = conversation_threads.c


class SqlThreads(SqlRecords):
    """Stores conversations; appends to one thread wait for the lock on its row."""

    @uncancellable
    async def append(
        self,
        owner: str,
        session_id: uuid.UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Add a question and its answer, durable on return; return the number of all messages."""
        pair = exchange.asked, exchange.answered
        given = {"topic_summary": topic_summary, "metadata": metadata and dict(metadata)}
        async with self.database.begin_write() as connection:
            thread_id, count = await _extend(connection, owner, session_id, exchange, given)
            since = await connection.scalar(
                select(func.max(messages.c.created_at, type_=UtcTime())).where(
                    messages.c.thread_id == thread_id
                )
            )
            rows = [
                _make_row(thread_id, count - 2 + place, message, since)
                for place, message in enumerate(pair)
            ]
            await connection.execute(insert(messages), rows)
            if count > LIVE_MESSAGES:
                await _archive(connection, thread_id, count, rows[-1]["created_at"])
        return count

    @uncancellable
    async def history(self, owner: str, session_id: uuid.UUID) -> Thread | None:
        """Return a thread with its live messages, or None if the owner has no such thread."""
        # One statement, so that thread and messages are from the same moment.
        joined = conversation_threads.join(messages)
        wanted = (
            select(conversation_threads, messages)
            .select_from(joined)
            .where(_owns(owner, session_id))
            .order_by(messages.c.position)
        )
        async with self.database.begin_read() as connection:
            rows = (await connection.execute(wanted)).all()
        return _read_thread(rows[0], tuple(map(_read_message, rows))) if rows else None

    @uncancellable
    async def delete(self, owner: str, session_id: uuid.UUID) -> bool:
        """Remove a thread and its questions, also from the log; False if there is no thread."""
        async with self.database.begin_write() as connection:
            await _forget_questions(connection, owner, session_id)
            gone = await connection.execute(
                delete(conversation_threads).where(_owns(owner, session_id))
            )
        return gone.rowcount > 0


def _owns(owner: str, session_id: uuid.UUID) -> Any:
    return and_(_threads.owner == owner, _threads.session_id == session_id)


async def _forget_questions(connection: AsyncConnection, owner: str, session_id: uuid.UUID) -> None:
    """Remove the questions of a thread, and the feedback on them, from the log."""
    of_session = query_sessions.c.session_id == session_id
    # PostgreSQL: a new question updates this row too, so it is logged entirely before or after us.
    await connection.execute(select(query_sessions).where(of_session).with_for_update())
    asked = queries.c
    in_thread = and_(asked.session_id == session_id, asked.owner == owner, asked.contract == "chat")
    named = and_(asked.request_id == feedback.c.request_id, asked.owner == feedback.c.owner)
    elsewhere = or_(asked.session_id.is_(None), asked.session_id != session_id)
    still_asked = exists().where(named, or_(elsewhere, asked.contract != "chat"))
    await connection.execute(delete(feedback).where(exists().where(named, in_thread), ~still_asked))
    await connection.execute(delete(queries).where(in_thread))
    unused = ~exists().where(asked.session_id == session_id)
    await connection.execute(delete(query_sessions).where(of_session, unused))


async def _extend(
    connection: AsyncConnection,
    owner: str,
    session_id: uuid.UUID,
    exchange: Exchange,
    given: dict[str, Any],
) -> tuple[uuid.UUID, int]:
    """Count two more messages; this locks the thread until the end of the transaction."""
    now = exchange.answered.created_at
    new = upsert(connection, conversation_threads).values(
        thread_id=uuid.uuid4(),
        owner=owner,
        session_id=session_id,
        state="active",
        message_count=2,
        created_at=min(exchange.asked.created_at, now),
        updated_at=now,
        # No summary: the messages that it sums up were deleted meanwhile.
        metadata=given["metadata"] or {},
    )
    later = new.excluded.updated_at
    latest = case((later > _threads.updated_at, later), else_=_threads.updated_at)
    changed = {name: value for name, value in given.items() if value is not None}
    changed |= {
        "state": "active",
        "message_count": _threads.message_count + 2,
        "updated_at": latest,
    }
    grown = await connection.execute(
        new.on_conflict_do_update(
            index_elements=[_threads.owner, _threads.session_id], set_=changed
        ).returning(_threads.thread_id, _threads.message_count)
    )
    thread_id, count = grown.one()
    return thread_id, count


def _make_row(
    thread_id: uuid.UUID, position: int, message: Message, since: datetime | None
) -> dict[str, Any]:
    # Answers may overtake each other, but times within a thread must not decrease.
    created_at = max(message.created_at, since) if since else message.created_at
    return asdict(message) | {
        "thread_id": thread_id,
        "position": position,
        "citations": [asdict(citation) for citation in message.citations],
        "created_at": created_at,
    }


async def _archive(
    connection: AsyncConnection, thread_id: uuid.UUID, count: int, now: datetime
) -> None:
    old = and_(messages.c.thread_id == thread_id, messages.c.position < count - LIVE_MESSAGES)
    taken = select(*messages.c, literal(now, UtcTime())).where(old)
    columns = [*messages.c.keys(), "archived_at"]
    await connection.execute(insert(archived_messages).from_select(columns, taken))
    await connection.execute(delete(messages).where(old))


def _read_thread(row: Row[Any], live: tuple[Message, ...]) -> Thread:
    value = row._mapping  # noqa: SLF001 - SQLAlchemy's documented name for it
    return Thread(
        session_id=value[_threads.session_id],
        messages=live,
        message_count=value[_threads.message_count],
        created_at=value[_threads.created_at],
        updated_at=value[_threads.updated_at],
        state=value[_threads.state],
        topic_summary=value[_threads.topic_summary],
        metadata=value[_threads.metadata],
    )


def _read_message(row: Row[Any]) -> Message:
    value = row._mapping  # noqa: SLF001 - SQLAlchemy's documented name for it
    return Message(
        role=value[messages.c.role],
        content=value[messages.c.content],
        created_at=value[messages.c.created_at],
        confidence=value[messages.c.confidence],
        citations=tuple(MessageCitation(**citation) for citation in value[messages.c.citations]),
    )
