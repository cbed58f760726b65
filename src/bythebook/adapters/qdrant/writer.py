"""The IndexWriter port on a Qdrant server: a collection per generation, published by alias and pointer."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from qdrant_client import models

from bythebook.adapters.edge.shard import TermCounts, make_bm25
from bythebook.adapters.edge.writer import EdgeIndexWriter
from bythebook.adapters.library.book_folder import BookFolder, require_book_id
from bythebook.adapters.library.checksums import DamagedFile
from bythebook.adapters.qdrant.client import MissingCollection, SharedQdrantClient
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.layout import QdrantLayout, book_collection_name, collection_name
from bythebook.adapters.qdrant.owned_collections import OwnedCollections
from bythebook.adapters.qdrant.payload import copy_point, make_point
from bythebook.adapters.qdrant.sidecar_files import (
    load_chunk_ids,
    load_term_counts,
    save_sidecar_files,
    sidecar_folder,
)
from bythebook.domain.books import Book, Chunk, CutDocument, LiveBook
from bythebook.domain.reports import IngestReport
from bythebook.errors import StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Embedder, LoadPicture, Vector, Vectors


class QdrantIndexWriter:
    """Writes each generation to a new collection; the book folder publishes its texts."""

    def __init__(
        self, folder: BookFolder, client: SharedQdrantClient, layout: QdrantLayout
    ) -> None:
        self._folder = folder
        self._client = client
        self._layout = layout
        self._owned = OwnedCollections(folder.root.parent)
        self._files = EdgeIndexWriter(folder)  # reads the files that are not vectors

    @contextmanager
    def open_draft(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> Iterator["QdrantGenerationDraft"]:
        """Lock the book for one run; leaving without publishing changes nothing."""
        with self._folder.hold(book_id) as generations:
            self._sweep(book_id)
            home = generations / generation
            (home / "shard").mkdir(parents=True)
            name = collection_name(book_id, generation)
            self._owned.add(book_id, name)
            collection = Collection(self._client, name)
            draft = QdrantGenerationDraft(self._folder, book_id, collection, embedder, self._layout)
            try:
                yield draft
            finally:
                draft.closed = True
                if not self._folder.is_live(book_id, generation):
                    shutil.rmtree(home, ignore_errors=True)
                with suppress(StoreFailed):  # the next run removes what is left
                    self._sweep(book_id, published=name)

    @contextmanager
    def fill_collection(self, book: Book, dimension: int) -> Iterator[Collection | None]:
        """Yield an empty collection for the live generation, then publish it; None if it is complete."""
        with self._folder.hold(book.book_id):
            if not self._folder.is_live(book.book_id, book.generation):
                raise StoreFailed(
                    f"A new generation of the book {book.book_id!r} was just published.",
                    "Copy it again.",
                )
            collection = Collection(self._client, book_collection_name(book))
            if self._client.run_blocking(_has_all_chunks(collection, book)):
                yield None
                return
            self._owned.add(book.book_id, collection.name)
            try:
                self._client.run_blocking(collection.create(dimension, self._layout))
                yield collection
                _require_count(
                    self._client.run_blocking(collection.count()), book, "Copy it again."
                )
                self._client.run_blocking(collection.point_alias(book.book_id))
            except BaseException:
                with suppress(StoreFailed):
                    self._delete(book.book_id, [collection.name])
                raise

    def require_id(self, book_id: str) -> None:
        """Raise UnknownBook if this cannot be a book's id."""
        require_book_id(book_id)

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        """Return the contents of the live generation; empty for a new book or another embedder."""
        return self._files.live(book_id, embedder)

    def chunk_ids(self, book_id: str) -> frozenset[str]:
        """Return the chunk ids of the live generation; empty for a new book."""
        return self._files.chunk_ids(book_id)

    def require_book(self, book_id: str) -> None:
        """Raise UnknownBook if there is nothing to remove, neither here nor on the server."""
        require_book_id(book_id)
        if not self._owned.names(book_id):
            self._folder.require(book_id)

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations; call again if the server failed in between."""
        require_book_id(book_id)
        names = self._owned.names(book_id)
        if self._folder.holds(book_id) or not names:
            self._folder.remove(book_id)
        self._delete(book_id, names)

    def _sweep(self, book_id: str, published: str = "") -> None:
        """Remove the collections of older and unfinished generations."""
        try:
            live = book_collection_name(self._folder.book(book_id))
        except UnknownBook:
            live = ""
        except StoreFailed:  # the live one is unknown until the next is published
            return
        names = self._owned.names(book_id)
        leftovers = names - {live}
        if leftovers and live in names and live != published:
            with suppress(MissingCollection):  # an interrupted run may have moved the alias
                self._client.run_blocking(Collection(self._client, live).point_alias(book_id))
        self._delete(book_id, leftovers)

    def _delete(self, book_id: str, names: Iterable[str]) -> None:
        for name in names:
            self._client.run_blocking(Collection(self._client, name).delete())
            self._owned.forget(book_id, name)


class QdrantGenerationDraft:
    """A collection that is being written."""

    def __init__(
        self,
        folder: BookFolder,
        book_id: str,
        collection: Collection,
        embedder: Embedder,
        layout: QdrantLayout,
    ) -> None:
        self._folder = folder
        self._book_id = book_id
        self._collection = collection
        self._client = collection.client
        self._model = embedder.model_id
        self._dimension = embedder.dimension
        self._layout = layout
        self._bm25 = make_bm25()
        self._ids: dict[str, None] = {}
        self._term_counts = TermCounts()
        self._is_created = False
        self.closed = False

    def start_from_live(self) -> bool:
        """Start with everything in the live generation; return False, and start empty, if it is damaged."""
        book = self._folder.book(self._book_id)
        try:
            self._copy_live(book)
        except (MissingCollection, DamagedFile, OSError, ValueError, KeyError, TypeError):
            self._ids, self._term_counts, self._is_created = {}, TermCounts(), False
            return False
        return True

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Add chunks with their vectors; a chunk with the same id is replaced."""
        if len(chunks) and vectors.shape != (len(chunks), self._dimension):
            raise WrongEmbedder(
                f"The embedder {self._model} gave vectors of the shape {vectors.shape} where "
                f"({len(chunks)}, {self._dimension}) was expected; the old index stays.",
                "Check the embedder's settings, then run ingest again.",
            )
        collection = self._open_collection()
        points = [self._point(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        self._client.run_blocking(collection.upsert(points))

    def drop(self, chunks: Sequence[Chunk]) -> None:
        """Remove chunks that came from the live generation."""
        if not chunks:
            return
        for chunk in chunks:
            self._term_counts.subtract(self._bm25.embed_document(chunk.search_text).indices)
            del self._ids[chunk.chunk_id]
        self._client.run_blocking(
            self._open_collection().remove([chunk.chunk_id for chunk in chunks])
        )

    def publish(
        self,
        book: Book,
        documents: Sequence[CutDocument],
        report: IngestReport,
        load_picture: LoadPicture,
    ) -> None:
        """Check the count, save the texts, switch alias and pointer; the run then removes older ones."""
        counted = self._client.run_blocking(self._open_collection().count())
        _require_count(counted, book, "Run ingest again.")
        _require_count(len(self._ids), book, "Run ingest again.")
        save_sidecar_files(sidecar_folder(self._folder, book), self._ids, self._term_counts)
        self._client.run_blocking(self._collection.point_alias(self._book_id))
        self.closed = True
        # If this fails, the old generation stays live, and the sweep moves the alias back.
        self._folder.publish(book, documents, report, load_picture)

    def _copy_live(self, book: Book) -> None:
        files = sidecar_folder(self._folder, book)
        self._ids, self._term_counts = load_chunk_ids(files), load_term_counts(files)
        copied = self._client.run_blocking(
            self._copy(Collection(self._client, book_collection_name(book)))
        )
        if not copied == len(self._ids) == self._term_counts.chunks == book.chunks:
            raise ValueError("The live index is incomplete.")

    async def _copy(self, live: Collection) -> int:
        if await live.dimension() != self._dimension:
            raise ValueError("The live index has another vector length.")
        await self._create()
        async for page in live.pages():
            await self._collection.upsert([copy_point(record) for record in page])
        return await self._collection.count()

    def _open_collection(self) -> Collection:
        if self.closed:
            raise StoreFailed("This generation is already closed.")
        if not self._is_created:
            self._client.run_blocking(self._create())
        return self._collection

    async def _create(self) -> None:
        await self._collection.create(self._dimension, self._layout)
        self._is_created = True

    def _point(self, chunk: Chunk, vector: Vector) -> models.PointStruct:
        words = self._bm25.embed_document(chunk.search_text)
        point = make_point(chunk, vector, words, self._model)
        if chunk.chunk_id not in self._ids:  # otherwise its words are already counted
            self._term_counts.add(words.indices)
            self._ids[chunk.chunk_id] = None
        return point


async def _has_all_chunks(collection: Collection, book: Book) -> bool:
    try:
        return await collection.count() == book.chunks
    except MissingCollection:
        return False


def _require_count(counted: int, book: Book, to_do: str) -> None:
    if counted != book.chunks:
        raise StoreFailed(
            f"The new index holds {counted} chunks where {book.chunks} were cut; the old one stays.",
            to_do,
        )
