"""How each kind of Markdown book orders, names and addresses its pages."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

import yaml

_NUMBER_PREFIX = re.compile(r"^(\d+)\s*[-_.]+\s*([^-_.\s].*)$")
_VERSION_LIKE = re.compile(
    r"^(\d{2}[-_]\d{2}|\d{4}[-_]\d{2}|\d+[-_.]\d+)"
)  # dates and versions keep theirs
_SKIPPED = frozenset({"node_modules", "build", "dist", "target", "__pycache__", "venv"})
_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
MARKDOWN = frozenset({".md", ".mdx", ".markdown"})


@dataclass(frozen=True, slots=True)
class Page:
    """A source file with its place in the book."""

    path: Path
    document_id: str
    url: str
    chapter: str | None  # none: the page is its own chapter
    title: str | None = None  # where the layout, not the page, names it


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Markdown file, its front matter taken off."""

    path: Path
    relative: PurePosixPath
    front: Mapping[str, object]
    body: str

    def word(self, key: str) -> str | None:
        """Give a front matter entry as text, if it is there."""
        value = self.front.get(key)
        return str(value) if value is not None else None


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of book: how to tell it, how to lay it out, how it makes anchors."""

    name: str
    root: Path
    files: Callable[[Path], Sequence[Path]]
    pages: Callable[[Path, Sequence[SourceFile], str], Sequence[Page]]
    anchor: Callable[[str], str]


def detect_layout(folder: Path) -> Layout:
    """Tell what kind of Markdown book a folder is."""
    for root in (folder, folder / "src"):
        if (root / "SUMMARY.md").is_file():
            return Layout("mdBook", root, _summary_files, _mdbook_pages, mdbook_anchor)
    if docs := _docusaurus_root(folder):
        return Layout("Docusaurus", docs, markdown_files, _docusaurus_pages, github_anchor)
    return Layout("Markdown folder", _trunk(folder), markdown_files, _plain_pages, github_anchor)


def _trunk(folder: Path) -> Path:
    """Go down while a folder holds nothing but one other folder with pages in it."""
    paths = [path.relative_to(folder) for path in markdown_files(folder)]
    tops = {path.parts[0] for path in paths}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in paths):
        return _trunk(folder / tops.pop())
    return folder


def markdown_files(root: Path) -> list[Path]:
    """Find the Markdown files below a folder, in the order of their names."""
    found = (path for path in root.rglob("*") if path.suffix.lower() in MARKDOWN and path.is_file())
    return sorted(path for path in found if not _is_skipped(path.relative_to(root)))


def _is_skipped(relative: Path) -> bool:
    return any(part.startswith((".", "_")) or part in _SKIPPED for part in relative.parts)


def github_anchor(title: str) -> str:
    """Make a heading's anchor as Docusaurus and GitHub do."""
    kept = re.sub(r"[^\w\- ]", "", title.lower(), flags=re.UNICODE)
    return kept.replace(" ", "-")


def mdbook_anchor(title: str) -> str:
    """Make a heading's anchor as mdBook does."""
    kept = (c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in title)
    return "".join(kept)


# Docusaurus


def _docusaurus_root(folder: Path) -> Path | None:
    has_config = any(folder.glob("docusaurus.config.*"))
    if has_config:
        return folder / "docs" if (folder / "docs").is_dir() else folder
    marks = ("_category_.json", "_category_.yml", "_category_.yaml")
    if any(path.name in marks for path in folder.rglob("_category_.*")) or any(
        folder.rglob("*.mdx")
    ):
        return (
            folder / "docs"
            if (folder / "docs").is_dir() and not any(folder.glob("*.md*"))
            else folder
        )
    return None


def _docusaurus_pages(root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    route = _route(root)
    labels = {
        directory: _category(root / directory) for directory in {f.relative.parent for f in files}
    }
    doc_ids = {file.relative: _docusaurus_id(file) for file in files}
    listed = _sidebar_order(root)
    kept = [file for file in files if file.front.get("draft") is not True]
    order = sorted(kept, key=lambda file: _docusaurus_rank(file, doc_ids, listed, labels))
    pages = []
    for file in order:
        slug = _docusaurus_slug(file, doc_ids[file.relative])
        url = urljoin(base_url, quote(f"{route}{slug}".lstrip("/"))) if base_url else ""
        document_id = slug.strip("/") or "index"
        pages.append(Page(file.path, document_id, url, _docusaurus_chapter(file, files, labels)))
    return pages


def _docusaurus_id(file: SourceFile) -> str:
    parts = [_unnumbered(part) for part in file.relative.with_suffix("").parts]
    return "/".join((*parts[:-1], file.word("id") or parts[-1]))


def _docusaurus_slug(file: SourceFile, doc_id: str) -> str:
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


def _docusaurus_chapter(
    file: SourceFile,
    files: Sequence[SourceFile],
    labels: Mapping[PurePosixPath, Mapping[str, object]],
) -> str | None:
    if len(file.relative.parts) == 1:
        return None
    top = PurePosixPath(file.relative.parts[0])
    if label := labels.get(top, {}).get("label"):
        return str(label)
    for other in files:
        if other.relative.parent == top and other.relative.stem.lower() in {"index", "readme"}:
            return other.word("sidebar_label") or other.word("title") or first_title(other.body)
    return _spoken(top.name)


def _docusaurus_rank(
    file: SourceFile,
    doc_ids: Mapping[PurePosixPath, str],
    listed: Mapping[str, int],
    labels: Mapping[PurePosixPath, Mapping[str, object]],
) -> tuple[object, ...]:
    if (place := listed.get(doc_ids[file.relative])) is not None:
        return (0, place)
    ranks: list[tuple[float, str]] = []
    for depth in range(1, len(file.relative.parts)):
        directory = PurePosixPath(*file.relative.parts[:depth])
        ranks.append(_place(labels.get(directory, {}).get("position"), directory.name))
    is_index = file.relative.stem.lower() in {"index", "readme"} and len(file.relative.parts) > 1
    own = file.front.get("sidebar_position")
    ranks.append((-1.0, "") if is_index and own is None else _place(own, file.relative.stem))
    return (1, *ranks)


def _place(position: object, name: str) -> tuple[float, str]:
    if isinstance(position, int | float):
        return (float(position), name)
    number = _NUMBER_PREFIX.match(name)
    return (float(number.group(1)) if number else 1e6, name.lower())


def _sidebar_order(root: Path) -> dict[str, int]:
    """Read the order of a sidebars file off its string literals: running it would run its code."""
    for folder in (root.parent, root):
        for path in sorted(folder.glob("sidebars.*")):
            code = re.sub(
                r"//[^\n]*|/\*.*?\*/", "", path.read_text("utf-8", "replace"), flags=re.DOTALL
            )
            names = re.findall(r"""(?<!\w)['"`]([^'"`\n]+)['"`]""", code)
            return {name: place for place, name in reversed(list(enumerate(names)))}
    return {}


def _category(folder: Path) -> Mapping[str, object]:
    for path in sorted(folder.glob("_category_.*")):
        text = path.read_text("utf-8", "replace")
        try:
            found = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
        except (ValueError, yaml.YAMLError):
            return {}
        return found if isinstance(found, dict) else {}
    return {}


def _route(root: Path) -> str:
    """Give the path that docs have on the site: /docs unless the config says otherwise."""
    for path in sorted(root.parent.glob("docusaurus.config.*")):
        found = re.search(
            r"""routeBasePath:\s*['"]([^'"]*)['"]""", path.read_text("utf-8", "replace")
        )
        route = found.group(1) if found else "docs"
        return f"/{route.strip('/')}" if route.strip("/") else ""
    return ""  # only a docs folder was given: the base URL is where that folder is served


def _unnumbered(name: str) -> str:
    match = _NUMBER_PREFIX.match(name)
    return match.group(2) if match and not _VERSION_LIKE.match(name) else name


# mdBook


_SUMMARY_LINE = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+?)\]\(<?([^)>]*)>?\)\s*$")


def _summary_entries(root: Path) -> list[tuple[int, str, str]]:
    lines = (root / "SUMMARY.md").read_text("utf-8", "replace").splitlines()
    found = [(line, match) for line in lines if (match := _SUMMARY_LINE.match(line))]
    return [
        (
            len(match.group(1).expandtabs(4)) if re.match(r"\s*[-*+]", line) else 0,
            match.group(2),
            match.group(3),
        )
        for line, match in found
    ]


def _summary_files(root: Path) -> list[Path]:
    paths = (root / name.split("#")[0].removeprefix("./") for _, _, name in _summary_entries(root))
    return list(dict.fromkeys(path for path in paths if path.is_file()))


def _mdbook_pages(root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    known = {file.path: file for file in files}
    pages: list[Page] = []
    chapter = ""
    for indent, title, name in _summary_entries(root):
        title = re.sub(r"[`*_]", "", title)
        if indent == 0:
            chapter = title
        path = root / name.split("#")[0].removeprefix("./")
        if (file := known.pop(path, None)) is None:
            continue
        relative = file.relative.with_suffix("")
        if relative.name.lower() == "readme":
            relative = relative.with_name("index")
        url = urljoin(base_url, quote(f"{relative}.html")) if base_url else ""
        pages.append(Page(path, str(relative), url, chapter, title))
    return pages


# A plain folder


def _plain_pages(_root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    pages = []
    for file in sorted(files, key=_plain_rank):
        url = urljoin(base_url, quote(str(file.relative))) if base_url else ""
        chapter = _spoken(file.relative.parts[0]) if len(file.relative.parts) > 1 else None
        pages.append(Page(file.path, str(file.relative.with_suffix("")), url, chapter))
    return pages


def _plain_rank(file: SourceFile) -> tuple[object, ...]:
    first = file.relative.stem.lower() in {"index", "readme", "intro", "introduction", "preface"}
    directories = tuple(_place(None, name) for name in file.relative.parent.parts)
    return (*directories, (-1.0, "") if first else _place(None, file.relative.stem))


def _spoken(name: str) -> str:
    words = _unnumbered(name).replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def first_title(body: str) -> str | None:
    """Give the text of the first level-one heading; a comment in code is none."""
    prose = _FENCED.sub("", body)
    match = re.search(r"^#[ \t]+(.+?)\s*(?:\{#.*\})?\s*#*\s*$", prose, flags=re.MULTILINE)
    return re.sub(r"[`*_]", "", match.group(1)) if match else None
