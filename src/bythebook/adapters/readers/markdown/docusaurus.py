"""Docusaurus: order from sidebars and positions, ids and slugs and addresses as it makes them."""

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.front_matter import load_yaml
from bythebook.adapters.readers.markdown.pages import (
    Page,
    SourceFile,
    first_title,
    place,
    spoken,
    unnumbered,
)
from bythebook.adapters.readers.markdown.tree import Tree, is_inside, is_markdown
from bythebook.errors import UnreadableBook


def has_docusaurus_config(folder: Path) -> bool:
    """Say whether a folder is the source of a Docusaurus site, or the docs folder of one."""
    return any(folder.glob("docusaurus.config.*")) or any(folder.parent.glob("docusaurus.config.*"))


def docusaurus_root(tree: Tree) -> Path | None:
    """Find where the docs of a Docusaurus site are; none if the folder is no such site."""
    folder, docs = tree.root, tree.root / "docs"
    if any(folder.glob("docusaurus.config.*")):
        return docs if docs.is_dir() else folder
    if any(folder.parent.glob("docusaurus.config.*")):
        return folder
    if any(_is_mark(PurePosixPath(name)) for name in tree.files):
        has_pages = any(is_markdown(name) and "/" not in name for name in tree.files)
        return docs if docs.is_dir() and not has_pages else folder
    return None


def _is_mark(path: PurePosixPath) -> bool:
    return path.suffix == ".mdx" or path.name in {
        "_category_.json", "_category_.yml", "_category_.yaml",
    }  # fmt: skip


def docusaurus_pages(root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    """Lay the pages of a site out in reading order."""
    route = _route(root)
    labels = {
        directory: _category(root / directory) for directory in {f.relative.parent for f in files}
    }
    doc_ids = {file.relative: _id(file) for file in files}
    openings = _openings(files)
    listed = _sidebar_order(root)
    kept = [file for file in files if file.front.get("draft") is not True]
    order = sorted(kept, key=lambda file: _rank(file, doc_ids, listed, labels))
    pages = []
    for file in order:
        slug = _slug(file, doc_ids[file.relative])
        url = urljoin(base_url, quote(f"{route}{slug}".lstrip("/"))) if base_url else ""
        document_id = slug.strip("/") or "index"
        chapter = _chapter(file, openings, labels)
        pages.append(Page(file.path, document_id, url, chapter, route=f"{route}{slug}"))
    return pages


def _id(file: SourceFile) -> str:
    parts = [unnumbered(part) for part in file.relative.with_suffix("").parts]
    return "/".join((*parts[:-1], file.word("id") or parts[-1]))


def _slug(file: SourceFile, doc_id: str) -> str:
    directory = doc_id.rpartition("/")[0]
    slug = file.word("slug")
    if slug is not None:
        path = posixpath.normpath(posixpath.join("/", directory, slug)).lstrip("/")
        return f"/{path}/" if path and slug.endswith("/") else f"/{path}"
    if _is_category_index(file.relative):
        return f"/{directory}/" if directory else "/"
    return f"/{doc_id}"


def _is_category_index(relative: PurePosixPath) -> bool:
    """Say whether a page is its folder's own: by its file's name as it is, whatever its id."""
    return relative.stem.lower() in {"index", "readme", relative.parent.name.lower()}


def _chapter(
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
        return opening.word("sidebar_label") or opening.word("title") or first_title(opening.body)
    return spoken(top.name)


def _openings(files: Sequence[SourceFile]) -> Mapping[PurePosixPath, SourceFile]:
    """Find the first page of each folder that is the folder's own."""
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
        ranks.append(place(labels.get(directory, {}).get("position"), directory.name))
    is_index = file.relative.stem.lower() in {"index", "readme"} and len(file.relative.parts) > 1
    own = file.front.get("sidebar_position")
    ranks.append((-1.0, "") if is_index and own is None else place(own, file.relative.stem))
    return (1, *ranks)


def _sidebar_order(root: Path) -> dict[str, int]:
    """Read the order of a sidebars file off its string literals: running it would run its code."""
    for folder in (root.parent, root):
        for path in sorted(folder.glob("sidebars.*")):
            code = re.sub(r"//[^\n]*|/\*.*?\*/", "", _text(path), flags=re.DOTALL)
            names = re.findall(r"""(?<!\w)['"`]([^'"`\n]+)['"`]""", code)
            return {name: place for place, name in reversed(list(enumerate(names)))}
    return {}


def _category(folder: Path) -> Mapping[str, object]:
    for path in sorted(folder.glob("_category_.*")):
        try:
            found = json.loads(_text(path)) if path.suffix == ".json" else load_yaml(_text(path))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    return {}


def _route(root: Path) -> str:
    """Give the path that docs have on the site: /docs unless the config says otherwise."""
    for path in sorted(root.parent.glob("docusaurus.config.*")):
        found = re.search(r"""routeBasePath:\s*['"]([^'"]*)['"]""", _text(path))
        route = found.group(1) if found else "docs"
        return f"/{route.strip('/')}" if route.strip("/") else ""
    return ""  # only a docs folder was given: the base URL is where that folder is served


def docusaurus_title(folder: Path) -> str | None:
    """Give the title that the site's settings name."""
    for path in sorted(folder.glob("docusaurus.config.*")):
        found = re.search(r"""\btitle\s*:\s*(['"])(.+?)\1""", _text(path))
        return found.group(2) if found else None
    return None


def _text(path: Path) -> str:
    """Give a settings file's text; nothing if it is no file of this folder or no text."""
    try:
        return load_text(path) if is_inside(path.parent, path) else ""
    except UnreadableBook:
        return ""
