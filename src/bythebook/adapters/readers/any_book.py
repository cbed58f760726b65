"""Reads any source: detects what kind of book it is and calls the reader for that kind."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from bythebook.adapters.readers.plugins import InstalledReaders
from bythebook.adapters.readers.source_file import read_start
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook
from bythebook.ports import BookReader

Kind = Literal["markdown", "asciidoc", "rst", "html", "pdf", "epub", "site"]
_SUFFIXES: Mapping[str, Kind] = {
    ".md": "markdown", ".mdx": "markdown", ".markdown": "markdown", ".rst": "rst", ".rest": "rst",
    ".ipynb": "markdown", ".qmd": "markdown", ".rmd": "markdown",
    ".adoc": "asciidoc", ".asciidoc": "asciidoc", ".asc": "asciidoc",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".epub": "epub",
}  # fmt: skip
_NAMES: Mapping[Kind, str] = {
    "markdown": "Markdown", "asciidoc": "AsciiDoc", "rst": "reStructuredText", "html": "HTML",
    "pdf": "PDF", "epub": "EPUB",
}  # fmt: skip
# Files that identify the kind of book in a folder.
_MARKER_FILES: Mapping[str, Kind] = {
    "SUMMARY.md": "markdown", "book.toml": "markdown", "docusaurus.config.js": "markdown",
    "docusaurus.config.ts": "markdown", "hugo.toml": "markdown", "hugo.yaml": "markdown",
    "_toc.yml": "markdown", "myst.yml": "markdown", "_quarto.yml": "markdown",
    "mkdocs.yml": "markdown", "antora.yml": "asciidoc",
    "conf.py": "rst", "index.rst": "rst",
}  # fmt: skip
_ABOUT_FILE = re.compile(
    r"(?i)(licen[cs]e|readme|changelog|contributing|notice|copying|authors)\b.*"
)
_IGNORED_FOLDERS = frozenset({"node_modules", "venv", "__pycache__"})
_HELP = (
    "Choose a folder of Markdown, notebooks, AsciiDoc, reStructuredText or HTML, a PDF, an EPUB, "
    "or a web address."
)


@dataclass(frozen=True, slots=True)
class AnyBookReader:
    """Reads books of every kind."""

    readers: Mapping[Kind, BookReader]
    installed: InstalledReaders = field(default_factory=lambda: InstalledReaders(()))

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if that fails."""
        added = self.installed.read(source, title=title, base_url=base_url)
        if added is not None:
            return added
        if "://" in source:
            if not re.match(r"https?://", source, re.IGNORECASE):
                raise UnreadableBook(f"{source} is not a web address.", _HELP)
            return self.readers["site"].read(source, title=title, base_url=base_url)
        path = Path(source)
        if not source.strip() or not os.path.lexists(path):
            raise UnreadableBook(
                f"There is nothing at {source!r}.", "Check the path, then run ingest again."
            )
        kind, path, unread = (
            _detect_folder_kind(path) if path.is_dir() else (_detect_file_kind(path), path, ())
        )
        book = self.readers[kind].read(str(path), title=title, base_url=base_url)
        return replace(book, warnings=(*book.warnings, *unread)) if unread else book


def _detect_file_kind(path: Path) -> Kind:
    if not path.is_file():
        raise UnreadableBook(f"{path} is neither a file nor a folder.", _HELP)
    start = read_start(path)
    if b"%PDF-" in start:
        return "pdf"
    if start.startswith(b"PK\x03\x04") and b"application/epub+zip" in start:
        return "epub"
    if kind := _SUFFIXES.get(path.suffix.lower()):
        return kind
    raise UnreadableBook(f"{path} is not a supported kind of book.", _HELP)


def _detect_folder_kind(folder: Path) -> tuple[Kind, Path, tuple[str, ...]]:
    """Detect a folder's kind; return it with the path to read and warnings about unread files."""
    files = list(_iterate_files(folder))
    counts = Counter(kind for path in files if (kind := _guess_kind(path)))
    marked = _find_marker_kind(folder)
    kind = marked if marked and counts[marked] else _find_most_common_kind(counts)
    whole = [path for path in files if path.suffix.lower() in {".pdf", ".epub"}]
    if kind is None and len(whole) == 1:
        return _SUFFIXES[whole[0].suffix.lower()], whole[0], ()
    if kind is None and whole:
        names = ", ".join(sorted(path.name for path in whole)[:3])
        raise UnreadableBook(
            f"{folder} contains {len(whole)} books ({names}, ...).",
            "Choose one of them by its path.",
        )
    if kind is None:  # at most a README: let the Markdown reader report what is missing
        return "markdown", folder, ()
    others = tuple(
        f"{count} {_NAMES[other]} file{'s' if count > 1 else ''} not read: the book was read as {_NAMES[kind]}."
        for other, count in sorted(counts.items())
        if other != kind
    )
    return kind, folder, others


def _iterate_files(folder: Path) -> Iterator[Path]:
    for root, directories, names in os.walk(folder):
        directories[:] = [
            d for d in directories if not d.startswith(".") and d not in _IGNORED_FOLDERS
        ]
        yield from (Path(root, name) for name in names if not name.startswith("."))


def _guess_kind(path: Path) -> Kind | None:
    return None if _ABOUT_FILE.match(path.name) else _SUFFIXES.get(path.suffix.lower())


def _find_marker_kind(folder: Path) -> Kind | None:
    for place in (folder, folder / "src", folder / "source", folder / "docs"):
        for name, kind in _MARKER_FILES.items():
            if (place / name).is_file():
                return kind
    return None


def _find_most_common_kind(counts: Counter[Kind]) -> Kind | None:
    texts: list[Kind] = ["markdown", "asciidoc", "rst", "html"]
    found = max(texts, key=lambda kind: counts[kind])
    return found if counts[found] else None
