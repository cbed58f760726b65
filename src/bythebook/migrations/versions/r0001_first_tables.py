"""The first tables: questions, conversations, keys, feedback.

Imports nothing from the package, so that later changes of the tables do not affect it.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    _create_queries()
    _create_threads()
    for name in ("messages", "archived_messages"):
        _create_messages(name)
    _create_keys()
    _create_feedback()
    op.create_table(
        "housekeeping",
        sa.Column("task", sa.String(20), nullable=False),
        _time("last_run_at", nullable=True),
        sa.PrimaryKeyConstraint("task", name="pk_housekeeping"),
    )


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON().with_variant(JSONB(), "postgresql"), nullable=nullable)


def _check(table: str, name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=op.f(f"ck_{table}_{name}"))


def _create_queries() -> None:
    op.create_table(
        "query_sessions",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        _time("created_at"),
        sa.Column("user_ip", sa.String(45)),
        sa.Column("query_count", sa.Integer(), nullable=False),
        _time("last_query_at"),
        sa.PrimaryKeyConstraint("session_id", name="pk_query_sessions"),
    )
    op.create_index("idx_sessions_ip_created", "query_sessions", ["user_ip", "created_at"])
    op.create_index("idx_sessions_last_query", "query_sessions", ["last_query_at"])
    op.create_table("queries", *_query_columns(), *_query_constraints())
    op.create_index("idx_queries_status", "queries", ["status", "created_at"])
    op.create_index("idx_queries_session", "queries", ["session_id"])
    op.create_index("idx_queries_created", "queries", ["created_at"])
    op.create_index("idx_queries_request", "queries", ["request_id"])


def _query_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid()),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("contract", sa.String(20), nullable=False),
        sa.Column("book_id", sa.Text()),
        sa.Column("query_text", sa.Text(), nullable=False),
        sa.Column("selected_text_length", sa.Integer()),
        sa.Column("mode", sa.String(20), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("refusal_type", sa.String(30)),
        sa.Column("refusal_reason", sa.Text()),
        sa.Column("chunks_retrieved", sa.Integer(), nullable=False),
        sa.Column("top_chunk_score", sa.Float()),
        sa.Column("raw_cosine", sa.Float()),
        sa.Column("borderline", sa.Boolean(), nullable=False),
        sa.Column("has_sufficient_context", sa.Boolean()),
        _json("cited_sections"),
        _json("nearest_section", nullable=True),
        sa.Column("processing_time_ms", sa.Integer(), nullable=False),
        _time("created_at"),
    ]


def _query_constraints() -> list[sa.Constraint]:
    refusals = (
        "'empty_retrieval', 'low_relevance', 'insufficient_grounding', 'selected_text_missing'"
    )
    return [
        sa.PrimaryKeyConstraint("query_id", name="pk_queries"),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["query_sessions.session_id"],
            name="fk_queries_session_id",
            ondelete="SET NULL",
        ),
        _check("queries", "contract", "contract IN ('query', 'rag', 'chat', 'ask')"),
        _check("queries", "mode", "mode IN ('standard_rag', 'selected_text_only')"),
        _check("queries", "status", "status IN ('success', 'refused', 'error')"),
        _check("queries", "refusal_type", f"refusal_type IN ({refusals})"),
        _check("queries", "refused_by_type", "(status = 'refused') = (refusal_type IS NOT NULL)"),
    ]


def _create_threads() -> None:
    op.create_table(
        "conversation_threads",
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        _time("created_at"),
        _time("updated_at"),
        sa.Column("topic_summary", sa.Text()),
        _json("metadata"),
        sa.PrimaryKeyConstraint("thread_id", name="pk_conversation_threads"),
        sa.UniqueConstraint("owner", "session_id", name="uq_conversation_threads_owner_session_id"),
        _check("conversation_threads", "state", "state IN ('active', 'archived')"),
        _check("conversation_threads", "topic_summary_length", "length(topic_summary) <= 200"),
    )
    op.create_index("idx_threads_updated", "conversation_threads", ["updated_at"])
    op.create_index("idx_threads_created", "conversation_threads", ["created_at"])
    op.create_index("idx_threads_idle", "conversation_threads", ["state", "updated_at"])


def _create_messages(name: str) -> None:
    alternates = "(role = 'user' AND position % 2 = 0) OR (role = 'assistant' AND position % 2 = 1)"
    op.create_table(
        name,
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float()),
        _json("citations"),
        _time("created_at"),
        *([_time("archived_at")] if name == "archived_messages" else []),
        sa.PrimaryKeyConstraint("thread_id", "position", name=f"pk_{name}"),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["conversation_threads.thread_id"],
            name=f"fk_{name}_thread_id",
            ondelete="CASCADE",
        ),
        _check(name, "roles_alternate", alternates),
    )


def _create_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("prefix", sa.String(16), nullable=False),
        sa.Column("scope", sa.String(10), nullable=False),
        _json("books", nullable=True),
        _json("origins", nullable=True),
        sa.Column("limit_per_minute", sa.Integer()),
        _time("created_at"),
        _time("expires_at", nullable=True),
        _time("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
        _check("api_keys", "scope", "scope IN ('ask', 'admin')"),
        _check("api_keys", "limit_per_minute", "limit_per_minute >= 0"),
    )


def _create_feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text()),
        _time("created_at"),
        sa.PrimaryKeyConstraint("request_id", name="pk_feedback"),
        _check("feedback", "reason_length", "length(reason) <= 500"),
    )
