"""The pictures of a generation: files named by their content, which generations share."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from bythebook.domain.books import CutDocument
from bythebook.domain.marks import Picture
from bythebook.errors import UnreadableBook
from bythebook.ports import LoadPicture

PICTURES = "pictures"
PICTURE_NAME = re.compile(r"[0-9a-f]{64}\.[a-z]{2,4}")


def write_pictures(
    folder: Path, documents: Sequence[CutDocument], live: Path | None, load: LoadPicture
) -> set[Path]:
    """Write the pictures that documents show; gives those taken over from the live generation."""
    names = {
        mark.file
        for cut in documents
        for mark in cut.document.marks
        if isinstance(mark, Picture) and PICTURE_NAME.fullmatch(mark.file)
    }
    if not names:
        return set()
    home = folder / PICTURES
    home.mkdir()
    taken_over: set[Path] = set()
    for name in sorted(names):
        if live is not None and _is_linked(live / PICTURES / name, home / name):
            taken_over.add(home / name)
            continue
        content = load(name)
        if content is None:
            raise UnreadableBook(
                "A picture of the book changed while it was being read.", "Run ingest again."
            )
        (home / name).write_bytes(content)
    return taken_over


def _is_linked(old: Path, new: Path) -> bool:
    """Link a picture of the live generation if it is still what its name says."""
    try:
        if hashlib.sha256(old.read_bytes()).hexdigest() != old.stem:
            return False
        new.hardlink_to(old)
    except OSError:  # not there, or a disk without links
        return False
    return True
