"""An index -> a Qdrant server, without embedding again: vectors are read from the one, and put into the other."""

from collections.abc import Callable, Iterator, Sequence

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.edge_shard import make_bm25
from bythebook.adapters.qdrant.beside import folder_beside, load_ids
from bythebook.adapters.qdrant.collection import BATCH
from bythebook.adapters.qdrant.payload import point_of
from bythebook.adapters.qdrant.press import QdrantPress
from bythebook.domain.books import Book, Chunk
from bythebook.errors import StoreFailed
from bythebook.ports import ChunkIndex, Vectors

OnCopied = Callable[[int, int], None]  # chunks copied, of how many


async def copy_book(
    book: Book,
    folder: BookFolder,
    source: ChunkIndex,
    press: QdrantPress,
    on_copied: OnCopied,
) -> bool:
    """Copy the live generation of a book to a server and publish it there; says no if it was there.

    The pointer, the texts and the term counts stay as they are: the book can be asked from either.
    """
    chunks = _indexed_chunks(book, folder)
    dimension = (await _vectors(source, chunks[:1], book)).shape[1]
    bm25 = make_bm25()
    with press.filling(book, dimension) as collection:
        if collection is None:
            return False
        on_copied(0, len(chunks))
        for done, batch in _batches(chunks):
            vectors = await _vectors(source, batch, book)
            points = [
                point_of(chunk, vector, bm25.embed_document(chunk.context), book.embedding_model)
                for chunk, vector in zip(batch, vectors, strict=True)
            ]
            await collection.line.run(collection.put(points))
            on_copied(done, len(chunks))
    return True


def _indexed_chunks(book: Book, folder: BookFolder) -> list[Chunk]:
    """Cut the texts again as they were cut; what was said twice was indexed once."""
    try:
        ids = load_ids(folder_beside(folder, book))
    except (OSError, ValueError) as error:
        raise _unsound(book) from error
    chunks: dict[str, Chunk] = {}
    for cut in folder.cut_documents(book).values():
        for chunk in cut.chunks(book.book_id):
            if chunk.chunk_id in ids:
                chunks.setdefault(chunk.chunk_id, chunk)
    if not len(chunks) == len(ids) == book.chunks:
        raise _unsound(book)
    return list(chunks.values())


async def _vectors(source: ChunkIndex, chunks: Sequence[Chunk], book: Book) -> Vectors:
    vectors = await source.vectors(chunks)
    if not vectors.any(axis=1).all():  # zeros stand for a chunk that is not there
        raise _unsound(book)
    return vectors


def _batches(chunks: Sequence[Chunk]) -> Iterator[tuple[int, Sequence[Chunk]]]:
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        yield start + len(batch), batch


def _unsound(book: Book) -> StoreFailed:
    return StoreFailed(
        f"The index of the book {book.book_id!r} does not hold what it should.",
        "Ingest the book again, then copy it.",
    )
