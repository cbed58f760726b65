"""A data folder -> files that stay as they are while they are packed, whatever the service does meanwhile.

Files of a published generation never change, so hard links to them are enough. A generation that is replaced while
it is linked is linked again from its successor. The records are copied by SQLite itself.
"""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.checksums import CHECKSUMS
from bythebook.adapters.sql.engine.address import RECORDS_FILE
from bythebook.errors import BusyBook, RecordsFailed, StoreFailed

MOST_TRIES = 5  # of a book that is published again and again
_LOCK, _GENERATIONS = "ingest.lock", "generations"
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP}


@contextmanager
def take_snapshot(data_dir: Path) -> Iterator[Path]:
    """Hold a copy of the books and records for the length of a with block."""
    with _make_folder(data_dir) as name:
        folder = Path(name)
        library = BookFolder(data_dir)
        for book_id in library.book_ids():
            _link_book(library.root / book_id, folder / "books" / book_id)
        if (data_dir / RECORDS_FILE).exists():
            _copy_records(data_dir / RECORDS_FILE, folder / RECORDS_FILE)
        yield folder


def _make_folder(data_dir: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=".backup-", dir=data_dir)
    except OSError as error:
        raise StoreFailed(
            f"The data folder {data_dir} cannot be written: {error.strerror or error}.",
            "A backup needs room there for copies of the records; check the disk and who may write.",
        ) from error


def _link_book(book: Path, copy: Path) -> None:
    """Link the files of a book; from the beginning again if it was published meanwhile."""
    for _ in range(MOST_TRIES):
        try:
            for path in _list_files(book):
                place = copy / path.relative_to(book)
                place.parent.mkdir(parents=True, exist_ok=True)
                _link(path, place)
        except FileNotFoundError:
            shutil.rmtree(copy, ignore_errors=True)
            if not (book / "current.json").exists():
                return  # removed meanwhile
        else:
            return
    raise BusyBook(
        f"The book {book.name!r} is published again and again.", "Make the backup later."
    )


def _list_files(book: Path) -> Iterator[Path]:
    """List what belongs to a book, without generations that are still being made."""
    for path in sorted(book.iterdir()):
        if path.name == _GENERATIONS:
            made = (one for one in sorted(path.iterdir()) if (one / CHECKSUMS).exists())
            yield from (file for one in made for file in _walk(one))
        elif path.is_dir():
            yield from _walk(path)
        elif path.name != _LOCK:
            yield path


def _walk(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(path, place)


def _copy_records(file: Path, copy: Path) -> None:
    try:
        with closing(sqlite3.connect(file)) as records, closing(sqlite3.connect(copy)) as target:
            records.backup(target)
    except sqlite3.Error as error:
        raise RecordsFailed(
            f"The records in {file} cannot be copied: {error}.",
            "Check the file with `bythebook doctor`, and the room on the disk.",
        ) from error
