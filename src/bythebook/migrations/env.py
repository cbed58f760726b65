"""How Alembic runs: on the connection and within the transaction that it is given."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
)
context.run_migrations()
