"""Caches fetched pages in one SQLite file per start address, so that only changes are fetched again."""

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
_RESUME_SECONDS = 3600.0  # during which pages of an interrupted run are reused without a request


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as last fetched."""

    etag: str
    last_modified: str
    content_type: str
    body: bytes
    current: bool  # fetched by this run, or by one interrupted recently


class FetchCache:
    """Pages by address; a failure of the cache only means that all pages are fetched again."""

    def __init__(self, folder: Path, start: str) -> None:
        self._path = folder / f"{hashlib.sha256(start.encode()).hexdigest()[:24]}.sqlite3"
        self._run = f"{time.time():.6f}"
        self._connection = _open_database(self._path)
        rows = self._execute("SELECT run FROM unfinished")
        self._resumed = frozenset(str(row[0]) for row in rows)
        self._execute("INSERT OR IGNORE INTO unfinished VALUES (?)", self._run)

    @property
    def usable(self) -> bool:
        """Whether the cache works."""
        return self._connection is not None

    def get(self, url: str) -> CachedPage | None:
        """Return a page as last fetched; None if it was not."""
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
        fresh = 0 <= time.time() - fetched_at < _RESUME_SECONDS
        current = run == self._run or (run in self._resumed and fresh)
        return CachedPage(str(etag), str(last_modified), str(content_type), body, current=current)

    def put(self, url: str, cached: CachedPage) -> None:
        """Store a page completely or not at all."""
        self._execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)",
            url, cached.etag, cached.last_modified, cached.content_type,
            zlib.compress(cached.body), time.time(), self._run,
        )  # fmt: skip

    def touch(self, url: str) -> None:
        """Record that a page is unchanged."""
        self._execute(
            "UPDATE pages SET run = ?, fetched_at = ? WHERE url = ?", self._run, time.time(), url
        )

    def drop(self, url: str) -> None:
        """Delete a page."""
        self._execute("DELETE FROM pages WHERE url = ?", url)

    def finish(self, *, whole: bool) -> None:
        """End a run; a complete run keeps only the pages that it saw."""
        self._execute("DELETE FROM unfinished")
        if whole:
            self._execute("DELETE FROM pages WHERE run != ?", self._run)

    def close(self) -> None:
        """Close the file; the next run can continue an unfinished one."""
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


def _open_database(path: Path) -> sqlite3.Connection | None:
    """Open the database, and recreate it if it is damaged; None if that is impossible."""
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
