"""mdBook: the pages listed in SUMMARY.md, in its order."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile
from bythebook.adapters.readers.source_file import is_file_inside
from bythebook.errors import UnreadableBook

_SUMMARY_LINE = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+?)\]\(<?([^)>]*)>?\)\s*$")


def find_mdbook(folder: Path) -> Path | None:
    """Find the pages of an mdBook; None if the folder is not such a book."""
    source = _read_book_table(folder).get("src")
    for name in (source if isinstance(source, str) else "src", ".", "src"):
        root = folder / name
        if is_file_inside(root / "SUMMARY.md", folder):
            return root
    return None


def read_mdbook_title(folder: Path | None) -> str | None:
    """Return the title from the book's settings."""
    title = _read_book_table(folder).get("title") if folder else None
    return title if isinstance(title, str) and title else None


def _read_book_table(folder: Path) -> Mapping[str, object]:
    path = folder / "book.toml"
    if not is_file_inside(path, folder):
        return {}
    try:
        book = tomllib.loads(load_text(path)).get("book")
    except (tomllib.TOMLDecodeError, UnreadableBook, RecursionError):
        return {}
    return book if isinstance(book, dict) else {}


def _read_summary(root: Path) -> list[tuple[int, str, str]]:
    lines = load_text(root / "SUMMARY.md").splitlines()
    found = [(line, match) for line in lines if (match := _SUMMARY_LINE.match(line))]
    return [
        (
            len(match.group(1).expandtabs(4)) if re.match(r"\s*[-*+]", line) else 0,
            match.group(2),
            unquote(match.group(3).split("#")[0]).removeprefix("./"),
        )
        for line, match in found
    ]


def list_summary_files(root: Path) -> list[Path]:
    """List the files in the summary."""
    paths = (root / name for _, _, name in _read_summary(root) if is_file_inside(root / name, root))
    return list(dict.fromkeys(paths))


def list_missing_files(root: Path) -> list[str]:
    """List the names of pages in the summary that do not exist."""
    names = (name for _, _, name in _read_summary(root))
    return [name for name in names if name and not is_file_inside(root / name, root)]


def list_mdbook_pages(root: Path, files: Sequence[SourceFile], base_url: str) -> list[MarkdownPage]:
    """List the pages of the summary with their chapters."""
    known = {file.path: file for file in files}
    pages: list[MarkdownPage] = []
    chapter = ""
    for indent, title, name in _read_summary(root):
        title = re.sub(r"[`*_]", "", title)
        if indent == 0:
            chapter = title
        path = root / name
        if (file := known.pop(path, None)) is None:
            continue
        relative = file.relative.with_suffix("")
        if relative.name.lower() == "readme":
            relative = relative.with_name("index")
        url = urljoin(base_url, quote(f"{relative}.html")) if base_url else ""
        pages.append(MarkdownPage(path, str(relative), url, chapter, title, f"/{relative}.html"))
    return pages


def make_mdbook_anchor(title: str) -> str:
    """Make a heading's anchor as mdBook does."""
    kept = (c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in title)
    return "".join(kept)
