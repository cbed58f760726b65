"""The citations that the records hold, for a command that has them open only while it reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bythebook.bootstrap.core import Core


class RecordedCitations:
    """Opens the records if there are any."""

    def __init__(self, core: "Core") -> None:
        self._core = core

    async def list_recent(self, book_id: str, most: int) -> Sequence[str]:
        """Return the ids of citations of a book, each once, newest first."""
        from bythebook.adapters.sql.engine.address import RECORDS_FILE
        from bythebook.adapters.sql.questions.recent_citations import SqlRecentCitations

        settings = self._core.settings
        is_file = not settings.database_url.get_secret_value()
        if is_file and not (settings.data_dir / RECORDS_FILE).exists():
            return ()
        async with self._core.database() as database:
            return await SqlRecentCitations(database).list_recent(book_id, most)
