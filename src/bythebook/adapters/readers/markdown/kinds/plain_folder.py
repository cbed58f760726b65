"""Plain Markdown folders: order from an index page or from file names, chapters from folders."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.kinds.index_page import INDEX_NAMES, list_in_order
from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    find_first_title,
    make_title,
    rank_naturally,
)
from bythebook.adapters.readers.markdown.tree import Tree


def find_trunk(tree: Tree) -> Path:
    """Descend while a folder contains nothing but one other folder with pages."""
    trunk = tree.root
    paths = [path.relative_to(trunk).parts for path in tree.list_pages()]
    while paths and all(len(path) > 1 for path in paths) and len({path[0] for path in paths}) == 1:
        trunk /= paths[0][0]
        paths = [path[1:] for path in paths]
    return trunk


def list_plain_pages(
    above: str, _root: Path, files: Sequence[SourceFile], base_url: str
) -> list[MarkdownPage]:
    """List the pages; addresses keep the folders above the trunk, ids and chapters do not."""
    pages = []
    titles = _find_folder_titles(files)
    for file in list_in_order(sorted(files, key=_rank)):
        if file.front.get("draft") is True:
            continue
        route = str(above / file.relative)
        url = urljoin(base_url, quote(route)) if base_url else ""
        top = PurePosixPath(file.relative.parts[0])
        named = titles.get(top) or make_title(top.name)
        chapter = named if len(file.relative.parts) > 1 else None
        document_id = str(file.relative.with_suffix(""))
        pages.append(MarkdownPage(file.path, document_id, url, chapter, route=f"/{route}"))
    return pages


def _find_folder_titles(files: Sequence[SourceFile]) -> dict[PurePosixPath, str]:
    """Return the titles of folders that have a page of their own."""
    found: dict[PurePosixPath, str] = {}
    for file in files:
        if file.relative.stem.lower() in INDEX_NAMES:
            title = file.get_text("title") or find_first_title(file.body)
            if title:
                found.setdefault(file.relative.parent, title)
    return found


def _rank(file: SourceFile) -> tuple[object, ...]:
    directories, stem = file.relative.parent.parts, file.relative.stem
    named = rank_naturally(stem)
    if stem.lower() in {"index", "readme", "intro", "introduction", "preface", "foreword"}:
        named = ((-1, 0, stem),)
    elif stem.lower().startswith(("appendix", "glossary", "afterword", "epilogue")):
        named = ((2, 0, ""), *named)
    return (*(rank_naturally(name) for name in directories), named)
