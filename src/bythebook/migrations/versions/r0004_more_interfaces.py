"""Questions may also come by OpenAI's interface and by MCP."""

from alembic import op

revision = "0004"
down_revision = "0003"

_CONTRACT = "contract IN ('query', 'rag', 'chat', 'ask', 'openai', 'mcp')"


def upgrade() -> None:
    """Allow the new names; SQLite cannot change a check, so there the table is created again."""
    name = op.f("ck_queries_contract")
    with op.batch_alter_table("queries") as queries:
        queries.drop_constraint(name, type_="check")
        queries.create_check_constraint(name, _CONTRACT)
