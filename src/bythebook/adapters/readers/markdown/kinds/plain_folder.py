"""Plain Markdown folders: order and chapters from file names."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    make_title,
    rank_naturally,
)
from bythebook.adapters.readers.markdown.tree import Tree


def find_trunk(tree: Tree) -> Path:
    """Descend while a folder contains nothing but one other folder with pages."""
    trunk = tree.root
    paths = [path.relative_to(trunk).parts for path in tree.list_markdown()]
    while paths and all(len(path) > 1 for path in paths) and len({path[0] for path in paths}) == 1:
        trunk /= paths[0][0]
        paths = [path[1:] for path in paths]
    return trunk


def list_plain_pages(
    above: str, _root: Path, files: Sequence[SourceFile], base_url: str
) -> list[MarkdownPage]:
    """List the pages; addresses keep the folders above the trunk, ids and chapters do not."""
    pages = []
    for file in sorted(files, key=_rank):
        if file.front.get("draft") is True:
            continue
        route = str(above / file.relative)
        url = urljoin(base_url, quote(route)) if base_url else ""
        chapter = make_title(file.relative.parts[0]) if len(file.relative.parts) > 1 else None
        document_id = str(file.relative.with_suffix(""))
        pages.append(MarkdownPage(file.path, document_id, url, chapter, route=f"/{route}"))
    return pages


def _rank(file: SourceFile) -> tuple[object, ...]:
    directories, stem = file.relative.parent.parts, file.relative.stem
    named = rank_naturally(stem)
    if stem.lower() in {"index", "readme", "intro", "introduction", "preface", "foreword"}:
        named = ((-1, 0, stem),)
    elif stem.lower().startswith(("appendix", "glossary", "afterword", "epilogue")):
        named = ((2, 0, ""), *named)
    return (*(rank_naturally(name) for name in directories), named)
