"""Alembic's entry point: runs on the given connection, inside its transaction."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
)
context.run_migrations()
