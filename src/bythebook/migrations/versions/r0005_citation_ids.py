"""The ids of the citations under an answer, so that an ingest can tell how many of them survive."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add them to questions; older ones have none."""
    kind = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("queries", sa.Column("citation_ids", kind))
