"""The ChunkIndex port on a Qdrant server: searches the collection of each book's live generation."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bythebook.adapters.edge.shard import TermCounts, make_bm25
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.damage import as_damaged
from bythebook.adapters.library.vector_rows import ids_by_book, in_order
from bythebook.adapters.qdrant.client import MissingCollection, SharedQdrantClient
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.layout import QdrantLayout, book_collection_name
from bythebook.adapters.qdrant.payload import to_sparse_vector
from bythebook.adapters.qdrant.query import search_collection
from bythebook.adapters.qdrant.sidecar_files import load_term_counts, sidecar_folder
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk
from bythebook.errors import StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Lookup, Vector, Vectors

_BOOKS_AT_ONCE = 4
T = TypeVar("T")


class QdrantIndex:
    """Searches the live generations; switches to a new one between two questions."""

    def __init__(
        self, folder: BookFolder, client: SharedQdrantClient, layout: QdrantLayout
    ) -> None:
        self._folder = folder
        self._client = client
        self._layout = layout
        self._bm25 = make_bm25()
        self._known: dict[str, _KnownGeneration] = {}

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        """Return the best chunks by meaning and by words, each with both scores."""
        return await self._client.run(self._search(wanted))

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """Return the vectors of chunks, in order; zeros for a chunk that no longer exists."""
        return await self._client.run(self._vectors(chunks))

    def close(self) -> None:
        """Close the client; the next question connects again."""
        self._client.close()

    async def _search(self, wanted: Lookup) -> Sequence[Hit]:
        self._forget_removed()
        terms = self._bm25.embed_query(wanted.question).indices
        params = self._layout.search_params()
        room = asyncio.Semaphore(_BOOKS_AT_ONCE)

        async def search(known: "_KnownGeneration") -> list[Hit]:
            known.require_dimension(len(wanted.vector))
            words = to_sparse_vector(known.term_counts.weigh(terms))
            return await search_collection(known.collection, wanted, words, params)

        async def search_book(book: Book) -> list[Hit]:
            async with room:
                return await self._use_generation(book, search)

        found = await asyncio.gather(*map(search_book, wanted.books))
        return [hit for hits in found for hit in hits]

    async def _vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        found: dict[str, Vector] = {}
        for book_id, ids in ids_by_book(chunks).items():
            found |= await self._read_book_vectors(book_id, ids)
        return in_order(chunks, found)

    async def _read_book_vectors(self, book_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Read from the generation that found the chunks, else from the live one."""
        try:
            live = self._folder.book(book_id)
        except UnknownBook:  # removed meanwhile
            return {}
        known = self._known.get(book_id)
        book = replace(live, generation=known.generation) if known else live
        return await self._use_generation(book, lambda known: known.collection.vectors(ids))

    async def _use_generation(
        self, book: Book, use: Callable[["_KnownGeneration"], Awaitable[T]]
    ) -> T:
        """Use a book's generation; try again if it was replaced meanwhile."""
        while True:
            known = await self._find_generation(book)
            try:
                return await use(known)
            except MissingCollection as error:
                self._known.pop(book.book_id, None)
                if self._folder.newest(book).generation == known.generation:
                    raise _make_missing_error(book) from error
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise _make_unreadable_error(book) from error

    async def _find_generation(self, book: Book) -> "_KnownGeneration":
        known = self._known.get(book.book_id)
        if known is not None and known.generation == book.generation:
            return known
        live = self._folder.newest(book)
        if known is not None and known.generation == live.generation:
            return known
        try:
            fresh = await self._inspect(live)
        except StoreFailed:
            newer = self._folder.newest(book)  # it may have been replaced meanwhile
            if newer.generation == live.generation:
                raise
            fresh = await self._inspect(newer)
        self._known[book.book_id] = fresh
        return fresh

    async def _inspect(self, book: Book) -> "_KnownGeneration":
        """Load what a search needs, and check that the server has the whole generation."""
        collection = Collection(self._client, book_collection_name(book))
        try:
            counted, dimension = await collection.count(), await collection.dimension()
        except MissingCollection as error:
            raise _make_missing_error(book) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _make_unreadable_error(book) from error
        with as_damaged(book):
            counts = await asyncio.to_thread(load_term_counts, sidecar_folder(self._folder, book))
        if counted != book.chunks:
            raise StoreFailed(
                f"The Qdrant server holds {counted} chunks of the book {book.book_id!r} "
                f"where {book.chunks} were published.",
                "Copy the book there again, or ingest it again.",
            )
        return _KnownGeneration(book.book_id, book.generation, collection, dimension, counts)

    def _forget_removed(self) -> None:
        for name in [name for name in self._known if not self._folder.holds(name)]:
            del self._known[name]


@dataclass(frozen=True, slots=True)
class _KnownGeneration:
    """A generation that is complete on the server, with its term counts."""

    book_id: str
    generation: str
    collection: Collection
    dimension: int
    term_counts: TermCounts

    def require_dimension(self, dimension: int) -> None:
        if dimension != self.dimension:
            raise WrongEmbedder(
                f"The book {self.book_id!r} has vectors of {self.dimension} numbers on the Qdrant "
                f"server, but questions are embedded into {dimension}.",
                f"Ingest {self.book_id!r} again, or set the embedder it was indexed with.",
            )


def _make_unreadable_error(book: Book) -> StoreFailed:
    return StoreFailed(
        f"The data of the book {book.book_id!r} on the Qdrant server cannot be read.",
        "Ingest the book again.",
    )


def _make_missing_error(book: Book) -> StoreFailed:
    missing = StoreFailed(
        f"The Qdrant server does not have the published generation of the book {book.book_id!r}.",
        "Copy an embedded index there with `bythebook books copy --to URL`, or ingest the book again.",
    )
    missing.retryable = False
    return missing
