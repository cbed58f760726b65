"""Use of language models per question: sentences shown and dropped, tokens, cost."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the model and its usage to questions; older questions used no model."""
    op.add_column("queries", sa.Column("model", sa.Text()))
    for name in ("sentences_shown", "sentences_dropped", "prompt_tokens", "completion_tokens"):
        op.add_column(
            "queries", sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)
        )
    op.add_column("queries", sa.Column("usd", sa.Float()))
