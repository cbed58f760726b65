"""Kinds of Markdown books: how to tell them, and what each does in its own way."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.docusaurus import docusaurus_pages, docusaurus_root
from bythebook.adapters.readers.mdbook import mdbook_pages, missing_files, summary_files
from bythebook.adapters.readers.pages import Page, SourceFile, markdown_files, place, spoken


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of book: how to tell it, how to lay it out, how it makes anchors."""

    name: str
    root: Path
    files: Callable[[Path], Sequence[Path]]
    pages: Callable[[Path, Sequence[SourceFile], str], Sequence[Page]]
    anchor: Callable[[str], str]
    missing: Callable[[Path], Sequence[str]] = lambda _root: ()  # pages listed but not there


def detect_layout(folder: Path) -> Layout:
    """Tell what kind of Markdown book a folder is."""
    for root in (folder, folder / "src"):
        if (root / "SUMMARY.md").is_file():
            return Layout("mdBook", root, summary_files, mdbook_pages, mdbook_anchor, missing_files)
    if docs := docusaurus_root(folder):
        return Layout("Docusaurus", docs, markdown_files, docusaurus_pages, github_anchor)
    trunk = _trunk(folder)
    pages = partial(_plain_pages, trunk.relative_to(folder).as_posix())
    return Layout("Markdown folder", trunk, markdown_files, pages, github_anchor)


def _trunk(folder: Path) -> Path:
    """Go down while a folder holds nothing but one other folder with pages in it."""
    paths = [path.relative_to(folder) for path in markdown_files(folder)]
    tops = {path.parts[0] for path in paths}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in paths):
        return _trunk(folder / tops.pop())
    return folder


def github_anchor(title: str) -> str:
    """Make a heading's anchor as Docusaurus and GitHub do."""
    kept = re.sub(r"[^\w\- ]", "", title.lower(), flags=re.UNICODE)
    return kept.replace(" ", "-")


def mdbook_anchor(title: str) -> str:
    """Make a heading's anchor as mdBook does."""
    kept = (c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in title)
    return "".join(kept)


def _plain_pages(above: str, _root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    """Lay a plain folder out; addresses keep the folders above its trunk, ids and chapters do not."""
    pages = []
    for file in sorted(files, key=_plain_rank):
        url = urljoin(base_url, quote(str(above / file.relative))) if base_url else ""
        chapter = spoken(file.relative.parts[0]) if len(file.relative.parts) > 1 else None
        pages.append(Page(file.path, str(file.relative.with_suffix("")), url, chapter))
    return pages


def _plain_rank(file: SourceFile) -> tuple[object, ...]:
    first = file.relative.stem.lower() in {"index", "readme", "intro", "introduction", "preface"}
    directories = tuple(place(None, name) for name in file.relative.parent.parts)
    return (*directories, (-1.0, "") if first else place(None, file.relative.stem))
