"""Pictures of a Sphinx project, by their paths from a document or from the root."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.pictures.shelf import (
    KeptPicture,
    PictureShelf,
    find_picture_file,
)
from bythebook.domain.books import MissingPicture

_NAMED = re.compile(r"\b(?:image|figure)::\s+(\S[^\n]*)")
_SUFFIXES = (".svg", ".png", ".gif", ".jpg", ".jpeg", ".webp")  # in the order of Sphinx


@dataclass(frozen=True, slots=True)
class RstPictures:
    """Finds the pictures of a project."""

    root: Path  # of the documents
    within: Path  # which no picture may leave
    shelf: PictureShelf = field(default_factory=PictureShelf)

    def find(self, document_id: str, target: str) -> KeptPicture | MissingPicture:
        """Find the picture that a document shows."""

        def list_places(path: str) -> list[Path]:
            folder = "" if path.startswith("/") else posixpath.dirname(document_id)
            whole = self.root / folder / path.lstrip("/")
            if whole.suffix == ".*":
                return [whole.with_suffix(suffix) for suffix in _SUFFIXES]
            return [whole]

        return find_picture_file(self.shelf, target, self.within, list_places)

    def find_used(self, text: str, document_id: str) -> Iterator[str]:
        """Yield what a document shows; it changes when a picture does."""
        for target in dict.fromkeys(_NAMED.findall(text)):
            yield str(self.find(document_id, target.strip()))
