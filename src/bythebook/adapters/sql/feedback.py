"""What readers thought of answers."""

from dataclasses import asdict

from sqlalchemy import and_, exists, select

from bythebook.adapters.sql.database import SqlRecords, carried_through
from bythebook.adapters.sql.tables import feedback as table
from bythebook.adapters.sql.tables import queries
from bythebook.adapters.sql.upsert import upsert
from bythebook.domain.records import Feedback


class SqlFeedbackStore(SqlRecords):
    """Keeps one word per owner and request: the latest."""

    @carried_through
    async def give(self, owner: str, feedback: Feedback) -> bool:
        """Keep the latest word on a request; False if the owner made no such request."""
        own = and_(queries.c.request_id == feedback.request_id, queries.c.owner == owner)
        known = select(exists().where(own))
        row = asdict(feedback) | {"owner": owner}
        changed = {name: row[name] for name in ("helpful", "reason", "created_at")}
        async with self.database.writing() as connection:
            if not await connection.scalar(known):
                return False
            await connection.execute(
                upsert(connection, table)
                .values(row)
                .on_conflict_do_update(
                    index_elements=[table.c.owner, table.c.request_id], set_=changed
                )
            )
        return True
