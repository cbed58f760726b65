"""The RecentCitations port: what answers cited, from the log of questions."""

from collections.abc import Sequence

from sqlalchemy import select

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.tables import queries


class SqlRecentCitations(SqlRecords):
    """Reads the ids of citations."""

    @uncancellable
    async def list_recent(self, book_id: str, most: int) -> Sequence[str]:
        """Return the ids of citations of a book, each once, newest first."""
        newest = (
            select(queries.c.citation_ids)
            .where(queries.c.citation_ids.is_not(None), queries.c.status == "success")
            .order_by(queries.c.created_at.desc())
            .limit(most)
        )
        async with self.database.begin_read() as connection:
            rows = (await connection.execute(newest)).scalars()
            ids = dict.fromkeys(name for row in rows for name in row)
        return [name for name in ids if name.startswith(f"{book_id}.")][:most]
