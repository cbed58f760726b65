"""Published books on disk: a pointer per book, its generations, and the texts in them.

books/<book>/current.json                the pointer: the live generation's manifest
books/<book>/ingest.lock                 held while a run makes a new generation
books/<book>/generations/<generation>/   shard/, documents/, cuts/, pictures/, contents.json, report.json,
                                         checksums.json
books/<book>/older/                      what newer generations changed of older ones
"""

import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TypeVar

from bythebook.adapters.library.book_json import book_from_json, book_to_json, report_to_json
from bythebook.adapters.library.checksums import (
    CHECKSUMS,
    DamagedFile,
    checksums_text,
    load_checksums,
    read_file,
)
from bythebook.adapters.library.damage import as_damaged, find_damaged_files, make_damaged_error
from bythebook.adapters.library.generation_files import (
    load_cuts,
    load_document,
    load_report,
    read_contents,
    replace_file,
    sync_folder,
    write_documents,
)
from bythebook.adapters.library.older_texts import (
    OLDER,
    keep_older_text,
    list_older_texts,
    load_older_text,
    prune_older_texts,
    purge_older_texts,
)
from bythebook.adapters.library.picture_files import PICTURE_NAME, PICTURES, write_pictures
from bythebook.domain.books import Book, CutDocument, Document, OlderGeneration
from bythebook.domain.reports import IngestReport
from bythebook.errors import BusyBook, DamagedBook, StoreFailed, UnknownBook, UnknownDocument
from bythebook.ports import LoadPicture

T = TypeVar("T")
_BOOK_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class BookFolder:
    """The library of the embedded default."""

    def __init__(self, data_dir: Path, older_text_mb: int = 20) -> None:
        self.root = data_dir / "books"
        self._older_bytes = older_text_mb * 1_000_000
        self._load = lru_cache(maxsize=256)(load_document)

    def book_ids(self) -> list[str]:
        """Return the ids of all books, sound or not; a folder of another name is no book."""
        names = (path.parent.name for path in self.root.glob("*/current.json"))
        return sorted(name for name in names if _BOOK_ID.fullmatch(name))

    def books(self) -> Sequence[Book]:
        """Give every published book, by id."""
        return [book for name in self.book_ids() if (book := self._current(name)) is not None]

    def book(self, book_id: str) -> Book:
        """Give one, or raise UnknownBook."""
        book = self._current(book_id) if _BOOK_ID.fullmatch(book_id) else None
        if book is None:
            raise _unknown(book_id)
        return book

    def newest(self, book: Book) -> Book:
        """Read the pointer again: a book may have been published again since."""
        try:
            return self.book(book.book_id)
        except UnknownBook:
            return book

    def holds(self, book_id: str) -> bool:
        """Say whether there is such a book, sound or not."""
        return (self.root / book_id / "current.json").exists()

    def documents(self, book_id: str) -> Sequence[Document]:
        """Give the documents of the live generation in reading order."""
        return self._settled(book_id, self._all_documents)

    def document(self, book_id: str, document_id: str) -> Document:
        """Give one, or raise UnknownDocument."""

        def find(folder: Path) -> Document:
            for entry in read_contents(folder):
                if entry["document_id"] == document_id:
                    return self._load(folder, entry["file"])
            raise UnknownDocument(f"The book {book_id!r} has no page {document_id!r}.")

        return self._settled(book_id, find)

    def picture(self, book_id: str, file: str) -> bytes:
        """Give a picture of the live generation, or raise UnknownDocument."""
        if not PICTURE_NAME.fullmatch(file):
            raise _no_picture(book_id, file)

        def find(folder: Path) -> bytes:
            if not (folder / PICTURES / file).is_file():
                raise _no_picture(book_id, file)
            return read_file(folder, f"{PICTURES}/{file}")

        return self._settled(book_id, find)

    def older_generations(self, book_id: str) -> Sequence[str]:
        """Give the older generations of which text is kept, newest first."""
        live = self.book(book_id).generation
        names = list_older_texts(self.root / book_id / OLDER)
        return [
            name for name in names if name != live
        ]  # one is, if a run was killed before it published

    def older_text(self, book_id: str, generation: str) -> OlderGeneration | None:
        """Give what is kept of an older generation; None if nothing can be read."""
        return load_older_text(self.root / book_id / OLDER, generation)

    def purge(self, book_id: str) -> int:
        """Remove the text of older generations for good; gives of how many."""
        self.require(book_id)
        with self.hold(book_id):
            return purge_older_texts(self.root / book_id / OLDER)

    def report(self, book_id: str) -> IngestReport:
        """Give the report of the run that made the live generation."""
        return self._settled(book_id, load_report)

    def _settled(self, book_id: str, read: Callable[[Path], T]) -> T:
        """Read from the live generation; once more if another took its place meanwhile."""
        book = self.book(book_id)
        try:
            with as_damaged(book):
                return read(self.generation_folder(book))
        except StoreFailed:
            newer = self.book(book_id)
            if newer == book:
                raise
            with as_damaged(newer):
                return read(self.generation_folder(newer))

    def _all_documents(self, folder: Path) -> Sequence[Document]:
        return [self._load(folder, entry["file"]) for entry in read_contents(folder)]

    def cut_documents(self, book: Book) -> dict[str, CutDocument]:
        """Give the documents of a generation with their cuts, by fingerprint."""
        folder = self.generation_folder(book)
        with as_damaged(book):
            return {
                entry["fingerprint"]: CutDocument(
                    entry["fingerprint"],
                    load_document(folder, entry["file"]),
                    load_cuts(folder, entry["file"]),
                )
                for entry in read_contents(folder)
            }

    def has_checksums(self, book: Book) -> bool:
        """Say whether what a generation held is known; it is not of those made by earlier versions."""
        with as_damaged(book):
            return load_checksums(self.generation_folder(book)) is not None

    def damage(self, book_id: str, *, deep: bool = False) -> DamagedBook | None:
        """Look for damage to the live generation: at sizes, which is done in no time, or at every byte."""
        try:
            book = self.book(book_id)
        except DamagedBook as error:
            return error
        with as_damaged(book):
            found = find_damaged_files(self.generation_folder(book), book, deep=deep)
        if not found:
            return None
        if self.newest(book) != book:  # what is gone was replaced meanwhile
            return self.damage(book_id, deep=deep)
        return make_damaged_error(book, found)

    def generation_folder(self, book: Book) -> Path:
        """Give the folder of a published generation."""
        return self.root / book.book_id / "generations" / book.generation

    @contextmanager
    def hold(self, book_id: str) -> Iterator[Path]:
        """Hold a book for one run, and give the folder its generations are in."""
        require_book_id(book_id)
        folder = self.root / book_id
        generations = folder / "generations"
        generations.mkdir(parents=True, exist_ok=True)
        with (folder / "ingest.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise _busy(book_id) from error
            if not _is_in_place(
                lock, folder / "ingest.lock"
            ):  # its holder removed the book just now
                raise _busy(book_id)
            self._sweep(book_id)  # what a killed run left behind
            try:
                yield generations
            finally:
                if folder.is_dir() and not self.holds(book_id):
                    self._throw_away(folder)  # nothing came of it

    def publish(
        self,
        book: Book,
        documents: Sequence[CutDocument],
        report: IngestReport,
        load_picture: LoadPicture,
    ) -> None:
        """Keep texts and pictures, switch the pointer, remove older generations."""
        folder = self.generation_folder(book)
        taken_over = write_documents(folder, documents, self._kept_files(book.book_id, report))
        live = self._live_folder(book.book_id)
        taken_over |= write_pictures(folder, documents, live, load_picture)
        replace_file(folder / "report.json", json.dumps(report_to_json(report), ensure_ascii=False))
        replace_file(folder / CHECKSUMS, checksums_text(folder))
        sync_folder(folder, taken_over)
        self._keep_older_text(book.book_id, documents)
        replace_file(
            self.root / book.book_id / "current.json", json.dumps(book_to_json(book), indent=1)
        )
        prune_older_texts(self.root / book.book_id / OLDER, self._older_bytes)
        self._sweep(book.book_id)

    def _keep_older_text(self, book_id: str, documents: Sequence[CutDocument]) -> None:
        with suppress(StoreFailed, DamagedFile):  # damaged: there is nothing to keep
            live = self._current(book_id)
            if live and self._older_bytes:
                folder = self.root / book_id / OLDER
                keep_older_text(folder, live, self.generation_folder(live), documents)

    def _live_folder(self, book_id: str) -> Path | None:
        try:
            live = self._current(book_id)
        except StoreFailed:
            return None
        return self.generation_folder(live) if live else None

    def _kept_files(self, book_id: str, report: IngestReport) -> dict[str, Path]:
        """Find where the live generation has the documents that the new one takes over."""
        kept = {document.document_id for document in report.documents if document.kept}
        if not kept:
            return {}
        folder = self.generation_folder(self.book(book_id))
        return {
            entry["fingerprint"]: folder / "documents" / entry["file"]
            for entry in read_contents(folder)
            if entry["document_id"] in kept
        }

    def require(self, book_id: str) -> None:
        """Raise UnknownBook if there is no such book, sound or not."""
        if not (_BOOK_ID.fullmatch(book_id) and self.holds(book_id)):
            raise _unknown(book_id)

    def remove(self, book_id: str) -> None:
        """Remove a book, a damaged one too: the pointer first, so that readers never see half."""
        self.require(book_id)
        with self.hold(book_id):
            (self.root / book_id / "current.json").unlink(missing_ok=True)
            self._throw_away(self.root / book_id)

    def is_live(self, book_id: str, generation: str) -> bool:
        """Say whether the pointer names a generation, or cannot be read, and so may."""
        try:
            live = self._current(book_id)
        except StoreFailed:
            return True
        return live is not None and live.generation == generation

    def _throw_away(self, folder: Path) -> None:
        """Remove a folder in one step, so that a run that begins just now finds none of it."""
        aside = self.root / f".removed-{uuid.uuid4().hex}"
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def _current(self, book_id: str) -> Book | None:
        try:
            return book_from_json(
                json.loads((self.root / book_id / "current.json").read_text("utf-8"))
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreFailed(
                f"The pointer of the book {book_id!r} cannot be read: {error.strerror or error}.",
                "Check the disk of the data folder, and who may read it.",
            ) from error
        except (ValueError, TypeError) as error:
            raise DamagedBook(book_id, "current.json cannot be read") from error

    def _sweep(self, book_id: str) -> None:
        try:
            live = self._current(book_id)
        except StoreFailed:  # which one is live is not known; the next to be published settles it
            return
        with suppress(OSError):  # what stays is swept by the next run
            for folder in (self.root / book_id / "generations").iterdir():
                if live is None or folder.name != live.generation:
                    shutil.rmtree(folder, ignore_errors=True)


def require_book_id(book_id: str) -> None:
    """Raise UnknownBook if this cannot be a book's id."""
    if not _BOOK_ID.fullmatch(book_id):
        raise UnknownBook(
            f"{book_id!r} cannot be a book's id.",
            "Use lower-case letters, digits, - and _, at most 64, beginning with a letter or digit.",
        )


def _unknown(book_id: str) -> UnknownBook:
    return UnknownBook(
        f"There is no book {book_id!r}.", "`bythebook books list` shows those there are."
    )


def _no_picture(book_id: str, file: str) -> UnknownDocument:
    return UnknownDocument(f"The book {book_id!r} has no picture {file!r}.")


def _busy(book_id: str) -> BusyBook:
    return BusyBook(
        f"Another run is working on the book {book_id!r}.", "Wait for it to end, then run again."
    )


def _is_in_place(lock: IO[str], path: Path) -> bool:
    try:
        return path.stat().st_ino == os.fstat(lock.fileno()).st_ino
    except FileNotFoundError:
        return False
