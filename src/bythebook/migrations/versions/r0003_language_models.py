"""What language models did for each question: how much they wrote, how much was dropped, what it cost."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add to each question which model wrote and what became of it; none wrote before."""
    op.add_column("queries", sa.Column("model", sa.Text()))
    for name in ("sentences_shown", "sentences_dropped", "prompt_tokens", "completion_tokens"):
        op.add_column(
            "queries", sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)
        )
    op.add_column("queries", sa.Column("usd", sa.Float()))
