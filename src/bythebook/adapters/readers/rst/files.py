"""Finds and loads the source files of a reStructuredText book."""

import os
from collections.abc import Iterator
from pathlib import Path

from bythebook.adapters.readers.source_file import (
    decode_text,
    is_inside,
    is_storable,
    make_open_error,
)
from bythebook.errors import UnreadableBook

MAX_FILE_BYTES = 20_000_000  # bytes
MAX_LINE_LENGTH = 1_000_000  # characters
MAX_LINES = 400_000
_IGNORED_FOLDERS = frozenset(
    {"node_modules", "venv", "build", "_build", "_static", "_templates", "__pycache__"}
)


def find_rst_files(root: Path) -> list[Path]:
    """Find the .rst files below a folder, sorted by name."""
    return sorted(_iterate_rst_files(root), key=lambda path: path.relative_to(root).as_posix())


def _iterate_rst_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _is_ignored(name)]
        for name in names:
            path = Path(folder, name)
            if name.lower().endswith(".rst") and not name.startswith(".") and path.is_file():
                yield path


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name in _IGNORED_FOLDERS


def load_text(path: Path, within: Path) -> str:
    """Read a file as text, or raise UnreadableBook with advice."""
    text = decode_text(_read_bytes(path, within), path.name)
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise UnreadableBook(
            f"{path.name} has more than {MAX_LINES:,} lines.",
            "Split it, or remove it from the folder.",
        )
    if any(len(line) > MAX_LINE_LENGTH for line in lines):
        raise UnreadableBook(
            f"{path.name} has a line of more than {MAX_LINE_LENGTH:,} characters.",
            "Break the line, or remove the file.",
        )
    return text


def _read_bytes(path: Path, within: Path) -> bytes:
    if not is_storable(str(path)):
        raise UnreadableBook(
            f"The file name {path.name!r} is not UTF-8.", "Rename the file, then run ingest again."
        )
    if not is_inside(path, within):
        raise UnreadableBook(
            f"{path.name} is a link to a place outside the book's folder.",
            "Copy the file into the folder.",
        )
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UnreadableBook(
                f"{path.name} is larger than {MAX_FILE_BYTES // 1_000_000} MB.",
                "Split it, or remove it from the folder.",
            )
        return path.read_bytes()
    except OSError as error:
        raise make_open_error(path.name, error) from error
