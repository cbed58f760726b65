"""Qdrant Edge, searched: each process opens its own copy of a generation's shard folder."""

import asyncio
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import qdrant_edge as edge

from bythebook.adapters.edge.query import read_vectors, search_shard
from bythebook.adapters.edge.shard import TermCounts, as_store_failed, make_bm25
from bythebook.adapters.edge.shard_copies import ShardCopies
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.checksums import DamagedFile, load_checksums
from bythebook.adapters.library.damage import (
    OPENING_BYTES,
    as_damaged,
    find_damaged_files,
    make_damaged_error,
    require_sound_copy,
)
from bythebook.adapters.library.vector_rows import ids_by_book, in_order
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk
from bythebook.errors import StoreFailed, UnknownBook
from bythebook.ports import Lookup, Vector, Vectors

_AGAIN = "Try again; if it goes on, run `bythebook doctor --deep`."


class EdgeIndex:
    """Searches the live generations; moves to a new one between two questions."""

    def __init__(
        self, folder: BookFolder, data_dir: Path, *, opening_bytes: int = OPENING_BYTES
    ) -> None:
        self._folder = folder
        self._opening_bytes = opening_bytes  # compared with their sums when a book is opened
        self._bm25 = make_bm25()
        self._copies = ShardCopies(data_dir / "open")
        self._shards: dict[str, _OpenShard] = {}
        self._lock = threading.Lock()

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        """Give the best by either way, each with both scores."""
        return await asyncio.to_thread(self._search, wanted)

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """Give the vectors of chunks that were found, in order; zeros for one no longer there."""
        return await asyncio.to_thread(self._vectors, chunks)

    def close(self) -> None:
        """Close every shard and remove the copies."""
        with self._lock:
            for shard in self._shards.values():
                shard.retire()
            self._shards.clear()
        self._copies.close()

    def _search(self, wanted: Lookup) -> Sequence[Hit]:
        terms = self._bm25.embed_query(wanted.question).indices
        hits: list[Hit] = []
        for book in wanted.books:
            with self._use_shard(book) as opened:
                words = opened.term_counts.weigh(terms)
                hits.extend(search_shard(opened.shard, wanted, words))
        return hits

    def _vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        found: dict[str, Vector] = {}
        for book_id, ids in ids_by_book(chunks).items():
            found |= self._vectors_of_book(book_id, ids)
        return in_order(chunks, found)

    def _vectors_of_book(self, book_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Read what the open generation has, which found the chunks, or else the live one."""
        with self._lock:
            opened = self._shards.get(book_id)
        try:
            live = self._folder.book(book_id)
        except UnknownBook:  # removed since
            return {}
        book = replace(live, generation=opened.generation) if opened else live
        with self._use_shard(book) as shard:
            return read_vectors(shard.shard, ids)

    @contextmanager
    def _use_shard(self, book: Book) -> Iterator["_OpenShard"]:
        with self._lock:
            self._forget_removed()
            opened = self._shard_of(book)
            opened.users += 1
        try:
            with as_store_failed(f"The book {book.book_id!r} cannot be searched just now.", _AGAIN):
                yield opened
        except StoreFailed:
            self._give_up(book.book_id, opened)
            raise
        finally:
            with self._lock:
                opened.leave()

    def _shard_of(self, book: Book) -> "_OpenShard":
        opened = self._shards.get(book.book_id)
        if opened is not None and opened.generation == book.generation:
            return opened
        live = self._folder.newest(book)
        if opened is not None and opened.generation == live.generation:
            return opened
        try:
            fresh = self._open(live)
        except StoreFailed:
            newer = self._folder.newest(book)  # perhaps it was replaced while it was being copied
            if newer.generation == live.generation:
                raise
            fresh = self._open(newer)
        self._shards[book.book_id] = fresh
        if opened is not None:
            opened.retire()
        return fresh

    def _give_up(self, book_id: str, failing: "_OpenShard") -> None:
        """Have the next question open the book again, and so look whether it is damaged."""
        with self._lock:
            if self._shards.get(book_id) is failing:
                del self._shards[book_id]
                failing.retire()

    def _forget_removed(self) -> None:
        """Close what was removed from the library since it was opened."""
        for name in [name for name in self._shards if not self._folder.holds(name)]:
            self._shards.pop(name).retire()

    def _open(self, book: Book) -> "_OpenShard":
        folder = self._folder.generation_folder(book)
        what = f"The index of the book {book.book_id!r} cannot be opened"
        try:
            with self._copies.open_copy(folder / "shard") as copy:
                require_sound_copy(folder, copy, self._opening_bytes)
                with as_store_failed(f"{what}.", _AGAIN):
                    return _OpenShard(copy, book)
        except DamagedFile as error:
            raise make_damaged_error(book, [error]) from error
        except OSError as error:
            if not (folder / "shard").is_dir():
                raise make_damaged_error(book, [DamagedFile("shard", "is missing")]) from error
            raise StoreFailed(
                f"{what}: {error.strerror or 'a failure of the disk'}.",
                "The data folder must be writable and have room: opening copies it.",
            ) from error
        except StoreFailed as error:
            raise self._cause(book, error) from error

    def _cause(self, book: Book, failed: StoreFailed) -> StoreFailed:
        """Tell damage from what may pass: a shard that has changed, or was never summed up, is damaged."""
        folder = self._folder.generation_folder(book)
        with as_damaged(book):
            found = find_damaged_files(folder, book, deep=True)
            is_summed = load_checksums(folder) is not None
        if not found and is_summed:
            return failed
        return make_damaged_error(book, found or [DamagedFile("shard", "cannot be opened")])


class _OpenShard:
    """An open copy of a generation, closed once nobody searches it any more."""

    def __init__(self, copy: Path, book: Book) -> None:
        self.term_counts = TermCounts.load(copy)
        self.shard = edge.EdgeShard.load(str(copy))
        counted = self.shard.count(edge.CountRequest(exact=True))
        if counted != book.chunks:  # a shard with lost files opens, and finds nothing
            self.shard.close()
            raise ValueError(f"{counted} chunks where {book.chunks} were published")
        self.generation = book.generation
        self.users = 0
        self._copy = copy
        self._retired = False

    def retire(self) -> None:
        self._retired = True
        self._close_if_idle()

    def leave(self) -> None:
        self.users -= 1
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._retired and self.users == 0:
            self.shard.close()
            shutil.rmtree(self._copy, ignore_errors=True)
