"""The file that SQLite's records are in."""

import contextlib
import os
from pathlib import Path

from bythebook.errors import RecordsFailed


class RecordsFile:
    """Made for its owner only; noticed when another takes its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._made: tuple[int, int] | None = None

    def make(self) -> None:
        """See that it is there, and remember which one it is."""
        # One that is there is not opened: closing it would let go of SQLite's locks on it.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))  # questions are private
        self._made = self._identity()

    def require_same(self) -> None:
        """Raise RecordsFailed where the file in use is no longer the one of that name.

        SQLite goes on with a file that was removed, and what it is given is gone with the process.
        """
        if self._made is not None and self._identity() != self._made:
            raise RecordsFailed(
                f"The records in {self.path.name} were removed or replaced while in use.",
                "Put the file that is wanted in its place and start the service again; "
                "exchange it only while no service runs.",
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino
