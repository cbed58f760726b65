"""Questions and feedback by owner: all that was kept before was asked of an open service."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Say whose each question and each word of feedback is."""
    owner = sa.Column("owner", sa.String(64), server_default="open", nullable=False)
    op.add_column("queries", owner)
    op.drop_index("idx_queries_request", "queries")
    op.create_index("idx_queries_request", "queries", ["request_id", "owner"])
    # SQLite cannot change a primary key, so the table is made anew and filled again.
    kept = "request_id, helpful, reason, created_at"
    op.execute(f"CREATE TABLE feedback_before AS SELECT {kept} FROM feedback")  # noqa: S608 - names only
    op.drop_table("feedback")
    _make_feedback()
    op.execute(
        f"INSERT INTO feedback (owner, {kept}) SELECT 'open', {kept} FROM feedback_before"  # noqa: S608 - names only
    )
    op.drop_table("feedback_before")


def _make_feedback() -> None:
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
