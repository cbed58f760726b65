"""Copies an index to a Qdrant server without embedding again: vectors are read and written as they are."""

from collections.abc import Callable, Iterator, Sequence

from bythebook.adapters.edge.shard import make_bm25
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.checksums import DamagedFile
from bythebook.adapters.qdrant.collection import BATCH
from bythebook.adapters.qdrant.payload import make_point
from bythebook.adapters.qdrant.sidecar_files import load_chunk_ids, sidecar_folder
from bythebook.adapters.qdrant.writer import QdrantIndexWriter
from bythebook.domain.books import Book, Chunk
from bythebook.errors import StoreFailed
from bythebook.ports import ChunkIndex, Vectors

OnCopied = Callable[[int, int], None]  # chunks copied, of how many


async def copy_book(
    book: Book,
    folder: BookFolder,
    source: ChunkIndex,
    writer: QdrantIndexWriter,
    on_copied: OnCopied,
) -> bool:
    """Copy the live generation of a book to a server and publish it; False if it was already there.

    The pointer, the texts and the term counts stay as they are: both indexes can answer questions.
    """
    chunks = _list_indexed_chunks(book, folder)
    dimension = (await _vectors(source, chunks[:1], book)).shape[1]
    bm25 = make_bm25()
    with writer.fill_collection(book, dimension) as collection:
        if collection is None:
            return False
        on_copied(0, len(chunks))
        for done, batch in _batches(chunks):
            vectors = await _vectors(source, batch, book)
            points = [
                make_point(
                    chunk, vector, bm25.embed_document(chunk.search_text), book.embedding_model
                )
                for chunk, vector in zip(batch, vectors, strict=True)
            ]
            await collection.client.run(collection.upsert(points))
            on_copied(done, len(chunks))
    return True


def _list_indexed_chunks(book: Book, folder: BookFolder) -> list[Chunk]:
    """Cut the texts again as they were cut; a repeated chunk was indexed once."""
    try:
        ids = load_chunk_ids(sidecar_folder(folder, book))
    except (DamagedFile, OSError, ValueError) as error:
        raise _make_damage_error(book) from error
    chunks: dict[str, Chunk] = {}
    for cut in folder.cut_documents(book).values():
        for chunk in cut.chunks(book.book_id):
            if chunk.chunk_id in ids:
                chunks.setdefault(chunk.chunk_id, chunk)
    if not len(chunks) == len(ids) == book.chunks:
        raise _make_damage_error(book)
    return list(chunks.values())


async def _vectors(source: ChunkIndex, chunks: Sequence[Chunk], book: Book) -> Vectors:
    vectors = await source.vectors(chunks)
    if not vectors.any(axis=1).all():  # zeros mean that a chunk is missing
        raise _make_damage_error(book)
    return vectors


def _batches(chunks: Sequence[Chunk]) -> Iterator[tuple[int, Sequence[Chunk]]]:
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        yield start + len(batch), batch


def _make_damage_error(book: Book) -> StoreFailed:
    return StoreFailed(
        f"The index of the book {book.book_id!r} is incomplete.",
        "Ingest the book again, then copy it.",
    )
