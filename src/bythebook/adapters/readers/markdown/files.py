"""Source files read with care: bounded, decoded, their front matter taken off."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.markdown.front_matter import parted
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.source_file import decoded
from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook

MOST_BYTES = 10_000_000
_LONGEST_LINE = 1_000_000  # characters; parsers take quadratic time on such lines


def load_files(
    paths: Sequence[Path], root: Path
) -> tuple[Mapping[Path, SourceFile], tuple[Skipped, ...]]:
    """Read what can be read; one file that cannot must not keep the others from readers."""
    files: dict[Path, SourceFile] = {}
    skipped: list[Skipped] = []
    for path in paths:
        try:
            files[path] = load_file(path, root)
        except UnreadableBook as error:
            name = path.relative_to(root).as_posix().encode("utf-8", "replace").decode()
            skipped.append(Skipped(name, f"{error.what} {error.help_message}"))
    return files, tuple(skipped)


def load_file(path: Path, root: Path) -> SourceFile:
    """Read a file as text, or say which file is not text and what to do."""
    if not is_text(str(path)):
        raise UnreadableBook(
            f"The file name {str(path)!r} is not UTF-8.", "Rename the file, then run ingest again."
        )
    front, body = parted(load_text(path), path)
    return SourceFile(path, PurePosixPath(os.path.relpath(path, root)), front, body)


def load_text(path: Path) -> str:
    """Read a file as UTF-8 with plain line ends, or say why it cannot be."""
    text = decoded(_load_bytes(path), str(path))
    if len(text) > _LONGEST_LINE and max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise UnreadableBook(
            f"{path} has a line of more than {_LONGEST_LINE:,} characters.",
            "Break its lines, or remove it from the folder.",
        )
    return text


def is_text(text: str) -> bool:
    """Say whether a text can be stored: names and YAML may hold halves of characters."""
    return text.isprintable() or text.encode("utf-8", "replace").decode() == text


def _load_bytes(path: Path) -> bytes:
    try:
        # Else opening a pipe waits for someone to write into it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UnreadableBook(
            f"{path} cannot be opened ({error.strerror}).", "Check its permissions."
        ) from error
    if len(raw) > MOST_BYTES:
        raise UnreadableBook(
            f"{path} is larger than {MOST_BYTES // 1_000_000} MB.", "Part it into smaller pages."
        )
    return raw
