"""The tables after the newest migration."""

from datetime import UTC, datetime
from typing import Any, get_args

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect

from bythebook.domain.answers import RefusalType
from bythebook.domain.questions import Mode
from bythebook.domain.records import (
    FEEDBACK_REASON_CHARACTERS,
    OPEN,
    TOPIC_SUMMARY_CHARACTERS,
    ContractName,
    KeyScope,
    QueryStatus,
    ThreadState,
)

HEAD = "0005"  # the newest migration; a constant, so that opening does not load Alembic


class UtcTime(TypeDecorator[datetime]):
    """An aware time, stored in UTC even if the database has no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Reject naive times."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return times in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _json() -> JSON:
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def _one_of(column: str, literal: Any) -> CheckConstraint:
    values = ", ".join(f"'{value}'" for value in get_args(literal))
    return CheckConstraint(f"{column} IN ({values})", name=column)


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

query_sessions = Table(
    "query_sessions",
    metadata,
    Column("session_id", Uuid(), primary_key=True),
    Column("created_at", UtcTime(), nullable=False),
    Column("user_ip", String(45)),
    Column("query_count", Integer(), nullable=False),
    Column("last_query_at", UtcTime(), nullable=False),
    Index("idx_sessions_ip_created", "user_ip", "created_at"),
    Index("idx_sessions_last_query", "last_query_at"),
)

queries = Table(
    "queries",
    metadata,
    Column("query_id", Uuid(), primary_key=True),
    Column("session_id", Uuid(), ForeignKey("query_sessions.session_id", ondelete="SET NULL")),
    Column("request_id", Uuid(), nullable=False),
    Column("contract", String(20), nullable=False),
    Column("book_id", Text()),
    Column("query_text", Text(), nullable=False),
    Column("selected_text_length", Integer()),
    Column("mode", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("refusal_type", String(30)),
    Column("refusal_reason", Text()),
    Column("chunks_retrieved", Integer(), nullable=False),
    Column("top_chunk_score", Float()),
    Column("raw_cosine", Float()),
    Column("borderline", Boolean(), nullable=False),
    Column("has_sufficient_context", Boolean()),
    Column("cited_sections", _json(), nullable=False),
    Column("nearest_section", _json()),
    Column("processing_time_ms", Integer(), nullable=False),
    Column("created_at", UtcTime(), nullable=False),
    Column("owner", String(64), server_default=OPEN, nullable=False),
    Column("model", Text()),
    *(
        Column(name, Integer(), server_default=text("0"), nullable=False)
        for name in ("sentences_shown", "sentences_dropped", "prompt_tokens", "completion_tokens")
    ),
    Column("usd", Float()),
    Column("citation_ids", _json()),
    _one_of("contract", ContractName),
    _one_of("mode", Mode),
    _one_of("status", QueryStatus),
    _one_of("refusal_type", RefusalType),
    CheckConstraint("(status = 'refused') = (refusal_type IS NOT NULL)", name="refused_by_type"),
    Index("idx_queries_status", "status", "created_at"),
    Index("idx_queries_session", "session_id"),
    Index("idx_queries_created", "created_at"),
    Index("idx_queries_request", "request_id", "owner"),
)

conversation_threads = Table(
    "conversation_threads",
    metadata,
    Column("thread_id", Uuid(), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("session_id", Uuid(), nullable=False),
    Column("state", String(10), nullable=False),
    Column("message_count", Integer(), nullable=False),
    Column("created_at", UtcTime(), nullable=False),
    Column("updated_at", UtcTime(), nullable=False),
    Column("topic_summary", Text()),
    Column("metadata", _json(), nullable=False),
    _one_of("state", ThreadState),
    CheckConstraint(
        f"length(topic_summary) <= {TOPIC_SUMMARY_CHARACTERS}", name="topic_summary_length"
    ),
    UniqueConstraint("owner", "session_id"),
    Index("idx_threads_updated", "updated_at"),
    Index("idx_threads_created", "created_at"),
    Index("idx_threads_idle", "state", "updated_at"),
)


def _message_columns() -> list[Column[Any] | CheckConstraint]:
    """Messages are append-only; a user's has an even position, an assistant's an odd one."""
    thread = ForeignKey("conversation_threads.thread_id", ondelete="CASCADE")
    alternates = "(role = 'user' AND position % 2 = 0) OR (role = 'assistant' AND position % 2 = 1)"
    return [
        Column("thread_id", Uuid(), thread, primary_key=True),
        Column("position", Integer(), primary_key=True, autoincrement=False),
        Column("role", String(10), nullable=False),
        Column("content", Text(), nullable=False),
        Column("confidence", Float()),
        Column("citations", _json(), nullable=False),
        Column("created_at", UtcTime(), nullable=False),
        CheckConstraint(alternates, name="roles_alternate"),
    ]


messages = Table("messages", metadata, *_message_columns())

archived_messages = Table(
    "archived_messages",
    metadata,
    *_message_columns(),
    Column("archived_at", UtcTime(), nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", Uuid(), primary_key=True),
    Column("key_hash", String(64), nullable=False),
    Column("prefix", String(16), nullable=False),
    Column("scope", String(10), nullable=False),
    Column("books", _json()),
    Column("origins", _json()),
    Column("limit_per_minute", Integer()),
    Column("created_at", UtcTime(), nullable=False),
    Column("expires_at", UtcTime()),
    Column("revoked_at", UtcTime()),
    _one_of("scope", KeyScope),
    CheckConstraint("limit_per_minute >= 0", name="limit_per_minute"),
    UniqueConstraint("key_hash"),
)

feedback = Table(
    "feedback",
    metadata,
    # Clients choose request ids, so an id is unique only per owner.
    Column("owner", String(64), primary_key=True),
    Column("request_id", Uuid(), primary_key=True),
    Column("helpful", Boolean(), nullable=False),
    Column("reason", Text()),
    Column("created_at", UtcTime(), nullable=False),
    CheckConstraint(f"length(reason) <= {FEEDBACK_REASON_CHARACTERS}", name="reason_length"),
)

housekeeping = Table(
    "housekeeping",
    metadata,
    Column("task", String(20), primary_key=True),
    Column("last_run_at", UtcTime()),
)
