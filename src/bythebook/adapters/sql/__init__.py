"""Records in SQLite or PostgreSQL through SQLAlchemy; the history of the schema is in `migrations`."""
