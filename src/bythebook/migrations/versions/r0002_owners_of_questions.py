"""Questions and feedback get an owner; older ones came from an open service."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the owner to questions and feedback."""
    owner = sa.Column("owner", sa.String(64), server_default="open", nullable=False)
    op.add_column("queries", owner)
    op.drop_index("idx_queries_request", "queries")
    op.create_index("idx_queries_request", "queries", ["request_id", "owner"])
    # SQLite cannot change a primary key, so the table is created again and refilled.
    kept = "request_id, helpful, reason, created_at"
    op.execute(f"CREATE TABLE feedback_before AS SELECT {kept} FROM feedback")  # noqa: S608 - names only
    op.drop_table("feedback")
    _create_feedback()
    op.execute(
        f"INSERT INTO feedback (owner, {kept}) SELECT 'open', {kept} FROM feedback_before"  # noqa: S608 - names only
    )
    op.drop_table("feedback_before")


def _create_feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "request_id", name="pk_feedback"),
        sa.CheckConstraint("length(reason) <= 500", name=op.f("ck_feedback_reason_length")),
    )
