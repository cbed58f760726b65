"""Finds and loads the source files of a reStructuredText book."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bythebook.adapters.readers.source_file import (
    decode_text,
    is_inside,
    is_storable,
    make_open_error,
)
from bythebook.errors import UnreadableBook

_IGNORED_FOLDERS = frozenset(
    {"node_modules", "venv", "build", "_build", "_static", "_templates", "__pycache__"}
)


@dataclass(frozen=True, slots=True)
class RstBounds:
    """The most that one file may ask for."""

    file_bytes: int = 20_000_000
    line_length: int = 1_000_000  # characters
    lines: int = 400_000
    parse_seconds: float = 15.0


RST_BOUNDS = RstBounds()


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


def load_text(path: Path, within: Path, bounds: RstBounds = RST_BOUNDS) -> str:
    """Read a file as text, or raise UnreadableBook with advice."""
    text = decode_text(_read_bytes(path, within, bounds.file_bytes), path.name)
    lines = text.split("\n")
    if len(lines) > bounds.lines:
        raise UnreadableBook(
            f"{path.name} has more than {bounds.lines:,} lines.",
            "Split it, or remove it from the folder.",
        )
    if any(len(line) > bounds.line_length for line in lines):
        raise UnreadableBook(
            f"{path.name} has a line of more than {bounds.line_length:,} characters.",
            "Break the line, or remove the file.",
        )
    return text


def _read_bytes(path: Path, within: Path, most: int) -> bytes:
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
        if size > most:
            raise UnreadableBook(
                f"{path.name} is larger than {most // 1_000_000} MB.",
                "Split it, or remove it from the folder.",
            )
        return path.read_bytes()
    except OSError as error:
        raise make_open_error(path.name, error) from error
