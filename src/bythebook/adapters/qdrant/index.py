"""A Qdrant server, searched: each question by the collection of the generation that its texts are of."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.edge_shard import TermCounts, make_bm25
from bythebook.adapters.qdrant.beside import folder_beside
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.layout import QdrantLayout, collection_of
from bythebook.adapters.qdrant.line import MissingCollection, QdrantLine
from bythebook.adapters.qdrant.payload import sparse
from bythebook.adapters.qdrant.query import search_collection
from bythebook.adapters.vector_rows import ids_by_book, in_order
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk
from bythebook.errors import StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Lookup, Vector, Vectors

_BOOKS_AT_ONCE = 4
T = TypeVar("T")


class QdrantIndex:
    """Searches the live generations; moves to a new one between two questions."""

    def __init__(self, folder: BookFolder, line: QdrantLine, layout: QdrantLayout) -> None:
        self._folder = folder
        self._line = line
        self._layout = layout
        self._bm25 = make_bm25()
        self._known: dict[str, _Known] = {}

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        """Give the best by either way, each with both scores."""
        return await self._line.run(self._search(wanted))

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """Give the vectors of chunks that were found, in order; zeros for one no longer there."""
        return await self._line.run(self._vectors(chunks))

    def close(self) -> None:
        """Close the line; the next question opens it again."""
        self._line.close()

    async def _search(self, wanted: Lookup) -> Sequence[Hit]:
        self._forget_removed()
        terms = self._bm25.embed_query(wanted.question).indices
        params = self._layout.search_params()
        room = asyncio.Semaphore(_BOOKS_AT_ONCE)

        async def search(known: "_Known") -> list[Hit]:
            known.require_dimension(len(wanted.vector))
            words = sparse(known.term_counts.weigh(terms))
            return await search_collection(known.collection, wanted, words, params)

        async def search_book(book: Book) -> list[Hit]:
            async with room:
                return await self._settled(book, search)

        found = await asyncio.gather(*map(search_book, wanted.books))
        return [hit for hits in found for hit in hits]

    async def _vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        found: dict[str, Vector] = {}
        for book_id, ids in ids_by_book(chunks).items():
            found |= await self._vectors_of_book(book_id, ids)
        return in_order(chunks, found)

    async def _vectors_of_book(self, book_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Read what the generation has that found the chunks, or else the live one."""
        try:
            live = self._folder.book(book_id)
        except UnknownBook:  # removed since
            return {}
        known = self._known.get(book_id)
        book = replace(live, generation=known.generation) if known else live
        return await self._settled(book, lambda it: it.collection.vectors(ids))

    async def _settled(self, book: Book, use: Callable[["_Known"], Awaitable[T]]) -> T:
        """Use a book's generation; again if another took its place meanwhile."""
        while True:
            known = await self._known_of(book)
            try:
                return await use(known)
            except MissingCollection as error:
                self._known.pop(book.book_id, None)
                if self._folder.newest(book).generation == known.generation:
                    raise _not_there(book) from error
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise StoreFailed(
                    f"What the Qdrant server holds of the book {book.book_id!r} cannot be read.",
                    "Ingest the book again.",
                ) from error

    async def _known_of(self, book: Book) -> "_Known":
        known = self._known.get(book.book_id)
        if known is not None and known.generation == book.generation:
            return known
        live = self._folder.newest(book)
        if known is not None and known.generation == live.generation:
            return known
        try:
            fresh = await self._look(live)
        except StoreFailed:
            newer = self._folder.newest(book)  # perhaps it was replaced while it was looked at
            if newer.generation == live.generation:
                raise
            fresh = await self._look(newer)
        self._known[book.book_id] = fresh
        return fresh

    async def _look(self, book: Book) -> "_Known":
        """Learn what searching a generation needs, and see that the server has all of it."""
        collection = Collection(self._line, collection_of(book))
        try:
            counted, dimension = await collection.count(), await collection.dimension()
            counts = await asyncio.to_thread(TermCounts.load, folder_beside(self._folder, book))
        except MissingCollection as error:
            raise _not_there(book) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreFailed(
                f"The term counts of the book {book.book_id!r} cannot be read.",
                "Ingest the book again.",
            ) from error
        if counted != book.chunks:
            raise StoreFailed(
                f"The Qdrant server holds {counted} chunks of the book {book.book_id!r} "
                f"where {book.chunks} were published.",
                "Copy the book there again, or ingest it again.",
            )
        return _Known(book.book_id, book.generation, collection, dimension, counts)

    def _forget_removed(self) -> None:
        for name in [name for name in self._known if not self._folder.holds(name)]:
            del self._known[name]


@dataclass(frozen=True, slots=True)
class _Known:
    """A generation that the server was seen to hold, and what makes its words comparable."""

    book_id: str
    generation: str
    collection: Collection
    dimension: int
    term_counts: TermCounts

    def require_dimension(self, asked: int) -> None:
        if asked != self.dimension:
            raise WrongEmbedder(
                f"The book {self.book_id!r} has vectors of {self.dimension} numbers on the Qdrant "
                f"server, but questions are embedded into {asked}.",
                f"Ingest {self.book_id!r} again, or set the embedder it was indexed by.",
            )


def _not_there(book: Book) -> StoreFailed:
    told = StoreFailed(
        f"The Qdrant server does not have the book {book.book_id!r} as it was published.",
        "Copy an embedded index there by `bythebook books copy --to URL`, or ingest the book again.",
    )
    told.retryable = False
    return told
