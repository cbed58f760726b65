"""Reads Markdown folders: Docusaurus, mdBook, Hugo and plain ones."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.markdown.files import load_file, load_files
from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.detect import detect_kind
from bythebook.adapters.readers.markdown.kinds.index_page import INDEX_NAMES
from bythebook.adapters.readers.markdown.kinds.mixed_pages import SyntaxBySuffix
from bythebook.adapters.readers.markdown.links import (
    PICTURE_CANDIDATES,
    BookLinks,
    collect_links,
)
from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile
from bythebook.adapters.readers.markdown.syntax.blocks import make_plain_text
from bythebook.adapters.readers.markdown.syntax.guard import HostilePage
from bythebook.adapters.readers.markdown.syntax.page_syntax import MarkdownSyntax, PageSyntax
from bythebook.adapters.readers.markdown.syntax.tokens import drop_doubled_heading
from bythebook.adapters.readers.markdown.tree import PAGES, Tree, walk_tree
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.pictures.shelf import PictureShelf
from bythebook.adapters.readers.plain_text import (
    MakeAnchor,
    Place,
    compute_fingerprint,
    make_document,
    make_github_anchor,
    make_unique,
)
from bythebook.adapters.readers.source_file import is_storable, make_folder_url, require_path
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook


@dataclass(frozen=True, slots=True)
class _ReadingOptions:
    """How the pages of a book are read."""

    syntax: PageSyntax
    make_anchor: MakeAnchor
    links: BookLinks
    pictures: PictureShelf
    shows_front_title: bool = False  # above the page's own heading


class MarkdownReader:
    """Reads a folder of Markdown, or a single file, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if that fails."""
        path = require_path(source)
        if path.is_dir():
            return _read_folder(path, title, make_folder_url(base_url))
        return _read_single_file(path, title, base_url or "")


def _read_folder(folder: Path, title: str | None, base: str) -> SourceBook:
    tree = walk_tree(folder)
    kind = detect_kind(tree)
    files, skipped = load_files(kind.files, kind.root)
    files, unexpanded = _expand_files(files, kind)
    pages = _make_ids_unique(kind.list_pages(kind.root, list(files.values()), base))
    skipped = (*tree.skipped, *skipped, *unexpanded)
    if not pages:
        raise _make_empty_error(folder, skipped)
    above = os.path.relpath(kind.root, folder)
    options = _ReadingOptions(
        kind.syntax,
        kind.choose_anchor_maker(file.body for file in files.values()),
        collect_links(pages, files, tree, "" if above == "." else above, base),
        PictureShelf(),
        shows_front_title=kind.name == "Hugo",
    )
    documents = tuple(_make_source_document(page, files[page.path], options) for page in pages)
    name = title or kind.title or _choose_title(folder, documents)
    warnings = (*kind.list_warnings(), *_warn_unpublished(files, pages))
    load = options.pictures.load
    return SourceBook(name, kind.name, base, documents, skipped, warnings, load)


def _warn_unpublished(
    files: Mapping[Path, SourceFile], pages: Sequence[MarkdownPage]
) -> Iterator[str]:
    """Warn of pages that the site does not publish either."""
    shown = {page.path for page in pages}
    names = [file.relative.as_posix() for path, file in files.items() if path not in shown]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"Not published (drafts or parts of other pages): {', '.join(names[:3])}{more}."


def _read_single_file(path: Path, title: str | None, url: str) -> SourceBook:
    if path.suffix.lower() not in PAGES or not path.is_file():
        raise UnreadableBook(
            f"{path} is not a Markdown file.", "Choose a .md file or a folder of them."
        )
    file = load_file(path, path.parent)
    page = MarkdownPage(path, path.stem, url, None, route=f"/{path.name}")
    links = collect_links((page,), {path: file}, Tree(path.parent, frozenset()), "", "")
    options = _ReadingOptions(
        SyntaxBySuffix(MarkdownSyntax("mdx" if path.suffix == ".mdx" else "plain")),
        make_github_anchor,
        links,
        PictureShelf(),
    )
    document = _make_source_document(page, file, options)
    name = title or document.read().title
    load = options.pictures.load
    return SourceBook(name, "Markdown file", url, (document,), load_picture=load)


def _make_empty_error(folder: Path, skipped: Sequence[Skipped]) -> UnreadableBook:
    if skipped:
        return UnreadableBook(
            f"No page of {folder} can be read. {skipped[0].name}: {skipped[0].reason}",
            "Correct the files, then run ingest again.",
        )
    return UnreadableBook(
        f"{folder} contains no Markdown file.", "Choose a folder with .md or .mdx files."
    )


def _expand_files(
    files: Mapping[Path, SourceFile], kind: BookKind
) -> tuple[Mapping[Path, SourceFile], list[Skipped]]:
    """Insert included files into pages: a page changes when one of its includes does."""
    expanded: dict[Path, SourceFile] = {}
    skipped = []
    for file in files.values():
        try:
            parts = kind.divide(replace(file, body=kind.expand(file)))
            expanded.update({part.path: part for part in parts})
        except (UnreadableBook, HostilePage) as error:
            skipped.append(Skipped(file.relative.as_posix(), str(error)))
    return expanded, skipped


def _make_ids_unique(pages: Sequence[MarkdownPage]) -> list[MarkdownPage]:
    seen: dict[str, int] = {}
    return [replace(page, document_id=make_unique(page.document_id, seen)) for page in pages]


def _make_source_document(
    page: MarkdownPage, file: SourceFile, options: _ReadingOptions
) -> SourceDocument:
    mark = compute_fingerprint(
        "Markdown", page.document_id, page.url, page.chapter, page.title, options.syntax.flavour,
        options.make_anchor.__name__, options.shows_front_title, file.path.stem, file.get_text("title"),
        file.body, *options.links.find_candidates(page, file, file.body),
        *options.syntax.list_dependencies(file),
        *_find_pictures(file, options),
    )  # fmt: skip
    return SourceDocument(
        page.document_id, mark, cache(partial(_read_document, page, file, options))
    )


def _find_pictures(file: SourceFile, options: _ReadingOptions) -> list[str]:
    """Return what pages show for targets that look like pictures; the page changes when they change."""
    targets = dict.fromkeys(PICTURE_CANDIDATES.findall(file.body))
    return [str(options.links.find_picture(options.pictures, file, one)) for one in targets]


def _read_document(page: MarkdownPage, file: SourceFile, options: _ReadingOptions) -> Document:
    try:
        return _parse_page(page, file, options)
    except (RecursionError, HostilePage) as error:
        what = error if isinstance(error, HostilePage) else "It is nested too deeply."
        raise UnreadableBook(
            f"{file.path} cannot be parsed. {what}", "Simplify the page or split it."
        ) from error


def _parse_page(page: MarkdownPage, file: SourceFile, options: _ReadingOptions) -> Document:
    tokens = drop_doubled_heading(options.syntax.tokenize(file))
    own = options.syntax.find_title(file)
    given = file.get_text("title")
    targets = PageTargets(
        partial(options.links.find_link, page, file),
        partial(options.links.find_picture, options.pictures, file),
        page.url,
    )
    make_plain = partial(make_plain_text, tokens, options.syntax.flavour, targets)
    # A site shows the front matter's title as the first heading; every text needs a heading.
    untitled = given is not None and own is None
    plain = make_plain(given if untitled else None)
    opening = plain.headings[0].title if plain.headings else None
    title = given or own or page.title or opening or file.path.stem
    if not is_storable(title):
        raise UnreadableBook(f"The title of {file.path} is not text.", "Correct its front matter.")
    shows_both = options.shows_front_title and given is not None and opening != title
    headless = untitled or shows_both or not plain.opens_with_heading
    if headless and not untitled:
        plain = make_plain(title)
    place = Place(page.document_id, title, page.chapter or title, page.url)
    return make_document(plain, place, options.make_anchor, headless=headless)


def _choose_title(source: Path, documents: Sequence[SourceDocument]) -> str:
    """Choose the title of a book that no settings name: that of the page that opens it."""
    first = documents[0]
    opens = PurePosixPath(first.document_id).stem.lower() in {
        *INDEX_NAMES,
        "_index",
        "title",
        "cover",
    }
    if len(documents) == 1 or opens:
        try:
            return first.read().title
        except UnreadableBook:
            pass
    return source.resolve().name
