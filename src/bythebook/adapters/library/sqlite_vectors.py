"""The vector cache: one SQLite file in the data folder."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bythebook.errors import StoreFailed
from bythebook.ports import Vector

_BATCH = 500  # under SQLite's limit of variables in a statement
_FLOAT = np.dtype(np.float32).itemsize
_PATIENCE = 30.0  # seconds to wait for another writer
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
  model TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, hash)
) WITHOUT ROWID
"""


class SqliteVectors:
    """Vectors by embedding model and content hash; what makes ingest incremental and resumable."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Give the vectors that are known."""
        found: dict[str, Vector] = {}
        if not self._path.exists():  # asking leaves no trace
            return found
        with self._connection() as connection:
            for start in range(0, len(hashes), _BATCH):
                batch = hashes[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                rows = connection.execute(
                    f"SELECT hash, vector FROM vectors WHERE model = ? AND hash IN ({marks})",  # noqa: S608 - only question marks
                    (model_id, *batch),
                )
                found.update(
                    (name, np.frombuffer(blob, np.float32))
                    for name, blob in rows
                    if len(blob) % _FLOAT == 0  # else damaged, and as good as not known
                )
        return found

    def put(self, model_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors, durably on return."""
        rows = [
            (model_id, name, vector.astype(np.float32).tobytes())
            for name, vector in vectors.items()
        ]
        with self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open for one piece of work: runs are few, and a process may be killed at any time."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = sqlite3.connect(self._path, timeout=_PATIENCE)
            try:
                _prepare(connection)
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise StoreFailed(
                f"The vector cache {self._path.name} cannot be used ({error}).",
                _remedy(error),
            ) from error


def _remedy(error: sqlite3.Error) -> str:
    """Say what to do; only a damaged file is to be deleted, which costs embedding all books again."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its subclass
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}:
        return "It is damaged. Delete it: the next ingest embeds again."
    if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return (
            "Free room on the disk of the data folder, then run ingest again: it goes on from here."
        )
    return "Check who may write to the data folder and what else uses it, then run ingest again."


def _prepare(connection: sqlite3.Connection) -> None:
    """Make a new file ready; waits for others who do so, since SQLite does not wait here itself."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_SCHEMA)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
