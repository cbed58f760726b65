"""Reads source files within size limits and splits off their front matter."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter
from bythebook.adapters.readers.notebook.cells import MAX_NOTEBOOK_BYTES, write_cells
from bythebook.adapters.readers.source_file import (
    decode_text,
    is_storable,
    make_open_error,
    skip_unreadable,
)
from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook

MAX_BYTES = 10_000_000
_MAX_LINE_LENGTH = 1_000_000  # characters; parsers take quadratic time on such lines


def load_files(
    paths: Sequence[Path], root: Path
) -> tuple[Mapping[Path, SourceFile], tuple[Skipped, ...]]:
    """Read every readable file; report the others as skipped."""
    files: dict[Path, SourceFile] = {}
    skipped: list[Skipped] = []
    for path in paths:
        try:
            files[path] = load_file(path, root)
        except UnreadableBook as error:
            skipped.append(skip_unreadable(path.relative_to(root).as_posix(), error))
    return files, tuple(skipped)


def load_file(path: Path, root: Path) -> SourceFile:
    """Read a file as text, or raise UnreadableBook with advice."""
    if not is_storable(str(path)):
        raise UnreadableBook(
            f"The file name {str(path)!r} is not UTF-8.", "Rename the file, then run ingest again."
        )
    if path.suffix.lower() == ".ipynb":
        text = decode_text(_load_bytes(path, MAX_NOTEBOOK_BYTES), str(path))
        front: dict[str, object] = {}
        body = write_cells(text, path.name)
    else:
        front, body = split_front_matter(load_text(path), path)
    return SourceFile(path, PurePosixPath(os.path.relpath(path, root)), front, body)


def load_text(path: Path) -> str:
    """Read a file as UTF-8 with plain line ends, or raise UnreadableBook."""
    text = decode_text(_load_bytes(path), str(path))
    if len(text) > _MAX_LINE_LENGTH and max(map(len, text.split("\n"))) > _MAX_LINE_LENGTH:
        raise UnreadableBook(
            f"{path} has a line of more than {_MAX_LINE_LENGTH:,} characters.",
            "Break its lines, or remove it from the folder.",
        )
    return text


def _load_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    try:
        # Otherwise opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise make_open_error(path, error) from error
    if len(raw) > limit:
        raise UnreadableBook(
            f"{path} is larger than {limit // 1_000_000} MB.", "Split it into smaller pages."
        )
    return raw
