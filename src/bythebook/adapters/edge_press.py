"""Qdrant Edge, written: a new shard folder for each generation, published by the book folder's pointer."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as edge

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.book_json import chunk_to_payload
from bythebook.adapters.edge_shard import (
    DENSE,
    WORDS,
    TermCounts,
    as_store_failed,
    make_bm25,
    shard_config,
)
from bythebook.domain.books import Book, Chunk, Document
from bythebook.errors import StoreFailed, UnknownBook
from bythebook.ports import Embedder, Vector, Vectors

_UPSERT_BATCH = 256
_NOT_WRITTEN = (
    "The new index cannot be written; the old one stays.",
    "Check the room on the disk of the data folder, then run ingest again.",
)


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
        self._bm25 = make_bm25()
        self._ids: list[str] = []
        self._term_counts = TermCounts()
        self.published = False
        self._shard: edge.EdgeShard | None = edge.EdgeShard.create(
            str(home), shard_config(embedder.dimension)
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
            with as_store_failed(*_NOT_WRITTEN):
                self._shard.update(edge.UpdateOperation.upsert_points(points))
            self._ids.extend(chunk.chunk_id for chunk in batch)

    def publish(self, book: Book, documents: Sequence[Document]) -> None:
        """Check the count, keep the texts, switch the pointer, remove older generations."""
        if self._shard is None:
            raise StoreFailed("This generation is closed already.")
        with as_store_failed(*_NOT_WRITTEN):
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
        return edge.Point(chunk.chunk_id, {DENSE: vector.tolist(), WORDS: words}, payload)
