"""Texts of older generations: of each one the documents that the next one changed, compressed.

books/<book>/older/<generation>.json.gz
"""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bythebook.adapters.library.checksums import DamagedFile
from bythebook.adapters.library.generation_files import (
    load_document,
    read_contents,
    replace_file_bytes,
)
from bythebook.domain.books import Book, CutDocument, DocumentText, OlderGeneration

OLDER = "older"
_SUFFIX = ".json.gz"


def keep_older_text(
    folder: Path, book: Book, generation: Path, documents: Sequence[CutDocument]
) -> None:
    """Keep what a new generation changes of the one it replaces; of a damaged one what can be read."""
    new = {cut.document.document_id: cut for cut in documents}
    entries = read_contents(generation)
    changed = []
    for entry in entries:
        next_one = new.get(entry["document_id"])
        if next_one and next_one.fingerprint == entry["fingerprint"]:
            continue
        with suppress(DamagedFile):
            old = load_document(generation, entry["file"])
            if next_one is None or next_one.document.text != old.text:
                changed.append([old.document_id, old.title, old.text])
    if not changed:
        return
    value = {
        "published_at": book.published_at,
        "document_ids": [entry["document_id"] for entry in entries],
        "changed": changed,
    }
    folder.mkdir(exist_ok=True)
    packed = gzip.compress(json.dumps(value).encode(), mtime=0)
    replace_file_bytes(folder / f"{book.generation}{_SUFFIX}", packed)


def list_older_texts(folder: Path) -> list[str]:
    """Return the generations of which something is kept, newest first."""
    return [path.name.removesuffix(_SUFFIX) for path in _newest_first(folder)]


def load_older_text(folder: Path, generation: str) -> OlderGeneration | None:
    """Read what is kept of a generation; None if it is damaged or gone."""
    try:
        packed = (folder / f"{generation}{_SUFFIX}").read_bytes()
        value: Mapping[str, Any] = json.loads(gzip.decompress(packed))
        return OlderGeneration(
            generation,
            str(value["published_at"]),
            frozenset(value["document_ids"]),
            tuple(DocumentText(*one) for one in value["changed"]),
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error):
        return None


def prune_older_texts(folder: Path, most_bytes: int) -> None:
    """Remove the oldest until no more than so many bytes are kept."""
    kept = 0
    for path in _newest_first(folder):
        with suppress(OSError):
            kept += path.stat().st_size
            if kept > most_bytes:
                path.unlink()


def purge_older_texts(folder: Path) -> int:
    """Remove all that is kept; return of how many generations."""
    kept = len(_newest_first(folder))
    for path in folder.glob("*"):  # also what a killed run left half written
        path.unlink(missing_ok=True)
    return kept


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"), reverse=True)  # named by when they were made
