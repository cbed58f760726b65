"""INSERT ... ON CONFLICT, for which SQLAlchemy has one class per database."""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def upsert(connection: AsyncConnection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Start an INSERT that can handle existing rows."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
