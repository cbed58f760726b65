"""Quarto projects: chapters and parts of a book, or the contents of a site."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.includes import (
    MAX_DEPTH,
    IncludeBudget,
    IncludedFiles,
)
from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile, rank_naturally
from bythebook.adapters.readers.markdown.settings import find_settings, load_settings
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.myst.citations import load_references
from bythebook.adapters.readers.plain_text import fold_to_ascii
from bythebook.adapters.readers.quarto.labels import QuartoLabels
from bythebook.adapters.readers.quarto.syntax import QuartoSyntax
from bythebook.adapters.readers.source_file import is_file_inside

QUARTO = (".qmd", ".rmd")
_PAGES = (".qmd", ".md", ".rmd", ".ipynb")
_INCLUDE = re.compile(r"^[ \t]*\{\{<[ \t]*include[ \t]+(\S+)[ \t]*>\}\}[ \t]*$", re.MULTILINE)
_LISTS = ("contents", "chapters", "appendices")
_MAX_NESTING = 20
_MAX_VARIABLES = 1_000


@dataclass(slots=True)
class QuartoProject:
    """A project, laid out from its settings."""

    root: Path
    tree: Tree
    names: Sequence[str]  # of pages, in order
    syntax: QuartoSyntax
    included: IncludedFiles
    missing: list[str] = field(default_factory=list)

    def list_files(self) -> list[Path]:
        """List the pages that exist."""
        found: dict[Path, None] = {}
        for name in self.names:
            path = self.root / name
            if is_file_inside(path, self.tree.root):
                found.setdefault(path)
            else:
                self.missing.append(name)
        return list(found)

    def list_pages(
        self, _root: Path, files: Sequence[SourceFile], base_url: str
    ) -> list[MarkdownPage]:
        """List the pages in the author's order; each is a chapter."""
        self.syntax.labels.collect(files)
        pages = []
        for file in files:
            if file.front.get("draft") is True:
                continue
            bare = file.relative.with_suffix("").as_posix()
            url = urljoin(base_url, quote(f"{bare}.html")) if base_url else ""
            pages.append(MarkdownPage(file.path, bare, url, None, route=f"/{bare}.html"))
        return pages

    def expand(self, file: SourceFile) -> str:
        """Insert the pages that a page includes."""
        if "include" not in file.body:
            return file.body
        return self._expand(file, file.body, (file.path,), IncludeBudget(file))

    def _expand(
        self, file: SourceFile, text: str, trail: tuple[Path, ...], budget: IncludeBudget
    ) -> str:
        def insert(found: re.Match[str]) -> str:
            target = found.group(1).strip("\"'")
            above = self.root if target.startswith("/") else trail[-1].parent
            path = Path(above, target.lstrip("/"))
            body = self.included.load(path)
            if body is None or path in trail or len(trail) > MAX_DEPTH:
                self.included.record_missing(target, file)
                return ""
            body = budget.spend(split_front_matter(body, path)[1])
            return self._expand(file, body, (*trail, path), budget)

        return _INCLUDE.sub(insert, text)

    def list_warnings(self) -> Iterator[str]:
        """Report pages that the settings name in vain, and missing includes."""
        yield from (f"{name} is listed but missing." for name in self.missing[:5])
        yield from self.included.list_warnings()


def describe_quarto(tree: Tree) -> BookKind | None:
    """Describe a Quarto project; None if the folder is not one."""
    path = find_settings(tree, "_quarto.yml", "_quarto.yaml")
    if path is None:
        return None
    settings = load_settings(path)
    root = path.parent
    below = tree.narrow_to(root)
    book = settings.get("book")
    site = settings.get("website")
    names = list(dict.fromkeys(_list_names(book if isinstance(book, dict) else site, below, 0)))
    if not names:
        names = sorted(
            (n for n in below.files if n.lower().endswith(QUARTO) and not n.startswith("_")),
            key=lambda name: (name != "index.qmd", rank_naturally(name)),
        )
    syntax = QuartoSyntax(
        QuartoLabels(is_book=isinstance(book, dict)),
        load_references(below),
        _load_variables(root, tree),
    )
    project = QuartoProject(root, tree, names, syntax, IncludedFiles(tree.root))
    titles = (place.get("title") for place in (book, site) if isinstance(place, dict))
    title = next((title for title in titles if title), None)
    return BookKind(
        name="Quarto",
        root=root,
        files=project.list_files(),
        list_pages=project.list_pages,
        choose_anchor_maker=lambda _bodies: make_pandoc_anchor,
        syntax=syntax,
        expand=project.expand,
        list_warnings=project.list_warnings,
        title=str(title) if title else None,
    )


def make_pandoc_anchor(title: str) -> str:
    """Make a heading's anchor as Pandoc does."""
    kept = re.sub(r"[^\w\s.-]", "", fold_to_ascii(title).lower())
    return re.sub(r"^[^a-z]+", "", re.sub(r"\s+", "-", kept.strip())) or "section"


def _list_names(given: object, tree: Tree, depth: int) -> Iterator[str]:
    """Yield the pages of nested lists of chapters, parts and sections."""
    if depth > _MAX_NESTING:
        return
    if isinstance(given, str):
        yield from _match_pages(given, tree)
    for item in given if isinstance(given, list) else ():
        yield from _list_names(item, tree, depth + 1)
    if isinstance(given, dict):
        for key in ("file", "href", "part", "section", "sidebar", "navbar", "left", *_LISTS):
            value = given.get(key)
            is_title = isinstance(value, str) and not value.lower().endswith(_PAGES)
            if value is not None and (not is_title or key in _LISTS):
                yield from _list_names(value, tree, depth + 1)


def _match_pages(name: str, tree: Tree) -> Iterator[str]:
    if "://" in name or not (name.lower().endswith(_PAGES) or "*" in name):
        return
    if "*" not in name:
        yield name.removeprefix("./").lstrip("/")
        return
    pages = (page for page in tree.files if page.lower().endswith(_PAGES))
    yield from sorted((page for page in pages if fnmatchcase(page, name)), key=rank_naturally)


def _load_variables(root: Path, tree: Tree) -> Mapping[str, str]:
    path = next(
        (p for p in (root / "_variables.yml", root / "_variables.yaml") if p.is_file()), None
    )
    if path is None or not is_file_inside(path, tree.root):
        return {}
    found: dict[str, str] = {}
    waiting: list[tuple[str, object]] = [("", load_settings(path))]
    while waiting and len(found) < _MAX_VARIABLES:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend((f"{name}.{key}" if name else str(key), v) for key, v in value.items())
        elif isinstance(value, str | int | float):
            found[name] = str(value)
    return found
