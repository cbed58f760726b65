"""mdBook: what SUMMARY.md lists, in its order."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from bythebook.adapters.readers.pages import Page, SourceFile

_SUMMARY_LINE = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+?)\]\(<?([^)>]*)>?\)\s*$")


def _summary_entries(root: Path) -> list[tuple[int, str, str]]:
    lines = (root / "SUMMARY.md").read_text("utf-8", "replace").splitlines()
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
    paths = (root / name for _, _, name in _summary_entries(root) if _is_inside(root, name))
    return list(dict.fromkeys(paths))


def _is_inside(root: Path, name: str) -> bool:
    """Say whether a listed page is there, and in the book: a summary opens no other folder."""
    path = root / name
    return path.is_file() and path.resolve().is_relative_to(root.resolve())


def missing_files(root: Path) -> list[str]:
    """Name the pages that the summary lists and that are not there."""
    names = (name for _, _, name in _summary_entries(root))
    return [name for name in names if name and not _is_inside(root, name)]


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
        pages.append(Page(path, str(relative), url, chapter, title))
    return pages
