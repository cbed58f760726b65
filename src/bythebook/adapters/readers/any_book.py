"""Any source: tells what kind of book it is, and has the reader of that kind read it."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook
from bythebook.ports import BookReader

Kind = Literal["markdown", "rst", "html", "pdf", "epub", "site"]
_SUFFIXES: Mapping[str, Kind] = {
    ".md": "markdown", ".mdx": "markdown", ".markdown": "markdown", ".rst": "rst", ".rest": "rst",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".epub": "epub",
}  # fmt: skip
_NAMES: Mapping[Kind, str] = {
    "markdown": "Markdown", "rst": "reStructuredText", "html": "HTML", "pdf": "PDF", "epub": "EPUB",
}  # fmt: skip
# What says of itself which kind of book a folder is.
_MARKS: Mapping[str, Kind] = {
    "SUMMARY.md": "markdown", "book.toml": "markdown", "docusaurus.config.js": "markdown",
    "docusaurus.config.ts": "markdown", "hugo.toml": "markdown", "hugo.yaml": "markdown",
    "conf.py": "rst", "index.rst": "rst",
}  # fmt: skip
_ABOUT = re.compile(r"(?i)(licen[cs]e|readme|changelog|contributing|notice|copying|authors)\b.*")
_PRUNED = frozenset({"node_modules", "venv", "__pycache__"})
_HELP = "Give a folder of Markdown, reStructuredText or HTML, a PDF, an EPUB, or a web address."


@dataclass(frozen=True, slots=True)
class AnyBookReader:
    """Reads books of every kind."""

    readers: Mapping[Kind, BookReader]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        if "://" in source:
            if not re.match(r"https?://", source, re.IGNORECASE):
                raise UnreadableBook(f"{source} is not an address of the web.", _HELP)
            return self.readers["site"].read(source, title=title, base_url=base_url)
        path = Path(source)
        if not source.strip() or not os.path.lexists(path):
            raise UnreadableBook(
                f"There is nothing at {source!r}.", "Check the path, then run ingest again."
            )
        kind, path, unread = (
            _kind_of_folder(path) if path.is_dir() else (_kind_of_file(path), path, ())
        )
        book = self.readers[kind].read(str(path), title=title, base_url=base_url)
        return replace(book, warnings=(*book.warnings, *unread)) if unread else book


def _kind_of_file(path: Path) -> Kind:
    if not path.is_file():
        raise UnreadableBook(f"{path} is neither a file nor a folder.", _HELP)
    try:
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise UnreadableBook(
            f"{path} cannot be opened ({error.strerror}).", "Check its permissions."
        ) from error
    if b"%PDF-" in start:
        return "pdf"
    if start.startswith(b"PK\x03\x04") and b"application/epub+zip" in start:
        return "epub"
    if kind := _SUFFIXES.get(path.suffix.lower()):
        return kind
    raise UnreadableBook(f"{path} is not a book of a known kind.", _HELP)


def _kind_of_folder(folder: Path) -> tuple[Kind, Path, tuple[str, ...]]:
    """Tell a folder's kind, what of it to read, and what of it stays unread."""
    files = list(_files(folder))
    counts = Counter(kind for path in files if (kind := _kind_by_name(path)))
    marked = _marked(folder)
    kind = marked if marked and counts[marked] else _foremost(counts)
    whole = [path for path in files if path.suffix.lower() in {".pdf", ".epub"}]
    if kind is None and len(whole) == 1:
        return _SUFFIXES[whole[0].suffix.lower()], whole[0], ()
    if kind is None and whole:
        names = ", ".join(sorted(path.name for path in whole)[:3])
        raise UnreadableBook(
            f"{folder} holds {len(whole)} books ({names}, ...).", "Give one of them by its path."
        )
    if kind is None:  # at most a README: let Markdown say what is missing
        return "markdown", folder, ()
    others = tuple(
        f"{count} {_NAMES[other]} file{'s' if count > 1 else ''} beside the {_NAMES[kind]} not read."
        for other, count in sorted(counts.items())
        if other != kind
    )
    return kind, folder, others


def _files(folder: Path) -> Iterator[Path]:
    for root, directories, names in os.walk(folder):
        directories[:] = [d for d in directories if not d.startswith(".") and d not in _PRUNED]
        yield from (Path(root, name) for name in names if not name.startswith("."))


def _kind_by_name(path: Path) -> Kind | None:
    return None if _ABOUT.match(path.name) else _SUFFIXES.get(path.suffix.lower())


def _marked(folder: Path) -> Kind | None:
    for place in (folder, folder / "src", folder / "source", folder / "docs"):
        for name, kind in _MARKS.items():
            if (place / name).is_file():
                return kind
    return None


def _foremost(counts: Counter[Kind]) -> Kind | None:
    texts: list[Kind] = ["markdown", "rst", "html"]
    found = max(texts, key=lambda kind: counts[kind])
    return found if counts[found] else None
