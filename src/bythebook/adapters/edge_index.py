"""Qdrant Edge, searched: each process opens its own copy of a generation's shard folder."""

import asyncio
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.book_json import chunk_from_payload
from bythebook.adapters.edge_shard import DENSE, WORDS, TermCounts, as_store_failed, make_bm25
from bythebook.adapters.shard_copies import ShardCopies
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book
from bythebook.errors import StoreFailed, UnknownBook
from bythebook.ports import Vector


class EdgeIndex:
    """Searches the live generations; moves to a new one between two questions."""

    def __init__(self, folder: BookFolder, data_dir: Path) -> None:
        self._folder = folder
        self._bm25 = make_bm25()
        self._copies = ShardCopies(data_dir / "open")
        self._shards: dict[str, _OpenShard] = {}
        self._lock = threading.Lock()

    async def search(
        self, question: str, vector: Vector, books: Sequence[Book], limit: int
    ) -> Sequence[Hit]:
        """Give the best by either way, each with both scores."""
        return await asyncio.to_thread(self._search, question, vector, books, limit)

    def close(self) -> None:
        """Close every shard and remove the copies."""
        with self._lock:
            for shard in self._shards.values():
                shard.retire()
            self._shards.clear()
        self._copies.close()

    def _search(
        self, question: str, vector: Vector, books: Sequence[Book], limit: int
    ) -> Sequence[Hit]:
        terms = self._bm25.embed_query(question).indices
        hits: list[Hit] = []
        for book in books:
            with self._using(book) as opened:
                words = opened.term_counts.weigh(terms)
                hits.extend(_search_shard(opened.shard, vector.tolist(), words, limit))
        return hits

    @contextmanager
    def _using(self, book: Book) -> Iterator["_OpenShard"]:
        with self._lock:
            self._forget_removed()
            opened = self._shard_of(book)
            opened.users += 1
        try:
            with as_store_failed("The book cannot be searched just now.", "Try again."):
                yield opened
        finally:
            with self._lock:
                opened.leave()

    def _shard_of(self, book: Book) -> "_OpenShard":
        opened = self._shards.get(book.book_id)
        if opened is not None and opened.generation == book.generation:
            return opened
        live = self._live(book)
        if opened is not None and opened.generation == live.generation:
            return opened
        try:
            fresh = self._open(live)
        except StoreFailed:
            newer = self._live(book)  # perhaps it was replaced while it was being copied
            if newer.generation == live.generation:
                raise
            fresh = self._open(newer)
        self._shards[book.book_id] = fresh
        if opened is not None:
            opened.retire()
        return fresh

    def _forget_removed(self) -> None:
        """Close what was removed from the library since it was opened."""
        for name in [name for name in self._shards if not self._folder.holds(name)]:
            self._shards.pop(name).retire()

    def _live(self, book: Book) -> Book:
        """Read the pointer again: the book may have been published anew since the caller did."""
        try:
            return self._folder.book(book.book_id)
        except UnknownBook:
            return book

    def _open(self, book: Book) -> "_OpenShard":
        source = self._folder.generation_folder(book) / "shard"
        what = f"The index of the book {book.book_id!r} cannot be opened."
        remedy = "Try again; if it goes on, ingest the book again."
        with as_store_failed(what, remedy), self._copies.taken(source) as copy:
            return _OpenShard(copy, book)


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


def _search_shard(
    shard: edge.EdgeShard, vector: list[float], words: edge.SparseVector, limit: int
) -> Iterator[Hit]:
    """Search by meaning and by words, then score each find by the other way too."""
    dense, sparse = (
        {point.id: point.score for point in points}
        for points in _query(shard, vector, words, limit, None, None)
    )
    more_dense, more_sparse = _query(
        shard, vector, words, limit, sparse.keys() - dense.keys(), dense.keys() - sparse.keys()
    )
    cosines = dense | {point.id: point.score for point in more_dense}
    shares = sparse | {point.id: point.score for point in more_sparse}
    records = shard.retrieve(
        list(dense.keys() | sparse.keys()), with_payload=True, with_vector=False
    )
    for record in records:
        chunk = chunk_from_payload(record.payload or {})
        yield Hit(chunk, float(cosines.get(record.id, 0.0)), float(shares.get(record.id, 0.0)))


def _query(
    shard: edge.EdgeShard,
    vector: list[float],
    words: edge.SparseVector,
    limit: int,
    dense_ids: Any,
    word_ids: Any,
) -> Sequence[Sequence[edge.ScoredPoint]]:
    requests = []
    for value, name, ids in ((vector, DENSE, dense_ids), (words, WORDS, word_ids)):
        chosen = None if ids is None else edge.Filter(must=[edge.HasIdCondition(set(ids))])
        size = limit if ids is None else max(1, len(ids))
        query = edge.Query.Nearest(value, using=name)
        requests.append(edge.QueryRequest(limit=size, query=query, filter=chosen))
    return shard.query_batch(edge.QueryBatchRequest(requests))
