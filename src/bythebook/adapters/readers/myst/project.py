"""Jupyter Book and MyST projects: their settings, their table of contents and their addresses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from docutils import nodes

from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.includes import IncludedFiles
from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile, rank_naturally
from bythebook.adapters.readers.markdown.settings import find_settings, load_settings
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.myst.citations import load_references
from bythebook.adapters.readers.myst.syntax import MystSyntax
from bythebook.adapters.readers.source_file import is_file_inside
from bythebook.errors import UnreadableBook

_PAGES = (".md", ".ipynb")
_BELOW = ("chapters", "sections", "entries", "children", "items")
_MAX_ENTRIES = 20_000
_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in the table of contents."""

    file: str  # as written
    title: str
    top: int  # the place of its top entry in the list of all
    depth: int


@dataclass(slots=True)
class MystProject:
    """A project, laid out from its settings."""

    root: Path
    tree: Tree
    is_mystmd: bool  # addresses and settings of the newer tool
    settings: Mapping[str, object]
    entries: Sequence[Entry]
    syntax: MystSyntax
    missing: list[str] = field(default_factory=list)

    def list_files(self) -> list[Path]:
        """List the files of the table of contents that exist."""
        found: dict[Path, None] = {}
        for entry in self.entries:
            if (path := self.find_file(entry.file)) is not None:
                found.setdefault(path)
            elif entry.file:
                self.missing.append(entry.file)
        return list(found)

    def find_file(self, name: str) -> Path | None:
        """Find the file of an entry, which is often written without its suffix."""
        for suffix in ("", *_PAGES):
            path = Path(self.root, f"{name}{suffix}")
            if path.suffix.lower() in _PAGES and is_file_inside(path, self.tree.root):
                return path
        return None

    def list_pages(
        self, _root: Path, files: Sequence[SourceFile], base_url: str
    ) -> list[MarkdownPage]:
        """List the pages in the order of the table of contents."""
        self.syntax.collect(files)
        known = {file.path: file for file in files}
        tops: dict[int, str] = {}
        pages = []
        for entry in self.entries:
            path = self.find_file(entry.file)
            file = known.pop(path, None) if path else None
            title = entry.title or (self._find_title(file) if file else "")
            if entry.depth == 0:
                tops[entry.top] = title
            if file is None:
                continue
            route = self._make_route(file)
            url = urljoin(base_url, quote(route.lstrip("/"))) if base_url else ""
            document_id = file.relative.with_suffix("").as_posix()
            chapter = tops.get(entry.top) if entry.depth else None
            pages.append(MarkdownPage(file.path, document_id, url, chapter, title, route))
        return pages

    def _find_title(self, file: SourceFile) -> str:
        return file.get_text("title") or self.syntax.find_title(file) or file.relative.stem

    def _make_route(self, file: SourceFile) -> str:
        relative = file.relative.with_suffix("")
        if not self.is_mystmd:
            return f"/{relative}.html"
        if self.entries and self.find_file(self.entries[0].file) == file.path:
            return "/"
        site = self.settings.get("site")
        options = site.get("options") if isinstance(site, dict) else None
        has_folders = isinstance(options, dict) and options.get("folders") is True
        parts = [_make_slug(part) for part in relative.parts]
        if parts[-1] == "index" and len(parts) > 1:
            parts.pop()
        return f"/{'/'.join(parts) if has_folders else parts[-1]}"

    def list_warnings(self) -> Iterator[str]:
        """Report what the table of contents names in vain, and pages that it leaves out."""
        yield from (f"{name} is listed but missing." for name in self.missing[:5])
        if more := len(self.missing) - 5 if len(self.missing) > 5 else 0:
            yield f"{more} more listed pages are missing."
        listed = {self.find_file(entry.file) for entry in self.entries}
        pages = self.tree.narrow_to(self.root).list_markdown()
        if left := [path for path in pages if path not in listed]:
            yield f"{len(left)} Markdown files are not in the table of contents and were not read."
        yield from self.syntax.included.list_warnings()


def describe_myst(tree: Tree) -> BookKind | None:
    """Describe a Jupyter Book or a MyST project; None if the folder is neither."""
    contents = find_settings(tree, "_toc.yml", "_toc.yaml")
    config = find_settings(tree, "myst.yml", "myst.yaml")
    main = contents or config
    if main is None:
        return None
    is_mystmd = contents is None
    root = main.parent
    settings: Mapping[str, object] = {}
    if is_mystmd:
        settings = load_settings(main)
        entries = _read_myst_contents(settings, tree.narrow_to(root))
    else:
        entries = _read_contents(main, tree.narrow_to(root))
        path = next((p for p in (root / "_config.yml", root / "_config.yaml") if p.is_file()), None)
        settings = load_settings(path) if path and is_file_inside(path, tree.root) else {}
    syntax = MystSyntax(
        IncludedFiles(tree.root),
        _read_substitutions(settings),
        load_references(tree.narrow_to(root)),
    )
    project = MystProject(root, tree, is_mystmd, settings, entries, syntax)
    about = settings.get("project") if is_mystmd else settings
    title = about.get("title") if isinstance(about, dict) else None
    return BookKind(
        name="MyST" if is_mystmd else "Jupyter Book",
        root=root,
        files=project.list_files(),
        list_pages=project.list_pages,
        choose_anchor_maker=lambda _bodies: nodes.make_id,
        syntax=syntax,
        expand=lambda file: file.body,
        list_warnings=project.list_warnings,
        title=str(title) if title else None,
    )


def _read_contents(path: Path, tree: Tree) -> list[Entry]:
    """Read _toc.yml in its present and its first form."""
    loaded = load_settings(path, allow_list=True)
    found: list[Entry] = []
    if isinstance(loaded.get("root"), str):
        found.append(Entry(str(loaded["root"]), "", 0, 0))
    parts = loaded.get("parts") or loaded.get("subtrees")
    for part in parts if isinstance(parts, list) else [loaded]:
        for key in (*_BELOW, "list"):
            _add_entries(found, part.get(key) if isinstance(part, dict) else None, tree, 0)
    if not found:
        raise UnreadableBook(f"{path} lists no page.", "List the book's files in it.")
    return found


def _read_myst_contents(settings: Mapping[str, object], tree: Tree) -> list[Entry]:
    project = settings.get("project")
    contents = project.get("toc") if isinstance(project, dict) else None
    found: list[Entry] = []
    _add_entries(found, contents, tree, 0)
    if found:
        return found
    names = [name for name in tree.files if name.endswith(_PAGES) and not name.startswith("_")]
    names.sort(
        key=lambda name: (PurePosixPath(name).stem not in {"index", "readme"}, rank_naturally(name))
    )
    return [Entry(name, "", at, 0) for at, name in enumerate(names)]


def _add_entries(found: list[Entry], entries: object, tree: Tree, depth: int, top: int = 0) -> None:
    """Add entries and those below them; a part without a file of its own is no chapter."""
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or depth > _MAX_DEPTH or len(found) > _MAX_ENTRIES:
            continue
        own = len(found) if depth == 0 else top
        name, title = entry.get("file"), entry.get("title")
        words = title if isinstance(title, str) else ""
        if isinstance(name, str):
            found.append(Entry(name, words, own, depth))
        for pattern in (entry.get("glob"), entry.get("pattern")):
            if isinstance(pattern, str):
                for match in _find_matches(tree, pattern):
                    found.append(Entry(match, "", len(found) if depth == 0 else top, depth))
        has_own = isinstance(name, str)
        if not has_own and words and depth == 0:
            found.append(Entry("", words, own, 0))  # a title above pages
        for key in _BELOW:
            is_part = "part" in entry or not (has_own or words)
            _add_entries(found, entry.get(key), tree, depth if is_part else depth + 1, own)


def _find_matches(tree: Tree, pattern: str) -> list[str]:
    names = (name for name in tree.files if name.endswith(_PAGES))
    found = (name for name in names if fnmatchcase(name, pattern) or _matches_bare(name, pattern))
    return sorted(found, key=rank_naturally)


def _matches_bare(name: str, pattern: str) -> bool:
    return fnmatchcase(PurePosixPath(name).with_suffix("").as_posix(), pattern)


def _make_slug(name: str) -> str:
    """Make a part of an address as MyST does: without a number before it, in small letters."""
    words = re.sub(r"^\d+[._ -]+", "", name)
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or name


def _read_substitutions(settings: Mapping[str, object]) -> Mapping[str, str]:
    found: object = settings
    for key in ("sphinx", "config"):
        found = found.get(key) if isinstance(found, dict) else None
    places = [found, settings.get("parse"), settings.get("project")]
    values: dict[str, str] = {}
    for place in places:
        for key in ("myst_substitutions", "substitutions"):
            given = place.get(key) if isinstance(place, dict) else None
            if isinstance(given, dict):
                values.update(
                    {str(k): str(v) for k, v in given.items() if isinstance(v, str | int)}
                )
    return values
