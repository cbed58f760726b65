"""The files of a generation: its texts, where they were cut, its report; written whole or not at all."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from bythebook.adapters.library.book_json import (
    cuts_from_json,
    cuts_to_json,
    document_from_json,
    document_to_json,
    report_from_json,
)
from bythebook.adapters.library.checksums import DamagedFile, read_file
from bythebook.domain.books import Cut, CutDocument, Document
from bythebook.domain.reports import IngestReport

Contents = list[dict[str, str]]
T = TypeVar("T")


@lru_cache(maxsize=64)
def read_contents(folder: Path) -> Contents:
    """Read which documents a generation has, in reading order, and where."""
    names = ("document_id", "title", "fingerprint", "file")
    return _read(
        folder,
        "contents.json",
        lambda entries: [{name: entry[name] for name in names} for entry in entries],
    )


def load_document(folder: Path, file: str) -> Document:
    """Read a document, or raise DamagedFile."""
    return _read(folder, f"documents/{file}", document_from_json)


def load_cuts(folder: Path, file: str) -> tuple[Cut, ...]:
    """Read where a document was cut, or raise DamagedFile."""
    return _read(folder, f"cuts/{file}", cuts_from_json)


def load_report(folder: Path) -> IngestReport:
    """Read the report of the run that made a generation, or raise DamagedFile."""
    return _read(folder, "report.json", report_from_json)


def _read(folder: Path, name: str, make: Callable[[Any], T]) -> T:
    try:
        return make(json.loads(read_file(folder, name)))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise DamagedFile(name, "cannot be read") from error


def write_documents(
    folder: Path, documents: Sequence[CutDocument], live: Mapping[str, Path]
) -> set[Path]:
    """Write the texts and cuts of a generation; gives what was taken over."""
    (folder / "documents").mkdir()
    (folder / "cuts").mkdir()
    contents = []
    taken_over: set[Path] = set()
    for number, cut in enumerate(documents):
        name = f"{number:05d}.json"
        text, cuts = folder / "documents" / name, folder / "cuts" / name
        if (old := live.get(cut.fingerprint)) and _taken_over(old, text, cuts):
            taken_over |= {text, cuts}
        else:
            text.write_text(_json(document_to_json(cut.document)), "utf-8")
            cuts.write_text(_json(cuts_to_json(cut.cuts)), "utf-8")
        contents.append(
            {
                "document_id": cut.document.document_id,
                "title": cut.document.title,
                "fingerprint": cut.fingerprint,
                "file": name,
            }
        )
    replace_file(folder / "contents.json", _json(contents))
    return taken_over


def _taken_over(old: Path, text: Path, cuts: Path) -> bool:
    """Link the files of an unchanged document: generations never change, so they may share them."""
    try:
        text.hardlink_to(old)
        cuts.hardlink_to(old.parent.parent / "cuts" / old.name)
    except OSError:  # a disk without links: written again
        text.unlink(missing_ok=True)
        return False
    return True


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def replace_file(path: Path, text: str) -> None:
    """Write a file so that it is wholly old or wholly new, whatever happens."""
    replace_file_bytes(path, text.encode("utf-8"))


def replace_file_bytes(path: Path, content: bytes) -> None:
    """Write a file of bytes in the same way."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    _sync_one(path.parent)


def sync_folder(folder: Path, already: Collection[Path]) -> None:
    """Have a whole generation on disk before the pointer names it, should the power fail."""
    for path in (*folder.rglob("*"), folder):
        if path not in already:
            _sync_one(path)


def _sync_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
