"""MkDocs sites: settings with inheritance, the navigation, and addresses as MkDocs makes them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.includes import IncludeBudget, IncludedFiles
from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    find_first_title,
    make_title,
)
from bythebook.adapters.readers.markdown.settings import find_settings, load_settings
from bythebook.adapters.readers.markdown.tree import Tree, walk_tree
from bythebook.adapters.readers.mkdocs.includes import PageIncluder
from bythebook.adapters.readers.mkdocs.nav import (
    NavEntry,
    list_by_folder,
    rank_page,
    read_nav,
)
from bythebook.adapters.readers.mkdocs.syntax import MkDocsSyntax
from bythebook.adapters.readers.plain_text import fold_to_ascii
from bythebook.adapters.readers.source_file import is_file_inside, is_inside
from bythebook.errors import UnreadableBook

_NAMES = ("mkdocs.yml", "mkdocs.yaml")
_MAX_INHERITED = 5
_MAX_ABOVE = 3  # folders above the one given where settings are looked for
_MAX_DEPTH = 30


@dataclass(slots=True)
class MkDocsSite:
    """A site, laid out from its settings."""

    docs: Path
    tree: Tree
    settings: Mapping[str, object]
    entries: Sequence[NavEntry]
    sections: Mapping[tuple[int, ...], str]  # their titles, if the navigation gives one
    included: IncludedFiles
    missing: list[str] = field(default_factory=list)

    def list_files(self) -> list[Path]:
        """List every page: first those of the navigation."""
        listed = {entry.path: self.docs / entry.path for entry in self.entries}
        self.missing.extend(
            name for name, path in listed.items() if not is_file_inside(path, self.docs)
        )
        found = [path for name, path in listed.items() if name not in self.missing]
        others = [path for path in self.tree.list_markdown() if path not in set(found)]
        others.sort(key=lambda path: rank_page(path.relative_to(self.docs)))
        return [*found, *others]

    def list_pages(
        self, _root: Path, files: Sequence[SourceFile], base_url: str
    ) -> list[MarkdownPage]:
        """List the pages in the order of the navigation, then those that it leaves out."""
        known = {file.relative.as_posix(): file for file in files}
        listed = {entry.path: entry for entry in self.entries}
        names = [entry.path for entry in self.entries if entry.path in known]
        pages = []
        for name in dict.fromkeys((*names, *known)):
            file = known[name]
            if file.front.get("draft") is True:
                continue
            route = self._make_route(file.relative)
            url = urljoin(base_url, quote(route.lstrip("/"))) if base_url else ""
            entry = listed.get(name)
            chapter = self._find_chapter(file.relative, entry, known)
            pages.append(
                MarkdownPage(
                    file.path, file.relative.with_suffix("").as_posix(), url, chapter,
                    (entry.title if entry else None) or None, route,
                )
            )  # fmt: skip
        return pages

    def _make_route(self, relative: PurePosixPath) -> str:
        bare = relative.with_suffix("")
        if bare.name.lower() in {"index", "readme"}:
            above = "" if str(bare.parent) == "." else f"{bare.parent}/"
            return f"/{above}"
        return f"/{bare}.html" if self.settings.get("use_directory_urls") is False else f"/{bare}/"

    def _find_chapter(
        self, relative: PurePosixPath, entry: NavEntry | None, known: Mapping[str, SourceFile]
    ) -> str | None:
        if entry is None or not entry.section:
            return None if entry or len(relative.parts) == 1 else make_title(relative.parts[0])
        top = entry.section[:1]
        if title := self.sections.get(top):
            return title
        # A section without a title has that of its index page, which is its first.
        first = next((e.path for e in self.entries if e.section[:1] == top), "")
        file = known.get(first)
        own = file and (file.get_text("title") or find_first_title(file.body))
        return re.sub(r"[ \t]*\{[^{}]*\}$", "", own) if own else None

    def expand(self, file: SourceFile) -> str:
        """Insert the files that a page includes."""
        config = self.settings.get("markdown_extensions")
        bases = _find_snippet_folders(config)
        folders = [self.included.root / base for base in bases] + [self.docs.parent, self.docs]
        includer = PageIncluder(self.included, file, folders, IncludeBudget(file))
        return includer.expand(file.body, (file.path,))

    def list_warnings(self) -> Iterator[str]:
        """Report pages that the navigation names in vain, and missing includes."""
        yield from (f"{name} is in the navigation but missing." for name in self.missing[:5])
        yield from self.included.list_warnings()


def describe_mkdocs(tree: Tree) -> BookKind | None:
    """Describe an MkDocs site; None if the folder is not one, nor inside one."""
    path = find_settings(tree, *_NAMES) or _find_above(tree.root)
    if path is None:
        return None
    project = tree.root if is_inside(path, tree.root) else path.parent
    settings = _load_inherited(path, project)
    docs = _find_docs(path, settings, project)
    if docs is None:
        return None
    is_part = docs != tree.root and is_inside(tree.root, docs)
    below = walk_tree(docs) if not is_inside(docs, tree.root) else tree.narrow_to(docs)
    entries: list[NavEntry] = []
    sections: dict[tuple[int, ...], str] = {}
    read_nav(settings.get("nav"), (), entries, sections)
    if not entries:
        entries, sections = list_by_folder(below)
    if is_part:  # only the folder that was asked for
        part = tree.root.resolve().relative_to(docs.resolve()).as_posix()
        entries = [entry for entry in entries if entry.path.startswith(f"{part}/")]
        below = Tree(docs, frozenset(n for n in below.files if n.startswith(f"{part}/")))
    site = MkDocsSite(docs, below, settings, entries, sections, IncludedFiles(project))
    title = settings.get("site_name")
    return BookKind(
        name="MkDocs",
        root=docs,
        files=site.list_files(),
        list_pages=site.list_pages,
        choose_anchor_maker=lambda _bodies: make_mkdocs_anchor,
        syntax=_make_syntax(settings),
        expand=site.expand,
        list_warnings=site.list_warnings,
        title=str(title) if title else None,
    )


def make_mkdocs_anchor(title: str) -> str:
    """Make a heading's anchor as Python-Markdown does."""
    kept = re.sub(r"[^\w\s-]", "", fold_to_ascii(title)).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)


def _find_above(folder: Path) -> Path | None:
    """Find the settings of the site that a folder is a part of."""
    above = folder.resolve()
    for _ in range(_MAX_ABOVE):
        above = above.parent
        for name in _NAMES:
            path = above / name
            if path.is_file():
                docs = _read_docs_folder(path)
                return path if is_inside(folder, above / docs) else None
    return None


def _read_docs_folder(path: Path) -> str:
    """Return where the pages are; settings above the book that cannot be read are not its own."""
    try:
        docs = load_settings(path).get("docs_dir")
    except UnreadableBook:
        return "docs"
    return docs if isinstance(docs, str) else "docs"


def _load_inherited(path: Path, project: Path) -> Mapping[str, object]:
    """Read settings with those that they inherit, from inside the project."""
    chain: list[Mapping[str, object]] = []
    for _ in range(_MAX_INHERITED):
        settings = load_settings(path)
        chain.append(settings)
        parent = settings.get("INHERIT")
        if not isinstance(parent, str) or not is_file_inside(path.parent / parent, project):
            break
        path = path.parent / parent
    merged: dict[str, object] = {}
    for settings in reversed(chain):
        _merge(merged, settings, 0)
    return merged


def _merge(into: dict[str, object], settings: Mapping[str, object], depth: int) -> None:
    for key, value in settings.items():
        own = into.get(key)
        if isinstance(own, dict) and isinstance(value, dict) and depth < _MAX_DEPTH:
            merged = dict(own)
            _merge(merged, value, depth + 1)
            into[key] = merged
        else:
            into[key] = value


def _find_docs(path: Path, settings: Mapping[str, object], project: Path) -> Path | None:
    """Find the folder of the pages; of a site in several languages, that of its own language."""
    given = settings.get("docs_dir")
    docs = path.parent / (given if isinstance(given, str) else "docs")
    if not docs.is_dir() or not is_inside(docs, project):
        return None
    language = _find_language(settings)
    has_pages = any(docs.glob("*.md"))
    return docs / language if not has_pages and (docs / language).is_dir() else docs


def _find_language(settings: Mapping[str, object]) -> str:
    plugins = settings.get("plugins")
    listed = plugins if isinstance(plugins, list) else [plugins]
    for plugin in listed:
        options = plugin.get("i18n") if isinstance(plugin, dict) else None
        for language in options.get("languages", ()) if isinstance(options, dict) else ():
            if isinstance(language, dict) and language.get("default") is True:
                return str(language.get("locale", "en"))
    theme = settings.get("theme")
    given = theme.get("language") if isinstance(theme, dict) else None
    return given if isinstance(given, str) and re.fullmatch(r"[\w-]{2,8}", given) else "en"


def _find_snippet_folders(extensions: object) -> list[str]:
    for name, options in _iterate_extensions(extensions):
        if name == "pymdownx.snippets" and isinstance(options, dict):
            base = options.get("base_path", ".")
            return [str(part) for part in (base if isinstance(base, list) else [base])]
    return []


def _iterate_extensions(extensions: object) -> Iterator[tuple[str, object]]:
    if isinstance(extensions, dict):
        yield from ((str(name), options) for name, options in extensions.items())
    for item in extensions if isinstance(extensions, list) else ():
        if isinstance(item, dict):
            yield from ((str(name), options) for name, options in item.items())
        else:
            yield str(item), None


def _make_syntax(settings: Mapping[str, object]) -> MkDocsSyntax:
    names = frozenset(name for name, _ in _iterate_extensions(settings.get("markdown_extensions")))
    plugins = frozenset(name for name, _ in _iterate_extensions(settings.get("plugins")))
    extra = settings.get("extra")
    values = extra.items() if isinstance(extra, dict) else ()
    variables = {str(key): str(value) for key, value in values if isinstance(value, str | int)}
    return MkDocsSyntax(
        names, variables, has_templates=any("macros" in name for name in names | plugins)
    )
