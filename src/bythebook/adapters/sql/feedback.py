"""The FeedbackStore port: readers' opinions on answers."""

from dataclasses import asdict

from sqlalchemy import and_, exists, select

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.engine.upsert import upsert
from bythebook.adapters.sql.tables import feedback as table
from bythebook.adapters.sql.tables import queries
from bythebook.domain.records import Feedback


class SqlFeedbackStore(SqlRecords):
    """Stores the latest feedback per owner and request."""

    @uncancellable
    async def give(self, owner: str, feedback: Feedback) -> bool:
        """Store the latest feedback on a request; False if the owner made no such request."""
        own = and_(queries.c.request_id == feedback.request_id, queries.c.owner == owner)
        known = select(exists().where(own))
        row = asdict(feedback) | {"owner": owner}
        changed = {name: row[name] for name in ("helpful", "reason", "created_at")}
        async with self.database.begin_write() as connection:
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
