"""The file of the SQLite records."""

import contextlib
import os
from pathlib import Path

from bythebook.errors import RecordsFailed


class RecordsFile:
    """Readable by its owner only; detects that it was replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity_in_use: tuple[int, int] | None = None

    def create(self) -> None:
        """Create it if it does not exist, and remember its identity."""
        # An existing file is not opened: closing it would release SQLite's locks on it.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))  # questions are private
        self._identity_in_use = self._read_identity()

    def require_same(self) -> None:
        """Raise RecordsFailed if the file was removed or replaced.

        SQLite continues to write to a removed file, and that data is lost when the process ends.
        """
        if self._identity_in_use is not None and self._read_identity() != self._identity_in_use:
            raise RecordsFailed(
                f"The records in {self.path.name} were removed or replaced while in use.",
                "Put the right file in its place and restart the service; "
                "replace it only while no service is running.",
            )

    def _read_identity(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino
