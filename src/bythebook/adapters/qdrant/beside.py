"""What lies in the data folder beside the vectors of a generation: its term counts and its ids.

The files are those of an embedded shard, so that an index that was copied to a server needs no others.
"""

from collections.abc import Collection as Names
from pathlib import Path

from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.edge_shard import INDEX_REVISION, TermCounts
from bythebook.domain.books import Book

_IDS = "chunk_ids.txt"
_REVISION = "revision.txt"


def folder_beside(folder: BookFolder, book: Book) -> Path:
    """Give the place of these files."""
    return folder.generation_folder(book) / "shard"


def load_ids(place: Path) -> dict[str, None]:
    """Read the ids of a generation's chunks; a ValueError where words were weighed otherwise."""
    if (place / _REVISION).read_text("ascii") != INDEX_REVISION:
        raise ValueError("The index is of another form.")
    return dict.fromkeys((place / _IDS).read_text("ascii").split())


def save_beside(place: Path, ids: Names[str], term_counts: TermCounts) -> None:
    """Write the files of a generation that is about to be published."""
    term_counts.save(place)
    (place / _IDS).write_text("\n".join(ids), "ascii")
    (place / _REVISION).write_text(INDEX_REVISION, "ascii")
