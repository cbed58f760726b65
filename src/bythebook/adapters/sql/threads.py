"""Conversations: a thread row, and its messages in a table that is only ever added to."""

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

from bythebook.adapters.sql.database import SqlRecords, carried_through
from bythebook.adapters.sql.tables import (
    UtcTime,
    archived_messages,
    conversation_threads,
    feedback,
    messages,
    queries,
    query_sessions,
)
from bythebook.adapters.sql.upsert import upsert
from bythebook.domain.records import LIVE_MESSAGES, Exchange, Message, MessageCitation, Thread

_threads = conversation_threads.c


class SqlThreads(SqlRecords):
    """Keeps conversations; appends to one thread queue up behind its row."""

    @carried_through
    async def append(
        self,
        owner: str,
        session_id: uuid.UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Add question and answer, durably on return, and give the count of all messages."""
        said = exchange.asked, exchange.answered
        given = {"topic_summary": topic_summary, "metadata": metadata and dict(metadata)}
        async with self.database.writing() as connection:
            thread_id, count = await _grow(connection, owner, session_id, exchange, given)
            since = await connection.scalar(
                select(func.max(messages.c.created_at, type_=UtcTime())).where(
                    messages.c.thread_id == thread_id
                )
            )
            rows = [
                _row(thread_id, count - 2 + place, message, since)
                for place, message in enumerate(said)
            ]
            await connection.execute(insert(messages), rows)
            if count > LIVE_MESSAGES:
                await _archive(connection, thread_id, count, rows[-1]["created_at"])
        return count

    @carried_through
    async def history(self, owner: str, session_id: uuid.UUID) -> Thread | None:
        """Give a thread with its live messages, if the owner has it."""
        # In one statement, so that thread and messages are of one moment.
        joined = conversation_threads.join(messages)
        wanted = (
            select(conversation_threads, messages)
            .select_from(joined)
            .where(_is(owner, session_id))
            .order_by(messages.c.position)
        )
        async with self.database.reading() as connection:
            rows = (await connection.execute(wanted)).all()
        return _thread(rows[0], tuple(map(_message, rows))) if rows else None

    @carried_through
    async def delete(self, owner: str, session_id: uuid.UUID) -> bool:
        """Remove a thread and every word of it, also from the log; False if there is no thread."""
        async with self.database.writing() as connection:
            await _forget_questions(connection, owner, session_id)
            gone = await connection.execute(
                delete(conversation_threads).where(_is(owner, session_id))
            )
        return gone.rowcount > 0


def _is(owner: str, session_id: uuid.UUID) -> Any:
    return and_(_threads.owner == owner, _threads.session_id == session_id)


async def _forget_questions(connection: AsyncConnection, owner: str, session_id: uuid.UUID) -> None:
    """Remove from the log what was asked in a thread, with the feedback on it."""
    of_session = query_sessions.c.session_id == session_id
    # PostgreSQL: a question on its way in counts itself in this row, and comes before or after us.
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


async def _grow(
    connection: AsyncConnection,
    owner: str,
    session_id: uuid.UUID,
    exchange: Exchange,
    given: dict[str, Any],
) -> tuple[uuid.UUID, int]:
    """Make room for two messages; until the end of the transaction the thread is ours alone."""
    now = exchange.answered.created_at
    new = upsert(connection, conversation_threads).values(
        thread_id=uuid.uuid4(),
        owner=owner,
        session_id=session_id,
        state="active",
        message_count=2,
        created_at=min(exchange.asked.created_at, now),
        updated_at=now,
        # No summary: what it sums up was deleted meanwhile.
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


def _row(
    thread_id: uuid.UUID, position: int, message: Message, since: datetime | None
) -> dict[str, Any]:
    # Answers may overtake each other: times within a thread never go back.
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


def _thread(row: Row[Any], said: tuple[Message, ...]) -> Thread:
    value = row._mapping  # noqa: SLF001 - SQLAlchemy's documented name for it
    return Thread(
        session_id=value[_threads.session_id],
        messages=said,
        message_count=value[_threads.message_count],
        created_at=value[_threads.created_at],
        updated_at=value[_threads.updated_at],
        state=value[_threads.state],
        topic_summary=value[_threads.topic_summary],
        metadata=value[_threads.metadata],
    )


def _message(row: Row[Any]) -> Message:
    value = row._mapping  # noqa: SLF001 - SQLAlchemy's documented name for it
    return Message(
        role=value[messages.c.role],
        content=value[messages.c.content],
        created_at=value[messages.c.created_at],
        confidence=value[messages.c.confidence],
        citations=tuple(MessageCitation(**citation) for citation in value[messages.c.citations]),
    )
