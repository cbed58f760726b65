"""Records in SQLite or PostgreSQL, by SQLAlchemy; the schema's history is in `migrations`."""
