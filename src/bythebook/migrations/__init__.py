"""The history of the records' schema, for Alembic."""
