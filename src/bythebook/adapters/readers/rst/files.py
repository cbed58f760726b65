"""Source files of a reStructuredText book: which there are, and their text."""

import os
from collections.abc import Iterator
from pathlib import Path

from bythebook.adapters.readers.source_file import decoded
from bythebook.errors import UnreadableBook

LARGEST_FILE = 20_000_000  # bytes
LONGEST_LINE = 1_000_000  # characters
MOST_LINES = 400_000
_SKIPPED = frozenset(
    {"node_modules", "venv", "build", "_build", "_static", "_templates", "__pycache__"}
)


def rst_files(root: Path) -> list[Path]:
    """Find the .rst files below a folder, in the order of their names."""
    return sorted(_below(root), key=lambda path: path.relative_to(root).as_posix())


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _is_skipped(name)]
        for name in names:
            path = Path(folder, name)
            if name.lower().endswith(".rst") and not name.startswith(".") and path.is_file():
                yield path


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def is_inside(path: Path, folder: Path) -> bool:
    """Say whether a path, its symlinks followed, is below a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of symlinks, a name with a null byte
        return False


def load_text(path: Path, within: Path) -> str:
    """Read a file as text, or say why it is none and what to do."""
    text = decoded(_bytes(path, within), path.name)
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise UnreadableBook(
            f"{path.name} has more than {MOST_LINES:,} lines.",
            "Split it, or remove it from the folder.",
        )
    if any(len(line) > LONGEST_LINE for line in lines):
        raise UnreadableBook(
            f"{path.name} has a line of more than {LONGEST_LINE:,} characters.",
            "Break the line, or remove the file.",
        )
    return text


def _bytes(path: Path, within: Path) -> bytes:
    if not str(path).isprintable() and str(path).encode("utf-8", "replace").decode() != str(path):
        raise UnreadableBook(
            f"The file name {path.name!r} is not UTF-8.", "Rename the file, then run ingest again."
        )
    if not is_inside(path, within):
        raise UnreadableBook(
            f"{path.name} leads out of the book's folder.", "Put the file itself into the folder."
        )
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UnreadableBook(
                f"{path.name} is larger than {LARGEST_FILE // 1_000_000} MB.",
                "Split it, or remove it from the folder.",
            )
        return path.read_bytes()
    except OSError as error:
        raise UnreadableBook(
            f"{path.name} cannot be opened ({error.strerror}).", "Check its permissions."
        ) from error
