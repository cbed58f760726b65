"""What was fetched, kept in one SQLite file per start address, so that only changes travel again."""

import hashlib
import sqlite3
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
  url TEXT PRIMARY KEY, etag TEXT NOT NULL, last_modified TEXT NOT NULL,
  content_type TEXT NOT NULL, body BLOB NOT NULL, fetched_at REAL NOT NULL, run TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unfinished (run TEXT PRIMARY KEY);
"""
_RESUMABLE = 3600.0  # seconds for which a stopped run's pages are taken without asking again


@dataclass(frozen=True, slots=True)
class Kept:
    """A page as it was last fetched."""

    etag: str
    last_modified: str
    content_type: str
    body: bytes
    current: bool  # fetched by a run that was stopped just now, or by this one


class FetchCache:
    """Pages by address; never a reason to fail: without it all is fetched anew."""

    def __init__(self, folder: Path, start: str) -> None:
        self._path = folder / f"{hashlib.sha256(start.encode()).hexdigest()[:24]}.sqlite3"
        self._run = f"{time.time():.6f}"
        self._connection = _opened(self._path)
        rows = self._execute("SELECT run FROM unfinished")
        self._resumed = frozenset(str(row[0]) for row in rows)
        self._execute("INSERT OR IGNORE INTO unfinished VALUES (?)", self._run)

    @property
    def usable(self) -> bool:
        """Say whether anything is kept at all."""
        return self._connection is not None

    def get(self, url: str) -> Kept | None:
        """Give a page as it was last fetched, if it was."""
        rows = self._execute(
            "SELECT etag, last_modified, content_type, body, fetched_at, run"
            " FROM pages WHERE url = ?",
            url,
        )
        if not rows:
            return None
        etag, last_modified, content_type, packed, fetched_at, run = rows[0]
        if not isinstance(packed, bytes) or not isinstance(fetched_at, float):
            return None
        try:
            body = zlib.decompress(packed)
        except zlib.error:
            return None
        fresh = 0 <= time.time() - fetched_at < _RESUMABLE
        current = run == self._run or (run in self._resumed and fresh)
        return Kept(str(etag), str(last_modified), str(content_type), body, current=current)

    def put(self, url: str, kept: Kept) -> None:
        """Keep a page; it is there whole or not at all, whatever happens next."""
        self._execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)",
            url, kept.etag, kept.last_modified, kept.content_type,
            zlib.compress(kept.body), time.time(), self._run,
        )  # fmt: skip

    def touch(self, url: str) -> None:
        """Note that a page is still what it was."""
        self._execute(
            "UPDATE pages SET run = ?, fetched_at = ? WHERE url = ?", self._run, time.time(), url
        )

    def drop(self, url: str) -> None:
        """Forget a page."""
        self._execute("DELETE FROM pages WHERE url = ?", url)

    def finish(self, *, whole: bool) -> None:
        """End a run; a whole one leaves only the pages that it saw."""
        self._execute("DELETE FROM unfinished")
        if whole:
            self._execute("DELETE FROM pages WHERE run != ?", self._run)

    def close(self) -> None:
        """Close the file; a run that was not finished can be taken up by the next."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: str, *values: str | float | bytes) -> list[tuple[object, ...]]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error:
            self.close()
            return []


def _opened(path: Path) -> sqlite3.Connection | None:
    """Open the file, anew if it is damaged; none if there cannot be any."""
    for _ in range(2):
        connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=10, isolation_level=None)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
            if connection.execute("PRAGMA quick_check").fetchone() == ("ok",):
                return connection
        except (sqlite3.Error, OSError):
            pass
        if connection:
            connection.close()
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                path.with_name(path.name + ending).unlink(missing_ok=True)
    return None
