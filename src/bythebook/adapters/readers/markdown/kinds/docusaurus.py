"""Docusaurus: order from sidebars and positions; ids, slugs and addresses as Docusaurus makes them."""

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    find_first_title,
    make_title,
    rank_by_position,
    strip_number,
)
from bythebook.adapters.readers.markdown.syntax.front_matter import load_yaml
from bythebook.adapters.readers.markdown.tree import Tree, is_markdown
from bythebook.adapters.readers.source_file import is_file_inside
from bythebook.errors import UnreadableBook


def has_docusaurus_config(folder: Path) -> bool:
    """Return True if a folder is the source of a Docusaurus site, or its docs folder."""
    return any(folder.glob("docusaurus.config.*")) or any(folder.parent.glob("docusaurus.config.*"))


def find_docs_folder(tree: Tree) -> Path | None:
    """Find the docs of a Docusaurus site; None if the folder is not such a site."""
    folder, docs = tree.root, tree.root / "docs"
    if any(folder.glob("docusaurus.config.*")):
        return docs if docs.is_dir() else folder
    if any(folder.parent.glob("docusaurus.config.*")):
        return folder
    if any(_is_docusaurus_file(PurePosixPath(name)) for name in tree.files):
        has_pages = any(is_markdown(name) and "/" not in name for name in tree.files)
        return docs if docs.is_dir() and not has_pages else folder
    return None


def _is_docusaurus_file(path: PurePosixPath) -> bool:
    return path.suffix == ".mdx" or path.name in {
        "_category_.json", "_category_.yml", "_category_.yaml",
    }  # fmt: skip


def list_docusaurus_pages(
    root: Path, files: Sequence[SourceFile], base_url: str
) -> list[MarkdownPage]:
    """List the pages of a site in reading order."""
    route = _read_route(root)
    labels = {
        directory: _read_category(root / directory)
        for directory in {f.relative.parent for f in files}
    }
    doc_ids = {file.relative: _make_id(file) for file in files}
    openings = _find_index_pages(files)
    listed = _read_sidebar_order(root)
    kept = [file for file in files if file.front.get("draft") is not True]
    order = sorted(kept, key=lambda file: _rank(file, doc_ids, listed, labels))
    pages = []
    for file in order:
        slug = _make_slug(file, doc_ids[file.relative])
        url = urljoin(base_url, quote(f"{route}{slug}".lstrip("/"))) if base_url else ""
        document_id = slug.strip("/") or "index"
        chapter = _find_chapter(file, openings, labels)
        pages.append(MarkdownPage(file.path, document_id, url, chapter, route=f"{route}{slug}"))
    return pages


def _make_id(file: SourceFile) -> str:
    parts = [strip_number(part) for part in file.relative.with_suffix("").parts]
    return "/".join((*parts[:-1], file.get_text("id") or parts[-1]))


def _make_slug(file: SourceFile, doc_id: str) -> str:
    directory = doc_id.rpartition("/")[0]
    slug = file.get_text("slug")
    if slug is not None:
        path = posixpath.normpath(posixpath.join("/", directory, slug)).lstrip("/")
        return f"/{path}/" if path and slug.endswith("/") else f"/{path}"
    if _is_category_index(file.relative):
        return f"/{directory}/" if directory else "/"
    return f"/{doc_id}"


def _is_category_index(relative: PurePosixPath) -> bool:
    """Return True if a page is the index of its folder, by its file name and regardless of its id."""
    return relative.stem.lower() in {"index", "readme", relative.parent.name.lower()}


def _find_chapter(
    file: SourceFile,
    openings: Mapping[PurePosixPath, SourceFile],
    labels: Mapping[PurePosixPath, Mapping[str, object]],
) -> str | None:
    if len(file.relative.parts) == 1:
        return None
    top = PurePosixPath(file.relative.parts[0])
    if label := labels.get(top, {}).get("label"):
        return str(label)
    if opening := openings.get(top):
        return (
            opening.get_text("sidebar_label")
            or opening.get_text("title")
            or find_first_title(opening.body)
        )
    return make_title(top.name)


def _find_index_pages(files: Sequence[SourceFile]) -> Mapping[PurePosixPath, SourceFile]:
    """Find the index page of each folder."""
    own = (file for file in files if file.relative.stem.lower() in {"index", "readme"})
    return {file.relative.parent: file for file in reversed(list(own))}


def _rank(
    file: SourceFile,
    doc_ids: Mapping[PurePosixPath, str],
    listed: Mapping[str, int],
    labels: Mapping[PurePosixPath, Mapping[str, object]],
) -> tuple[object, ...]:
    if (listed_at := listed.get(doc_ids[file.relative])) is not None:
        return (0, listed_at)
    ranks: list[tuple[float, str]] = []
    for depth in range(1, len(file.relative.parts)):
        directory = PurePosixPath(*file.relative.parts[:depth])
        ranks.append(rank_by_position(labels.get(directory, {}).get("position"), directory.name))
    is_index = file.relative.stem.lower() in {"index", "readme"} and len(file.relative.parts) > 1
    own = file.front.get("sidebar_position")
    ranks.append(
        (-1.0, "") if is_index and own is None else rank_by_position(own, file.relative.stem)
    )
    return (1, *ranks)


def _read_sidebar_order(root: Path) -> dict[str, int]:
    """Read the order from the string literals of a sidebars file, because running it would run its code."""
    for folder in (root.parent, root):
        for path in sorted(folder.glob("sidebars.*")):
            code = re.sub(r"//[^\n]*|/\*.*?\*/", "", _read_settings_file(path), flags=re.DOTALL)
            names = re.findall(r"""(?<!\w)['"`]([^'"`\n]+)['"`]""", code)
            return {name: place for place, name in reversed(list(enumerate(names)))}
    return {}


def _read_category(folder: Path) -> Mapping[str, object]:
    for path in sorted(folder.glob("_category_.*")):
        try:
            text = _read_settings_file(path)
            found = json.loads(text) if path.suffix == ".json" else load_yaml(text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    return {}


def _read_route(root: Path) -> str:
    """Return the path of the docs on the site: /docs unless the config sets another."""
    for path in sorted(root.parent.glob("docusaurus.config.*")):
        found = re.search(r"""routeBasePath:\s*['"]([^'"]*)['"]""", _read_settings_file(path))
        route = found.group(1) if found else "docs"
        return f"/{route.strip('/')}" if route.strip("/") else ""
    return ""  # for a docs folder alone, the base URL is where it is served


def read_docusaurus_title(folder: Path) -> str | None:
    """Return the title from the site's settings."""
    for path in sorted(folder.glob("docusaurus.config.*")):
        found = re.search(r"""\btitle\s*:\s*(['"])(.+?)\1""", _read_settings_file(path))
        return found.group(2) if found else None
    return None


def _read_settings_file(path: Path) -> str:
    """Return the text of a settings file; empty if it is outside the folder or not text."""
    try:
        return load_text(path) if is_file_inside(path, path.parent) else ""
    except UnreadableBook:
        return ""
