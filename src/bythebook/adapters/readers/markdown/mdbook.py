"""mdBook: what SUMMARY.md lists, in its order."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.pages import Page, SourceFile
from bythebook.adapters.readers.markdown.tree import is_inside
from bythebook.errors import UnreadableBook

_SUMMARY_LINE = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+?)\]\(<?([^)>]*)>?\)\s*$")


def find_mdbook(folder: Path) -> Path | None:
    """Find where the pages of an mdBook are; none if the folder is no such book."""
    source = _book(folder).get("src")
    for name in (source if isinstance(source, str) else "src", ".", "src"):
        root = folder / name
        if is_inside(folder, root / "SUMMARY.md"):
            return root
    return None


def mdbook_title(folder: Path | None) -> str | None:
    """Give the title that a book's settings name."""
    title = _book(folder).get("title") if folder else None
    return title if isinstance(title, str) and title else None


def _book(folder: Path) -> Mapping[str, object]:
    path = folder / "book.toml"
    if not is_inside(folder, path):
        return {}
    try:
        book = tomllib.loads(load_text(path)).get("book")
    except (tomllib.TOMLDecodeError, UnreadableBook, RecursionError):
        return {}
    return book if isinstance(book, dict) else {}


def _summary_entries(root: Path) -> list[tuple[int, str, str]]:
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


def summary_files(root: Path) -> list[Path]:
    """Find the files that the summary lists."""
    paths = (root / name for _, _, name in _summary_entries(root) if is_inside(root, root / name))
    return list(dict.fromkeys(paths))


def missing_files(root: Path) -> list[str]:
    """Name the pages that the summary lists and that are not there."""
    names = (name for _, _, name in _summary_entries(root))
    return [name for name in names if name and not is_inside(root, root / name)]


def mdbook_pages(root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    """Lay the listed pages out under their chapters."""
    known = {file.path: file for file in files}
    pages: list[Page] = []
    chapter = ""
    for indent, title, name in _summary_entries(root):
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
        pages.append(Page(path, str(relative), url, chapter, title, f"/{relative}.html"))
    return pages
