"""A Qdrant server, written: a collection for each generation, published by an alias and the pointer."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from qdrant_client import models

from bythebook.adapters.book_folder import BookFolder, require_book_id
from bythebook.adapters.edge_press import EdgePress
from bythebook.adapters.edge_shard import TermCounts, make_bm25
from bythebook.adapters.qdrant.beside import folder_beside, load_ids, save_beside
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.layout import QdrantLayout, collection_name, collection_of
from bythebook.adapters.qdrant.line import MissingCollection, QdrantLine
from bythebook.adapters.qdrant.made import MadeCollections
from bythebook.adapters.qdrant.payload import point_again, point_of
from bythebook.domain.books import Book, Chunk, CutDocument, LiveBook
from bythebook.domain.reports import IngestReport
from bythebook.errors import StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Embedder, Vector, Vectors


class QdrantPress:
    """Makes generations: a new collection each, whose texts the book folder publishes."""

    def __init__(self, folder: BookFolder, line: QdrantLine, layout: QdrantLayout) -> None:
        self._folder = folder
        self._line = line
        self._layout = layout
        self._made = MadeCollections(folder.root.parent)
        self._files = EdgePress(folder)  # reads what lies beside the vectors, wherever these are

    @contextmanager
    def edition(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> Iterator["QdrantEdition"]:
        """Hold the book for one run; on leaving without publishing nothing has changed."""
        with self._folder.hold(book_id) as generations:
            self._sweep(book_id)
            home = generations / generation
            (home / "shard").mkdir(parents=True)
            name = collection_name(book_id, generation)
            self._made.add(book_id, name)
            collection = Collection(self._line, name)
            edition = QdrantEdition(self._folder, book_id, collection, embedder, self._layout)
            try:
                yield edition
            finally:
                edition.closed = True
                if not self._folder.is_live(book_id, generation):
                    shutil.rmtree(home, ignore_errors=True)
                with suppress(StoreFailed):  # what stays is swept by the next run
                    self._sweep(book_id, published=name)

    @contextmanager
    def filling(self, book: Book, dimension: int) -> Iterator[Collection | None]:
        """Give a live generation's collection to fill, empty, and publish it; none if it is there."""
        with self._folder.hold(book.book_id):
            if not self._folder.is_live(book.book_id, book.generation):
                raise StoreFailed(
                    f"The book {book.book_id!r} was published anew just now.", "Copy it again."
                )
            collection = Collection(self._line, collection_of(book))
            if self._line.wait(_holds(collection, book)):
                yield None
                return
            self._made.add(book.book_id, collection.name)
            try:
                self._line.wait(collection.create(dimension, self._layout))
                yield collection
                _require_count(self._line.wait(collection.count()), book, "Copy it again.")
                self._line.wait(collection.publish_as(book.book_id))
            except BaseException:
                with suppress(StoreFailed):
                    self._delete(book.book_id, [collection.name])
                raise

    def require_id(self, book_id: str) -> None:
        """Raise UnknownBook if this cannot be a book's id."""
        require_book_id(book_id)

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        """Give what the live generation holds; nothing for a new book or another embedder."""
        return self._files.live(book_id, embedder)

    def chunk_ids(self, book_id: str) -> frozenset[str]:
        """Give the ids in the live generation; none for a new book."""
        return self._files.chunk_ids(book_id)

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations; those that a server kept, when asked again."""
        require_book_id(book_id)
        names = self._made.names(book_id)
        if self._folder.holds(book_id) or not names:
            self._folder.remove(book_id)
        self._delete(book_id, names)

    def _sweep(self, book_id: str, published: str = "") -> None:
        """Remove the collections of older and of unfinished generations."""
        try:
            live = collection_of(self._folder.book(book_id))
        except UnknownBook:
            live = ""
        except StoreFailed:  # which one is live is not known; the next to be published settles it
            return
        names = self._made.names(book_id)
        leftovers = names - {live}
        if leftovers and live in names and live != published:
            with suppress(MissingCollection):  # a run cut off may have left the alias elsewhere
                self._line.wait(Collection(self._line, live).publish_as(book_id))
        self._delete(book_id, leftovers)

    def _delete(self, book_id: str, names: Iterable[str]) -> None:
        for name in names:
            self._line.wait(Collection(self._line, name).delete())
            self._made.forget(book_id, name)


class QdrantEdition:
    """A collection in the making."""

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
        self._line = collection.line
        self._model = embedder.model_id
        self._dimension = embedder.dimension
        self._layout = layout
        self._bm25 = make_bm25()
        self._ids: dict[str, None] = {}
        self._term_counts = TermCounts()
        self._is_made = False
        self.closed = False

    def start_from_live(self) -> bool:
        """Begin with all that the live generation holds; says no, and begins empty, if it is not sound."""
        book = self._folder.book(self._book_id)
        try:
            self._take_over(book)
        except (MissingCollection, OSError, ValueError, KeyError, TypeError):
            self._ids, self._term_counts, self._is_made = {}, TermCounts(), False
            return False
        return True

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Put chunks with their vectors in; one of the same id is replaced."""
        if len(chunks) and vectors.shape != (len(chunks), self._dimension):
            raise WrongEmbedder(
                f"The embedder {self._model} gave vectors of the shape {vectors.shape} where "
                f"({len(chunks)}, {self._dimension}) was due; the old index stays.",
                "Check the embedder's settings, then run ingest again.",
            )
        collection = self._opened()
        points = [self._point(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        self._line.wait(collection.put(points))

    def drop(self, chunks: Sequence[Chunk]) -> None:
        """Take chunks of the live generation out."""
        if not chunks:
            return
        for chunk in chunks:
            self._term_counts.subtract(self._bm25.embed_document(chunk.context).indices)
            del self._ids[chunk.chunk_id]
        self._line.wait(self._opened().take_out([chunk.chunk_id for chunk in chunks]))

    def publish(self, book: Book, documents: Sequence[CutDocument], report: IngestReport) -> None:
        """Check the count, keep the texts, switch alias and pointer; the run then removes older ones."""
        counted = self._line.wait(self._opened().count())
        _require_count(counted, book, "Run ingest again.")
        _require_count(len(self._ids), book, "Run ingest again.")
        save_beside(folder_beside(self._folder, book), self._ids, self._term_counts)
        self._line.wait(self._collection.publish_as(self._book_id))
        self.closed = True
        # Should this fail, the old generation stays the live one, and the sweep puts the alias back.
        self._folder.publish(book, documents, report)

    def _take_over(self, book: Book) -> None:
        place = folder_beside(self._folder, book)
        self._ids, self._term_counts = load_ids(place), TermCounts.load(place)
        copied = self._line.wait(self._copy(Collection(self._line, collection_of(book))))
        if not copied == len(self._ids) == self._term_counts.chunks == book.chunks:
            raise ValueError("The live index does not hold what it should.")

    async def _copy(self, live: Collection) -> int:
        if await live.dimension() != self._dimension:
            raise ValueError("The live index has vectors of another length.")
        await self._make()
        async for page in live.pages():
            await self._collection.put([point_again(record) for record in page])
        return await self._collection.count()

    def _opened(self) -> Collection:
        if self.closed:
            raise StoreFailed("This generation is closed already.")
        if not self._is_made:
            self._line.wait(self._make())
        return self._collection

    async def _make(self) -> None:
        await self._collection.create(self._dimension, self._layout)
        self._is_made = True

    def _point(self, chunk: Chunk, vector: Vector) -> models.PointStruct:
        words = self._bm25.embed_document(chunk.context)
        point = point_of(chunk, vector, words, self._model)
        if (
            chunk.chunk_id not in self._ids
        ):  # else its words are counted: an id stands for a context
            self._term_counts.add(words.indices)
            self._ids[chunk.chunk_id] = None
        return point


async def _holds(collection: Collection, book: Book) -> bool:
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
