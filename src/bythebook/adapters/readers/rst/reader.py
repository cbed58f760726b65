"""reStructuredText folders and files: Sphinx projects and plain ones."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from docutils import nodes

from bythebook.adapters.readers.plain_text import Place, PlainText, fingerprint, make_document
from bythebook.adapters.readers.rst.assemble import Assembly
from bythebook.adapters.readers.rst.catalogue import is_generated, is_unknown
from bythebook.adapters.readers.rst.config import Config, read_config
from bythebook.adapters.readers.rst.files import load_text, rst_files
from bythebook.adapters.readers.rst.inline import Inline
from bythebook.adapters.readers.rst.order import Order, entries_of, reading_order
from bythebook.adapters.readers.rst.outline import Outline, outline_of
from bythebook.adapters.readers.rst.parser import parse_rst
from bythebook.adapters.readers.rst.references import References, collect_references
from bythebook.adapters.readers.rst.roles import RoleContext
from bythebook.adapters.readers.rst.walk import Walk
from bythebook.adapters.readers.source_file import existing
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook

SUFFIXES = frozenset({".rst", ".rest", ".txt"})
_BELOW = ("source", "docs", "doc", "docs/source", "doc/source")


@dataclass(frozen=True, slots=True)
class _Page:
    """A document laid out: its text, its place, and what its text depends on besides."""

    place: Place
    text: str
    references: References
    config: Config


class RstReader:
    """Reads a folder of reStructuredText, or a single file, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        path = existing(source)
        if path.is_file():
            return self._single(path, title, base_url or "")
        return self._folder(path, title, f"{base_url.rstrip('/')}/" if base_url else "")

    def _folder(self, folder: Path, title: str | None, base: str) -> SourceBook:
        root = source_root(folder)
        config = read_config(root, folder)
        assembly = Assembly(root, folder, config.macros)
        texts, skipped = _texts(root, config, assembly)
        if not texts and not skipped:
            raise UnreadableBook(
                f"{folder} holds no reStructuredText file.", "Give a folder with .rst files in it."
            )
        outlines = {name: outline_of(text) for name, text in texts.items()}
        parts = _included(outlines, root, assembly)
        outlines = {name: outline for name, outline in outlines.items() if name not in parts}
        if not outlines:
            raise UnreadableBook(
                f"No file of {folder} can be read: {skipped[0].reason}", "Put the files right."
            )
        base = base or _address(config.word("html_baseurl"))
        order = reading_order(
            outlines, config.word("root_doc", "master_doc"), {_stem(s.name) for s in skipped}
        )
        documents = tuple(_documents(texts, outlines, order, config, base))
        is_sphinx = config.found or any(outline.toctrees for outline in outlines.values())
        return SourceBook(
            title or config.word("project", "html_title") or _first_title(folder, outlines, order),
            "Sphinx" if is_sphinx else "reStructuredText",
            base,
            documents,
            skipped,
            (*assembly.warnings, *_warnings(outlines, order)),
        )

    def _single(self, path: Path, title: str | None, url: str) -> SourceBook:
        if path.suffix.lower() not in SUFFIXES:
            raise UnreadableBook(
                f"{path} is not a reStructuredText file.", "Give a .rst file or a folder of them."
            )
        assembly = Assembly(path.parent, path.parent)
        text = assembly.document(path, load_text(path, path.resolve().parent))
        outlines = {path.stem: outline_of(text)}
        own = outlines[path.stem].title or path.stem
        place = Place(path.stem, own, own, url)
        document = _source_document(place, text, outlines, collect_references(outlines), Config())
        warnings = (*assembly.warnings, *_warnings(outlines, Order()))
        return SourceBook(title or own, "reStructuredText", url, (document,), warnings=warnings)


def source_root(folder: Path) -> Path:
    """Find where the documents of a project are: the folder itself, or one below it."""
    if any((folder / name).is_file() for name in ("index.rst", "conf.py")):
        held = [folder / "source"] if not (folder / "index.rst").is_file() else []
    else:
        held = [folder / name for name in _BELOW]
    for place in held:
        if (place / "index.rst").is_file() or (place / "conf.py").is_file():
            return place
    below = [place for place in held if place.is_dir() and any(place.glob("**/*.rst"))]
    return below[0] if below and not any(folder.glob("*.rst")) else folder


def _texts(
    root: Path, config: Config, assembly: Assembly
) -> tuple[dict[str, str], tuple[Skipped, ...]]:
    """Read what can be read; one file that cannot must not keep the others from readers."""
    texts: dict[str, str] = {}
    skipped: list[Skipped] = []
    for path in rst_files(root):
        relative = path.relative_to(root).as_posix()
        if config.leaves_out(relative):
            continue
        try:
            texts[_stem(relative)] = assembly.document(path, load_text(path, assembly.within))
        except UnreadableBook as error:
            name = relative.encode("utf-8", "replace").decode()
            skipped.append(Skipped(name, f"{error.what} {error.help_message}"))
    return texts, tuple(skipped)


def _stem(relative: str) -> str:
    return posixpath.splitext(relative)[0]


def _address(base: str) -> str:
    return f"{base.rstrip('/')}/" if base.startswith(("http://", "https://")) else ""


def _included(outlines: Mapping[str, Outline], root: Path, assembly: Assembly) -> set[str]:
    """Find the files that are only parts of others: included, and in no table of contents."""
    listed = {
        name
        for source, outline in outlines.items()
        for toctree in outline.toctrees
        for _, name in entries_of(toctree, source, outlines)
    }
    included = {
        _stem(path.relative_to(root.resolve()).as_posix())
        for path in assembly.included
        if path.is_relative_to(root.resolve())
    }
    return included - listed


def _first_title(folder: Path, outlines: Mapping[str, Outline], order: Order) -> str:
    first = next(iter(order.chapters))
    return outlines[first].title or folder.resolve().name


def _warnings(outlines: Mapping[str, Outline], order: Order) -> Iterator[str]:
    for document, entry in order.missing:
        yield f"{document}: its table of contents lists {entry}, which is not there."
    kinds = Counter(name for outline in outlines.values() for name in outline.directives)
    for name, count in sorted(kinds.items()):
        files = "1 document" if count == 1 else f"{count} documents"
        if is_unknown(name):
            yield f"The directive {name} is not known; its words are kept as text ({files})."
        elif is_generated(name):
            yield f"What the directive {name} shows is made by the book's own tools ({files})."


def _documents(
    texts: Mapping[str, str],
    outlines: Mapping[str, Outline],
    order: Order,
    config: Config,
    base: str,
) -> Iterator[SourceDocument]:
    references = collect_references({name: outlines[name] for name in order.chapters})
    for name, chapter in order.chapters.items():
        url = f"{base}{quote(name)}.html" if base else ""
        place = Place(name, references.titles[name], chapter, url)
        yield _source_document(place, texts[name], outlines, references, config)


def _source_document(
    place: Place,
    text: str,
    outlines: Mapping[str, Outline],
    references: References,
    config: Config,
) -> SourceDocument:
    name = place.document_id
    shown: list[object] = [config.words, config.external]
    shown += references.taken(text, name)
    for toctree in outlines[name].toctrees:
        for title, listed in entries_of(toctree, name, outlines):
            shown.append((title, listed, references.titles.get(listed)))
    mark = fingerprint("reStructuredText", place, text, shown)
    page = _Page(place, text, references, config)
    return SourceDocument(name, mark, cache(partial(_document, page)))


def _document(page: _Page) -> Document:
    name = page.place.document_id
    context = RoleContext(name, page.references, dict(page.config.external))
    try:
        parsed = parse_rst(_dressed(page), name, context)
        plain = _plain(parsed, context, page.config, ())
        headless = not plain.headings or plain.headings[0].start > 0
        if headless:  # text needs a heading to stand under
            plain = _plain(parsed, context, page.config, (page.place.title,))
    except RecursionError as error:
        raise UnreadableBook(
            f"{name} is nested too deeply.", "Take some of its levels out."
        ) from error
    return make_document(plain, page.place, nodes.make_id, headless=headless)


def _dressed(page: _Page) -> str:
    """Give the text with what the project sets before and after every document."""
    config = page.config
    parts = [config.word("rst_prolog"), page.text, config.word("rst_epilog")]
    known = [name for name in ("version", "release") if config.word(name)]
    parts += [f".. |{name}| replace:: {config.word(name)}" for name in known]
    return "\n\n".join(part for part in parts if part)


def _plain(
    parsed: nodes.document, context: RoleContext, config: Config, opening: Sequence[str]
) -> PlainText:
    plain = PlainText()
    for title in opening:
        plain.add_heading(title, 1)
    walk = Walk(parsed, plain, Inline(parsed, plain, context))
    walk.language = config.word("highlight_language")
    walk.all()
    return plain
