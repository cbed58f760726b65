"""The files of a generation that stay in the data folder: its term counts and its chunk ids.

They are the same as those of an embedded shard, so an index that was copied to a server can use them.
"""

from collections.abc import Collection as Names
from pathlib import Path

from bythebook.adapters.edge.shard import INDEX_REVISION, TermCounts
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.checksums import DamagedFile, read_file
from bythebook.domain.books import Book

_IDS = "chunk_ids.txt"
_REVISION = "revision.txt"


def sidecar_folder(folder: BookFolder, book: Book) -> Path:
    """Return the folder of these files."""
    return folder.generation_folder(book) / "shard"


def load_chunk_ids(folder: Path) -> dict[str, None]:
    """Read the ids of a generation's chunks; ValueError if the index has another revision."""
    if _read(folder, _REVISION) != INDEX_REVISION.encode():
        raise ValueError("The index has another revision.")
    return dict.fromkeys(_read(folder, _IDS).decode("ascii").split())


def load_term_counts(folder: Path) -> TermCounts:
    """Read the term counts of a generation, or raise DamagedFile."""
    try:
        return TermCounts.parse(_read(folder, TermCounts.FILE))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFile(f"{folder.name}/{TermCounts.FILE}", "cannot be read") from error


def _read(folder: Path, name: str) -> bytes:
    return read_file(folder.parent, f"{folder.name}/{name}")


def save_sidecar_files(folder: Path, ids: Names[str], term_counts: TermCounts) -> None:
    """Write the files of a generation that is about to be published."""
    term_counts.save(folder)
    (folder / _IDS).write_text("\n".join(ids), "ascii")
    (folder / _REVISION).write_text(INDEX_REVISION, "ascii")
