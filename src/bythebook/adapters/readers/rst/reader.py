"""Reads reStructuredText: Sphinx projects, plain folders and single files."""

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from docutils import nodes

from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    compute_fingerprint,
    make_document,
)
from bythebook.adapters.readers.rst.config import SphinxConfig, read_config
from bythebook.adapters.readers.rst.files import RST_BOUNDS, RstBounds, find_rst_files, load_text
from bythebook.adapters.readers.rst.includes import IncludeExpander
from bythebook.adapters.readers.rst.order import ReadingOrder, find_reading_order, resolve_entries
from bythebook.adapters.readers.rst.outline import DocumentOutline, read_outline
from bythebook.adapters.readers.rst.pictures import RstPictures
from bythebook.adapters.readers.rst.references import References, collect_references
from bythebook.adapters.readers.rst.syntax.directive_types import is_generated, is_unknown
from bythebook.adapters.readers.rst.syntax.parser import parse_rst
from bythebook.adapters.readers.rst.syntax.roles import RoleContext
from bythebook.adapters.readers.rst.text.inline import RstInline
from bythebook.adapters.readers.rst.text.walk import DocumentWalker
from bythebook.adapters.readers.source_file import make_folder_url, require_path, skip_unreadable
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook

SUFFIXES = frozenset({".rst", ".rest", ".txt"})
_SOURCE_FOLDERS = ("source", "docs", "doc", "docs/source", "doc/source")


@dataclass(frozen=True, slots=True)
class _PageSource:
    """The source of a document, and everything else that its text depends on."""

    place: Place
    text: str
    references: References
    config: SphinxConfig
    pictures: RstPictures
    bounds: RstBounds


class RstReader:
    """Reads a folder of reStructuredText, or a single file, as one book."""

    def __init__(self, bounds: RstBounds = RST_BOUNDS) -> None:
        self._bounds = bounds

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if that fails."""
        path = require_path(source)
        if path.is_file():
            return self._read_single_file(path, title, base_url or "")
        return self._read_folder(path, title, make_folder_url(base_url))

    def _read_folder(self, folder: Path, title: str | None, base: str) -> SourceBook:
        root = find_source_root(folder)
        config = read_config(root, folder)
        expander = IncludeExpander(root, folder, config.macros, bounds=self._bounds)
        texts, skipped = _read_texts(root, config, expander)
        outlines = {name: read_outline(text) for name, text in texts.items()}
        parts = _find_included_files(outlines, root, expander)
        outlines = {name: outline for name, outline in outlines.items() if name not in parts}
        if not outlines:
            raise _make_empty_error(folder, parts, skipped)
        base = base or _check_base_url(config.get_setting("html_baseurl"))
        order = find_reading_order(
            outlines,
            config.get_setting("root_doc", "master_doc"),
            {_strip_suffix(s.name) for s in skipped},
        )
        pictures = RstPictures(root, folder)
        make = partial(_make_source_document, config=config, pictures=pictures, bounds=self._bounds)
        documents = tuple(_make_source_documents(texts, outlines, order, base, make))
        is_sphinx = config.found or any(outline.toctrees for outline in outlines.values())
        return SourceBook(
            title
            or config.get_setting("project", "html_title")
            or _find_first_title(folder, outlines, order),
            "Sphinx" if is_sphinx else "reStructuredText",
            base,
            documents,
            skipped,
            (*expander.warnings, *_list_warnings(outlines, order)),
            pictures.shelf.load,
        )

    def _read_single_file(self, path: Path, title: str | None, url: str) -> SourceBook:
        if path.suffix.lower() not in SUFFIXES:
            raise UnreadableBook(
                f"{path} is not a reStructuredText file.", "Choose a .rst file or a folder of them."
            )
        expander = IncludeExpander(path.parent, path.parent, bounds=self._bounds)
        text = expander.expand_document(path, load_text(path, path.resolve().parent, self._bounds))
        outlines = {path.stem: read_outline(text)}
        own = outlines[path.stem].title or path.stem
        place = Place(path.stem, own, own, url)
        pictures = RstPictures(path.parent, path.parent)
        document = _make_source_document(
            place,
            text,
            outlines,
            collect_references(outlines),
            SphinxConfig(),
            pictures,
            self._bounds,
        )
        return SourceBook(
            title or own,
            "reStructuredText",
            url,
            (document,),
            warnings=(*expander.warnings, *_list_warnings(outlines, ReadingOrder())),
            load_picture=pictures.shelf.load,
        )


def _make_empty_error(
    folder: Path, included: Collection[str], skipped: Sequence[Skipped]
) -> UnreadableBook:
    if skipped:
        return UnreadableBook(
            f"No file of {folder} can be read: {skipped[0].reason}", "Correct the files."
        )
    if included:
        return UnreadableBook(
            f"Every file of {folder} is included by another one.",
            "Remove an include, or list a file in a table of contents.",
        )
    return UnreadableBook(
        f"{folder} contains no reStructuredText file.", "Choose a folder with .rst files."
    )


def find_source_root(folder: Path) -> Path:
    """Find the documents of a project: in the folder itself or in one below it."""
    if any((folder / name).is_file() for name in ("index.rst", "conf.py")):
        held = [folder / "source"] if not (folder / "index.rst").is_file() else []
    else:
        held = [folder / name for name in _SOURCE_FOLDERS]
    for place in held:
        if (place / "index.rst").is_file() or (place / "conf.py").is_file():
            return place
    below = [place for place in held if place.is_dir() and any(place.glob("**/*.rst"))]
    return below[0] if below and not any(folder.glob("*.rst")) else folder


def _read_texts(
    root: Path, config: SphinxConfig, expander: IncludeExpander
) -> tuple[dict[str, str], tuple[Skipped, ...]]:
    """Read every readable file; report the others as skipped."""
    texts: dict[str, str] = {}
    skipped: list[Skipped] = []
    for path in find_rst_files(root):
        relative = path.relative_to(root).as_posix()
        if config.excludes(relative):
            continue
        try:
            texts[_strip_suffix(relative)] = expander.expand_document(
                path, load_text(path, expander.within, expander.bounds)
            )
        except UnreadableBook as error:
            skipped.append(skip_unreadable(relative, error))
    return texts, tuple(skipped)


def _strip_suffix(relative: str) -> str:
    return posixpath.splitext(relative)[0]


def _check_base_url(base: str) -> str:
    return make_folder_url(base) if base.startswith(("http://", "https://")) else ""


def _find_included_files(
    outlines: Mapping[str, DocumentOutline], root: Path, expander: IncludeExpander
) -> set[str]:
    """Find the files that are only parts of others: included, and in no table of contents."""
    listed = {
        name
        for source, outline in outlines.items()
        for toctree in outline.toctrees
        for _, name in resolve_entries(toctree, source, outlines)
    }
    included = {
        _strip_suffix(path.relative_to(root.resolve()).as_posix())
        for path in expander.included
        if path.is_relative_to(root.resolve())
    }
    return included - listed


def _find_first_title(
    folder: Path, outlines: Mapping[str, DocumentOutline], order: ReadingOrder
) -> str:
    first = next(iter(order.chapters))
    return outlines[first].title or folder.resolve().name


def _list_warnings(outlines: Mapping[str, DocumentOutline], order: ReadingOrder) -> Iterator[str]:
    for document, entry in order.missing:
        yield f"{document}: its table of contents lists {entry}, which does not exist."
    kinds = Counter(name for outline in outlines.values() for name in outline.directives)
    for name, count in sorted(kinds.items()):
        files = "1 document" if count == 1 else f"{count} documents"
        if is_unknown(name):
            yield f"The directive {name} is unknown; its content is kept as text ({files})."
        elif is_generated(name):
            yield f"Only the book's own tools can render the directive {name} ({files})."


def _make_source_documents(
    texts: Mapping[str, str],
    outlines: Mapping[str, DocumentOutline],
    order: ReadingOrder,
    base: str,
    make: Callable[..., SourceDocument],
) -> Iterator[SourceDocument]:
    references = collect_references({name: outlines[name] for name in order.chapters})
    for name, chapter in order.chapters.items():
        url = f"{base}{quote(name)}.html" if base else ""
        place = Place(name, references.titles[name], chapter, url)
        yield make(place, texts[name], outlines, references)


def _make_source_document(
    place: Place,
    text: str,
    outlines: Mapping[str, DocumentOutline],
    references: References,
    config: SphinxConfig,
    pictures: RstPictures,
    bounds: RstBounds,
) -> SourceDocument:
    name = place.document_id
    shown: list[object] = [config.settings, config.external]
    shown += references.find_used(text, name)
    shown += pictures.find_used(text, name)
    for toctree in outlines[name].toctrees:
        for title, listed in resolve_entries(toctree, name, outlines):
            shown.append((title, listed, references.titles.get(listed)))
    mark = compute_fingerprint("reStructuredText", place, text, shown)
    page = _PageSource(place, text, references, config, pictures, bounds)
    return SourceDocument(name, mark, cache(partial(_read_document, page)))


def _read_document(page: _PageSource) -> Document:
    name = page.place.document_id
    context = RoleContext(
        name,
        page.references,
        dict(page.config.external),
        find_picture=partial(page.pictures.find, name),
    )
    try:
        parsed = parse_rst(_add_prolog_and_epilog(page), name, context, page.bounds)
        plain = _make_plain_text(parsed, context, page.config, ())
        headless = not plain.opens_with_heading
        if headless:  # every text needs a heading
            plain = _make_plain_text(parsed, context, page.config, (page.place.title,))
    except RecursionError as error:
        raise UnreadableBook(f"{name} is nested too deeply.", "Reduce its nesting.") from error
    return make_document(plain, page.place, nodes.make_id, headless=headless)


def _add_prolog_and_epilog(page: _PageSource) -> str:
    """Add the text that the project sets before and after every document."""
    config = page.config
    parts = [config.get_setting("rst_prolog"), page.text, config.get_setting("rst_epilog")]
    known = [name for name in ("version", "release") if config.get_setting(name)]
    parts += [f".. |{name}| replace:: {config.get_setting(name)}" for name in known]
    return "\n\n".join(part for part in parts if part)


def _make_plain_text(
    parsed: nodes.document, context: RoleContext, config: SphinxConfig, opening: Sequence[str]
) -> PlainText:
    plain = PlainText()
    for title in opening:
        plain.add_heading(title, 1)
    walker = DocumentWalker(parsed, plain, RstInline(parsed, plain, context))
    walker.language = config.get_setting("highlight_language")
    walker.walk()
    return plain
