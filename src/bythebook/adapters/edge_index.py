"""Qdrant Edge: a shard folder per generation, searched in the process that opened its own copy."""

import asyncio
import json
import math
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.book_json import chunk_from_payload, chunk_to_payload
from bythebook.adapters.shard_copies import ShardCopies
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk, Document
from bythebook.errors import ByTheBookError, StoreFailed, UnknownBook
from bythebook.ports import Embedder, Vector, Vectors

_DENSE = "dense"
_WORDS = "words"
_UPSERT_BATCH = 256
_NOT_WRITTEN = (
    "The new index cannot be written; the old one stays.",
    "Check the room on the disk of the data folder, then run ingest again.",
)
# A term counts nearly as much once as often, and length hardly at all: chunks are of one size.
_SATURATION, _LENGTH, _AVERAGE_TERMS = 0.3, 0.3, 100.0
_UNHEARD = (
    3.0  # rarity granted to what a question leaves unsaid: "how old are you" has but one term
)


@contextmanager
def _as_store_failed(what: str, help_message: str) -> Iterator[None]:
    """Say in our words what Qdrant Edge says by bare exceptions and by panics."""
    try:
        yield
    except (ByTheBookError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise StoreFailed(what, help_message) from error


def _bm25() -> edge.Bm25:
    config = edge.Bm25Config(language="english", k=_SATURATION, b=_LENGTH, avg_len=_AVERAGE_TERMS)
    return edge.Bm25(config)


class _TermCounts:
    """In how many chunks of a generation each term stands: what makes BM25 comparable across questions."""

    FILE = "term_counts.json"

    def __init__(self, chunks: int = 0, counts: dict[int, int] | None = None) -> None:
        self.chunks = chunks
        self.counts: Counter[int] = Counter(counts or {})

    def add(self, terms: Sequence[int]) -> None:
        self.chunks += 1
        self.counts.update(terms)

    def save(self, folder: Path) -> None:
        values = {"chunks": self.chunks, "counts": self.counts}
        (folder / self.FILE).write_text(json.dumps(values), "ascii")

    @classmethod
    def load(cls, folder: Path) -> "_TermCounts":
        values = json.loads((folder / cls.FILE).read_text("ascii"))
        return cls(values["chunks"], {int(term): count for term, count in values["counts"].items()})

    def weigh(self, terms: Sequence[int]) -> edge.SparseVector:
        """Weigh a question's terms so that a chunk with all of them, often, comes near 1."""
        rarity = [self._rarity(term) for term in terms]
        most = (sum(rarity) + _UNHEARD) * (_SATURATION + 1)
        return edge.SparseVector(list(terms), [value / most for value in rarity])

    def _rarity(self, term: int) -> float:
        count = self.counts.get(term, 0)
        return math.log(1 + (self.chunks - count + 0.5) / (count + 0.5))


class EdgeIndex:
    """Searches the live generations; moves to a new one between two questions."""

    def __init__(self, folder: BookFolder, data_dir: Path) -> None:
        self._folder = folder
        self._bm25 = _bm25()
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
            opened = self._shard_of(book)
            opened.users += 1
        try:
            with _as_store_failed("The book cannot be searched just now.", "Try again."):
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
        with _as_store_failed(what, remedy), self._copies.taken(source) as copy:
            return _OpenShard(copy, book)


class _OpenShard:
    """An open copy of a generation, closed once nobody searches it any more."""

    def __init__(self, copy: Path, book: Book) -> None:
        self.term_counts = _TermCounts.load(copy)
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
    for value, name, ids in ((vector, _DENSE, dense_ids), (words, _WORDS, word_ids)):
        chosen = None if ids is None else edge.Filter(must=[edge.HasIdCondition(set(ids))])
        size = limit if ids is None else max(1, len(ids))
        query = edge.Query.Nearest(value, using=name)
        requests.append(edge.QueryRequest(limit=size, query=query, filter=chosen))
    return shard.query_batch(edge.QueryBatchRequest(requests))


class EdgePress:
    """Makes generations: a new shard folder each, published by the book folder's pointer."""

    def __init__(self, folder: BookFolder) -> None:
        self._folder = folder

    @contextmanager
    def edition(self, book_id: str, generation: str, embedder: Embedder) -> Iterator["EdgeEdition"]:
        """Hold the book for one run; on leaving without publishing nothing has changed."""
        with self._folder.hold(book_id) as generations:
            home = generations / generation
            (home / "shard").mkdir(parents=True)
            edition = EdgeEdition(self._folder, home / "shard", embedder)
            try:
                yield edition
            finally:
                edition.close()
                if not edition.published:
                    shutil.rmtree(home, ignore_errors=True)

    def chunk_ids(self, book_id: str) -> frozenset[str]:
        """Give the ids in the live generation; none for a new book."""
        try:
            live = self._folder.book(book_id)
            ids = self._folder.generation_folder(live) / "shard" / "chunk_ids.txt"
            return frozenset(ids.read_text("ascii").split())
        except (UnknownBook, StoreFailed, OSError, ValueError):  # new, or damaged: all is added
            return frozenset()

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations."""
        self._folder.remove(book_id)


class EdgeEdition:
    """A shard in the making."""

    def __init__(self, folder: BookFolder, home: Path, embedder: Embedder) -> None:
        self._folder = folder
        self._home = home
        self._model = embedder.model_id
        self._bm25 = _bm25()
        self._ids: list[str] = []
        self._term_counts = _TermCounts()
        self.published = False
        self._shard: edge.EdgeShard | None = edge.EdgeShard.create(
            str(home), _shard_config(embedder.dimension)
        )

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Put chunks with their vectors into the new generation."""
        if self._shard is None:
            raise StoreFailed("This generation is closed already.")
        for start in range(0, len(chunks), _UPSERT_BATCH):
            batch = chunks[start : start + _UPSERT_BATCH]
            points = [
                self._point(chunk, vector)
                for chunk, vector in zip(batch, vectors[start : start + _UPSERT_BATCH], strict=True)
            ]
            with _as_store_failed(*_NOT_WRITTEN):
                self._shard.update(edge.UpdateOperation.upsert_points(points))
            self._ids.extend(chunk.chunk_id for chunk in batch)

    def publish(self, book: Book, documents: Sequence[Document]) -> None:
        """Check the count, keep the texts, switch the pointer, remove older generations."""
        if self._shard is None:
            raise StoreFailed("This generation is closed already.")
        with _as_store_failed(*_NOT_WRITTEN):
            self._shard.optimize()
            self._shard.flush()
            counted = self._shard.count(edge.CountRequest(exact=True))
        self.close()
        if counted != book.chunks or len(set(self._ids)) != book.chunks:
            raise StoreFailed(
                f"The new index holds {counted} chunks where {book.chunks} were cut; the old one stays.",
                "Run ingest again.",
            )
        self._term_counts.save(self._home)
        (self._home / "chunk_ids.txt").write_text("\n".join(self._ids), "ascii")
        self._folder.publish(book, documents)
        self.published = True

    def close(self) -> None:
        """Let go of the shard."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _point(self, chunk: Chunk, vector: Vector) -> edge.Point:
        words = self._bm25.embed_document(chunk.context)
        self._term_counts.add(words.indices)
        payload = chunk_to_payload(chunk, self._model)
        return edge.Point(chunk.chunk_id, {_DENSE: vector.tolist(), _WORDS: words}, payload)


def _shard_config(dimension: int) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={_DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={_WORDS: edge.EdgeSparseVectorParams()},
        max_search_threads=2,
        wal_enabled=False,  # an unfinished generation is thrown away, a finished one is flushed
    )
