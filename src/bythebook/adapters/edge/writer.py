"""Qdrant Edge, written: a new shard folder for each generation, published by the book folder's pointer."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as edge

from bythebook.adapters.edge.shard import (
    DENSE,
    INDEX_REVISION,
    WORDS,
    TermCounts,
    as_store_failed,
    make_bm25,
    shard_config,
)
from bythebook.adapters.edge.shard_copies import copy_shard
from bythebook.adapters.library.book_folder import BookFolder, require_book_id
from bythebook.adapters.library.book_json import chunk_to_payload
from bythebook.adapters.library.checksums import DamagedFile, read_file
from bythebook.adapters.library.damage import require_sound_copy
from bythebook.domain.books import Book, Chunk, CutDocument, LiveBook
from bythebook.domain.reports import IngestReport
from bythebook.errors import ByTheBookError, StoreFailed, UnknownBook
from bythebook.ports import Embedder, LoadPicture, Vector, Vectors

_UPSERT_BATCH = 256
_IDS = "chunk_ids.txt"
_REVISION = "revision.txt"
_ROOM = 32_000_000  # bytes that must be free before more is written
_NOT_WRITTEN = (
    "The new index cannot be written; the old one stays.",
    "Check the room on the disk of the data folder, then run ingest again.",
)


def has_shard(folder: BookFolder, book: Book) -> bool:
    """Say whether a book's vectors are in the data folder, and not on a server."""
    return (folder.generation_folder(book) / "shard" / "edge_config.json").is_file()


class EdgeIndexWriter:
    """Makes generations: a new shard folder each, published by the book folder's pointer."""

    def __init__(self, folder: BookFolder) -> None:
        self._folder = folder

    @contextmanager
    def open_draft(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> Iterator["EdgeGenerationDraft"]:
        """Hold the book for one run; on leaving without publishing nothing has changed."""
        with self._folder.hold(book_id) as generations:
            home = generations / generation
            (home / "shard").mkdir(parents=True)
            draft = EdgeGenerationDraft(self._folder, book_id, home / "shard", embedder)
            try:
                yield draft
            finally:
                draft.close()
                if not self._folder.is_live(book_id, generation):
                    shutil.rmtree(home, ignore_errors=True)

    def require_id(self, book_id: str) -> None:
        """Raise UnknownBook if this cannot be a book's id."""
        require_book_id(book_id)

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        """Give what the live generation holds; nothing for a new book or another embedder."""
        ids = self.chunk_ids(book_id)
        try:
            book = self._folder.book(book_id)
            same = book.embedding_model == embedder.model_id
            documents = self._folder.cut_documents(book) if same else {}
        except (UnknownBook, StoreFailed):  # new, or damaged: all is read again
            documents = {}
        known = {chunk.chunk_id for cut in documents.values() for chunk in cut.chunks(book_id)}
        return LiveBook(documents if ids <= known else {}, ids)

    def chunk_ids(self, book_id: str) -> frozenset[str]:
        """Give the ids in the live generation; none for a new book."""
        try:
            live = self._folder.book(book_id)
            ids = read_file(self._folder.generation_folder(live), f"shard/{_IDS}")
            return frozenset(ids.decode("ascii").split())
        except (UnknownBook, StoreFailed, DamagedFile, OSError, ValueError):  # new, or damaged
            return frozenset()

    def require_book(self, book_id: str) -> None:
        """Raise UnknownBook if there is nothing to remove."""
        self._folder.require(book_id)

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations."""
        self._folder.remove(book_id)


class EdgeGenerationDraft:
    """A shard in the making."""

    def __init__(self, folder: BookFolder, book_id: str, home: Path, embedder: Embedder) -> None:
        self._folder = folder
        self._book_id = book_id
        self._home = home
        self._model = embedder.model_id
        self._config = shard_config(embedder.dimension)
        self._bm25 = make_bm25()
        self._ids: dict[str, None] = {}
        self._term_counts = TermCounts()
        self._shard: edge.EdgeShard | None = None
        self._closed = False

    def start_from_live(self) -> bool:
        """Begin with all that the live generation holds; says no, and begins empty, if it is not sound."""
        book = self._folder.book(self._book_id)
        live = self._folder.generation_folder(book) / "shard"
        self._require_room(live)
        try:
            self._take_over(live, book.chunks)
        except (ByTheBookError, DamagedFile, OSError, ValueError, KeyError, TypeError):
            self._forget()
            return False
        return True

    def _take_over(self, live: Path, chunks: int) -> None:
        if (live / _REVISION).read_text("ascii") != INDEX_REVISION:
            raise StoreFailed("The live index is of another form.")
        copy_shard(live, self._home)
        require_sound_copy(live.parent, self._home)
        self._term_counts = TermCounts.load(self._home)
        self._ids = dict.fromkeys((self._home / _IDS).read_text("ascii").split())
        with as_store_failed(*_NOT_WRITTEN):
            self._shard = edge.EdgeShard.load(str(self._home), self._config)
            counted = self._shard.count(edge.CountRequest(exact=True))
        if not counted == len(self._ids) == self._term_counts.chunks == chunks:
            raise StoreFailed("The live index does not hold what it should.")

    def _forget(self) -> None:
        if self._shard is not None:
            self._shard.close()
        self._shard, self._ids, self._term_counts = None, {}, TermCounts()
        shutil.rmtree(self._home)
        self._home.mkdir()

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Put chunks with their vectors in; one of the same id is replaced."""
        self._require_room(self._home)
        shard = self._open_shard()
        for start in range(0, len(chunks), _UPSERT_BATCH):
            batch = chunks[start : start + _UPSERT_BATCH]
            points = [
                self._point(chunk, vector)
                for chunk, vector in zip(batch, vectors[start : start + _UPSERT_BATCH], strict=True)
            ]
            with as_store_failed(*_NOT_WRITTEN):
                shard.update(edge.UpdateOperation.upsert_points(points))

    def drop(self, chunks: Sequence[Chunk]) -> None:
        """Take chunks of the live generation out."""
        if not chunks:
            return
        for chunk in chunks:
            self._term_counts.subtract(self._bm25.embed_document(chunk.search_text).indices)
            del self._ids[chunk.chunk_id]
        with as_store_failed(*_NOT_WRITTEN):
            self._open_shard().update(
                edge.UpdateOperation.delete_points([chunk.chunk_id for chunk in chunks])
            )

    def publish(
        self,
        book: Book,
        documents: Sequence[CutDocument],
        report: IngestReport,
        load_picture: LoadPicture,
    ) -> None:
        """Check the count, keep the texts, switch the pointer, remove older generations."""
        self._require_room(self._home)
        shard = self._open_shard()
        with as_store_failed(*_NOT_WRITTEN):
            shard.optimize()
            shard.flush()
            counted = shard.count(edge.CountRequest(exact=True))
        self.close()
        if counted != book.chunks or len(self._ids) != book.chunks:
            raise StoreFailed(
                f"The new index holds {counted} chunks where {book.chunks} were cut; the old one stays.",
                "Run ingest again.",
            )
        self._term_counts.save(self._home)
        (self._home / _IDS).write_text("\n".join(self._ids), "ascii")
        (self._home / _REVISION).write_text(INDEX_REVISION, "ascii")
        self._folder.publish(book, documents, report, load_picture)

    def _require_room(self, shard: Path) -> None:
        """Refuse in time: a disk that fills up under a mapped file ends the process."""
        used = sum(path.stat().st_blocks * 512 for path in shard.rglob("*") if path.is_file())
        if shutil.disk_usage(self._home).free < _ROOM + used:
            raise StoreFailed(*_NOT_WRITTEN)

    def _open_shard(self) -> edge.EdgeShard:
        if self._closed:
            raise StoreFailed("This generation is closed already.")
        if self._shard is None:
            with as_store_failed(*_NOT_WRITTEN):
                self._shard = edge.EdgeShard.create(str(self._home), self._config)
        return self._shard

    def close(self) -> None:
        """Let go of the shard."""
        self._closed = True
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _point(self, chunk: Chunk, vector: Vector) -> edge.Point:
        words = self._bm25.embed_document(chunk.search_text)
        payload = chunk_to_payload(chunk, self._model)
        chunk_id: str = payload["chunk_id"]
        if chunk_id not in self._ids:  # else its words are counted: an id stands for a context
            self._term_counts.add(words.indices)
            self._ids[chunk_id] = None
        return edge.Point(chunk_id, {DENSE: vector.tolist(), WORDS: words}, payload)
