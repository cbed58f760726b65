"""Settings -> the index and its writer: embedded, or on a Qdrant server."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bythebook.adapters.edge.index import EdgeIndex
from bythebook.adapters.edge.writer import EdgeIndexWriter, has_shard
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.domain.books import Book
from bythebook.settings import Settings

if TYPE_CHECKING:
    from bythebook.adapters.qdrant.client import SharedQdrantClient
    from bythebook.adapters.qdrant.index import QdrantIndex
    from bythebook.adapters.qdrant.layout import QdrantLayout
    from bythebook.adapters.qdrant.writer import QdrantIndexWriter


def make_index(
    settings: Settings, library: BookFolder, client: "SharedQdrantClient | None"
) -> "EdgeIndex | QdrantIndex":
    """Make the index that finds chunks."""
    if client is None:
        return EdgeIndex(library, settings.data_dir)
    from bythebook.adapters.qdrant.index import QdrantIndex

    return QdrantIndex(library, client, _layout(settings))


def make_index_writer(
    settings: Settings, library: BookFolder, client: "SharedQdrantClient | None"
) -> "EdgeIndexWriter | QdrantIndexWriter":
    """Make the writer that publishes and removes generations."""
    if client is None:
        return EdgeIndexWriter(library)
    from bythebook.adapters.qdrant.writer import QdrantIndexWriter

    return QdrantIndexWriter(library, client, _layout(settings))


def make_qdrant_client(settings: Settings, url: str) -> "SharedQdrantClient":
    """Make a client of a Qdrant server, with the key that is set."""
    from bythebook.adapters.qdrant.client import SharedQdrantClient

    return SharedQdrantClient.for_url(url, settings.qdrant_api_key.get_secret_value())


async def copy_to_qdrant(
    book: Book,
    url: str,
    settings: Settings,
    library: BookFolder,
    index: "Callable[[], EdgeIndex | QdrantIndex]",
    on_copied: Callable[[int, int], None],
) -> bool:
    """Copy a book to a Qdrant server without embedding it; False if it was already there."""
    from bythebook.adapters.qdrant.copy import copy_book
    from bythebook.adapters.qdrant.writer import QdrantIndexWriter

    here = has_shard(library, book)  # also where a server is set, which may not have it
    source = EdgeIndex(library, settings.data_dir) if here else index()
    client = make_qdrant_client(settings, url)
    try:
        writer = QdrantIndexWriter(library, client, _layout(settings))
        return await copy_book(book, library, source, writer, on_copied)
    finally:
        client.close()
        source.close()


def _layout(settings: Settings) -> "QdrantLayout":
    from bythebook.adapters.qdrant.layout import QdrantLayout

    return QdrantLayout(
        settings.qdrant_shards,
        settings.qdrant_replicas,
        settings.qdrant_quantisation,
        settings.qdrant_on_disk,
    )
