"""Damage to a book's files -> what is wrong, in which book, and what to run."""

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bythebook.adapters.library.checksums import (
    Checksum,
    DamagedFile,
    find_damage,
    load_checksums,
)
from bythebook.adapters.library.generation_files import (
    load_cuts,
    load_document,
    load_report,
    read_contents,
)
from bythebook.domain.books import Book
from bythebook.errors import DamagedBook, StoreFailed

# Bytes of a shard that are compared whenever one is opened: all of a usual book, in a tenth of a second.
OPENING_BYTES = 64_000_000
_NAMED = 3  # of many damaged files


@contextmanager
def as_damaged(book: Book) -> Iterator[None]:
    """Say which book a damaged file belongs to; what else the disk refuses may pass."""
    try:
        yield
    except DamagedFile as error:
        raise make_damaged_error(book, [error]) from error
    except OSError as error:
        raise StoreFailed(
            f"The book {book.book_id!r} cannot be read: {error.strerror or error}.",
            "Check the disk of the data folder, and who may read it.",
        ) from error


def make_damaged_error(book: Book, found: Sequence[DamagedFile]) -> DamagedBook:
    """Name the files that are damaged, and the command that makes them again."""
    more = f"; {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    why = "; ".join(map(str, found[:_NAMED])) + more
    return DamagedBook(book.book_id, why, source=shlex.quote(book.source))


def shard_checksums(folder: Path) -> dict[str, Checksum]:
    """Give the sums of a generation's shard, by the names that its files have in a copy of it."""
    known = load_checksums(folder) or {}
    prefix = "shard/"
    return {name.removeprefix(prefix): known[name] for name in known if name.startswith(prefix)}


def require_sound_copy(folder: Path, copy: Path, most_bytes: float = math.inf) -> None:
    """Raise DamagedFile if the copy of a generation's shard is not what was published."""
    for damaged in find_damage(copy, shard_checksums(folder), most_bytes):
        raise DamagedFile(f"shard/{damaged.name}", str(damaged).removeprefix(f"{damaged.name} "))


def find_damaged_files(folder: Path, book: Book, *, deep: bool) -> list[DamagedFile]:
    """Look for damage in a generation: at sizes and at what lists its texts, or at every byte."""
    try:
        known = load_checksums(folder)
        if known is None:
            return _find_damage_without_sums(folder, book, deep=deep)
    except DamagedFile as error:
        return [error]
    lists = {name: known[name] for name in known if "/" not in name}
    others = {name: known[name] for name in known if "/" in name}
    return [
        *find_damage(folder, lists),
        *find_damage(folder, others, math.inf if deep else 0),
    ]


def _find_damage_without_sums(folder: Path, book: Book, *, deep: bool) -> list[DamagedFile]:
    """Look at a generation that was published before there were sums: is all there, and can it be read?"""
    contents = read_contents(folder)
    found = []
    if len(contents) != book.documents:
        why = f"lists {len(contents):,} documents where {book.documents:,} were published"
        found.append(DamagedFile("contents.json", why))
    files = [entry["file"] for entry in contents]
    names = [f"{part}/{file}" for part in ("documents", "cuts") for file in files]
    needed = ("report.json", "shard/term_counts.json", "shard/chunk_ids.txt", *names)
    missing = (name for name in needed if not (folder / name).is_file())
    found += [DamagedFile(name, "is missing") for name in missing]
    return found or (list(_find_unreadable(folder, files)) if deep else [])


def _find_unreadable(folder: Path, files: Sequence[str]) -> Iterator[DamagedFile]:
    reads: list[Callable[[], object]] = [partial(load_report, folder)]
    for file in files:
        reads += [partial(load_document, folder, file), partial(load_cuts, folder, file)]
    for read in reads:
        try:
            read()
        except DamagedFile as error:
            yield error
