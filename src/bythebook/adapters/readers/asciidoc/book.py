"""AsciiDoc books: one main file that includes the others, or a folder of pages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from markdown_it.token import Token

from bythebook.adapters.readers.asciidoc.attributes import BUILT_IN
from bythebook.adapters.readers.asciidoc.blocks import BlockReader
from bythebook.adapters.readers.asciidoc.chapters import divide_book, drop_author_lines
from bythebook.adapters.readers.asciidoc.inline import AsciiDocInline
from bythebook.adapters.readers.asciidoc.labels import (
    AsciiDocLabels,
    clean_title,
    find_title,
    make_asciidoc_anchor,
)
from bythebook.adapters.readers.asciidoc.preprocess import Preprocessor
from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.includes import IncludeBudget, IncludedFiles
from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    make_title,
    rank_naturally,
)
from bythebook.adapters.readers.markdown.settings import load_settings
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.errors import UnreadableBook

ASCIIDOC = (".adoc", ".asciidoc", ".asc")
_ABOUT = re.compile(r"(?i)(license|readme|changelog|contributing|translat\w*|code_of_conduct)\b")
_NAV_LINK = re.compile(r"xref:(?:[\w-]+:)*([^\[\]#\s]+\.adoc)[^\[\]]*\[([^\]]*)\]")
_MIN_INCLUDES = 2  # of a main file


@dataclass(slots=True)
class AsciiDocSyntax:
    """The syntax of a book's pages."""

    labels: AsciiDocLabels = field(default_factory=AsciiDocLabels)
    flavour: Flavour = "commonmark"

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page; the author's lines below a page's title are no text."""
        attributes = dict(BUILT_IN)
        reader = BlockReader(AsciiDocInline(attributes, self.labels.find_target), attributes)
        return reader.read(drop_author_lines(file.body.split("\n")))

    def find_title(self, file: SourceFile) -> str | None:
        """Return the first heading."""
        return find_title(file.body)

    def list_dependencies(self, file: SourceFile) -> Iterator[str]:
        """List what the targets that a page refers to show."""
        return self.labels.list_used(file)


@dataclass(slots=True)
class AsciiDocBook:
    """A book of AsciiDoc files."""

    tree: Tree
    main: Path | None  # the file that includes the others
    files: Sequence[Path]
    included: IncludedFiles
    syntax: AsciiDocSyntax
    chapters: Mapping[str, str] = field(default_factory=dict)  # by path, from a navigation

    def expand(self, file: SourceFile) -> str:
        """Insert included files and decide conditions."""
        preprocessor = Preprocessor(self.included, file, IncludeBudget(file))
        return preprocessor.expand(file.body, (file.path,))

    def divide(self, file: SourceFile) -> list[SourceFile]:
        """Divide the main file into its chapters."""
        return list(divide_book(file)) if file.path == self.main else [file]

    def list_pages(
        self, _root: Path, files: Sequence[SourceFile], base_url: str
    ) -> list[MarkdownPage]:
        """List the chapters of the main file, or the pages of the folder."""
        self.syntax.labels.collect(files)
        pages = []
        for file in files:
            bare = file.relative.with_suffix("")
            if self.main:
                # Asciidoctor makes one page of a book.
                route = f"/{self.main.relative_to(self.tree.root).with_suffix('.html').as_posix()}"
                document_id, chapter = bare.name, None
            else:
                route, document_id = f"/{bare}.html", bare.as_posix()
                own = make_title(bare.parts[0]) if len(bare.parts) > 1 else None
                chapter = self.chapters.get(file.relative.as_posix(), own)
            url = urljoin(base_url, quote(route.lstrip("/"))) if base_url else ""
            pages.append(MarkdownPage(file.path, document_id, url, chapter, route=route))
        return pages


def describe_asciidoc(tree: Tree) -> BookKind | None:
    """Describe a book of AsciiDoc; None if the folder has more pages of Markdown."""
    names = [name for name in tree.files if name.lower().endswith(ASCIIDOC)]
    if not names or len(names) < sum(name.endswith((".md", ".mdx")) for name in tree.files):
        return None
    texts = {name: text for name in names if (text := _load(tree.root / name)) is not None}
    main, reached = _find_main(tree, texts)
    included = IncludedFiles(tree.root)
    syntax = AsciiDocSyntax()
    chapters: Mapping[str, str] = {}
    if main is not None:
        files = [main]
        title = find_title(texts[main.relative_to(tree.root).as_posix()])
    else:
        files, chapters = _order_pages(tree, [name for name in texts if name not in reached], texts)
        title = _find_component_title(tree)
    book = AsciiDocBook(tree, main, files, included, syntax, chapters)
    return BookKind(
        name="AsciiDoc",
        root=tree.root,
        files=files,
        list_pages=book.list_pages,
        choose_anchor_maker=lambda _bodies: make_asciidoc_anchor,
        syntax=syntax,
        expand=book.expand,
        list_warnings=included.list_warnings,
        title=title,
        divide=book.divide,
    )


def _load(path: Path) -> str | None:
    try:
        text = load_text(path)
    except UnreadableBook:
        return None
    return None if text.startswith("-----BEGIN PGP") else text


def _find_main(tree: Tree, texts: Mapping[str, str]) -> tuple[Path | None, set[str]]:
    """Find the file that includes most others and is included by none; also list what is included."""
    includes = {name: list(_list_includes(name, text, texts)) for name, text in texts.items()}
    reached = {target for targets in includes.values() for target in targets}
    best: tuple[int, str] = (0, "")
    for name in sorted(texts, key=lambda name: (name.count("/"), name)):
        if name not in reached and not _ABOUT.match(PurePosixPath(name).name):
            size = len(_reach(name, includes))
            best = max(best, (size, name), key=lambda found: found[0])
    size, name = best
    is_main = size >= _MIN_INCLUDES and size * 2 >= len(texts)
    return (tree.root / name if is_main else None), reached


def _list_includes(name: str, text: str, texts: Mapping[str, str]) -> Iterator[str]:
    above = PurePosixPath(name).parent
    for line in text.split("\n") if "include::" in text else ():
        for target in re.findall(r"include::([^\[\]]+)\[", line):
            path = _normalize(above / target)
            if path in texts and path != name:
                yield path


def _normalize(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in {".", ".."}:
            parts.append(part)
    return "/".join(parts)


def _reach(name: str, includes: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for target in includes.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def _order_pages(
    tree: Tree, names: Sequence[str], texts: Mapping[str, str]
) -> tuple[list[Path], dict[str, str]]:
    """Order the pages by a navigation as Antora has it, otherwise by their names."""
    listed: dict[str, str] = {}
    for nav in sorted(name for name in texts if PurePosixPath(name).name == "nav.adoc"):
        folder = PurePosixPath(nav).parent / "pages"
        top = ""
        for line in texts[nav].split("\n"):
            depth = len(line) - len(line.lstrip("*"))
            link = _NAV_LINK.search(line)
            words = clean_title(line.lstrip("*. "))
            if depth <= 1 and line.strip() and not line.startswith(("=", "//", ":", "[")):
                top = (link.group(2) if link else words) or top
            path = _normalize(folder / link.group(1)) if link else ""
            if path in texts:
                listed.setdefault(path, top if depth > 1 or line.startswith(".") else "")
    others = (name for name in names if name not in listed and not _is_hidden(name))
    ordered = [*listed, *sorted(others, key=_rank)]
    chapters = {name: top for name, top in listed.items() if top}
    return [tree.root / name for name in ordered], chapters


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith("_") or part in {"partials", "examples"} for part in parts)
    return hidden or parts[-1] == "nav.adoc"


def _rank(name: str) -> tuple[object, ...]:
    path = PurePosixPath(name)
    is_other = path.stem.lower() not in {"index", "readme"}
    return (
        *(rank_naturally(part) for part in path.parts[:-1]),
        ((int(is_other), 0, ""),),
        rank_naturally(path.stem),
    )


def _find_component_title(tree: Tree) -> str | None:
    if "antora.yml" not in tree.files:
        return None
    title = load_settings(tree.root / "antora.yml").get("title")
    return str(title) if title else None
