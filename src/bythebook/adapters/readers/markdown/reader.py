"""Markdown folders: Docusaurus, mdBook, Hugo and plain ones."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from bythebook.adapters.readers.markdown.blocks import markdown_tokens, plain_text
from bythebook.adapters.readers.markdown.files import is_text, load_file, load_files
from bythebook.adapters.readers.markdown.guard import HostilePage
from bythebook.adapters.readers.markdown.layouts import Layout, detect_layout
from bythebook.adapters.readers.markdown.links import BookLinks, book_links
from bythebook.adapters.readers.markdown.mdx import Flavour
from bythebook.adapters.readers.markdown.pages import Page, SourceFile, first_title
from bythebook.adapters.readers.markdown.tree import Tree, is_markdown, walk_tree
from bythebook.adapters.readers.plain_text import (
    AnchorOf,
    Place,
    fingerprint,
    github_anchor,
    make_document,
    numbered,
)
from bythebook.adapters.readers.source_file import existing
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook


@dataclass(frozen=True, slots=True)
class _Manner:
    """How all pages of a book are read."""

    flavour: Flavour
    anchor_of: AnchorOf
    links: BookLinks
    shows_front_title: bool = False  # above the page's own heading too


class MarkdownReader:
    """Reads a folder of Markdown, or a single file, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        path = existing(source)
        if path.is_dir():
            return _folder(path, title, f"{base_url.rstrip('/')}/" if base_url else "")
        return _single(path, title, base_url or "")


def _folder(folder: Path, title: str | None, base: str) -> SourceBook:
    tree = walk_tree(folder)
    layout = detect_layout(tree)
    files, skipped = load_files(layout.files, layout.root)
    files, unexpanded = _expanded(files, layout)
    pages = _with_own_ids(layout.pages(layout.root, list(files.values()), base))
    skipped = (*tree.skipped, *skipped, *unexpanded)
    if not pages:
        raise _nothing(folder, skipped)
    above = os.path.relpath(layout.root, folder)
    manner = _Manner(
        layout.flavour,
        layout.anchor_for(file.body for file in files.values()),
        book_links(pages, files, tree, "" if above == "." else above, base),
        shows_front_title=layout.name == "Hugo",
    )
    documents = tuple(_source_document(page, files[page.path], manner) for page in pages)
    name = title or layout.title or _own_title(folder, documents)
    warnings = (*layout.warnings(), *_unpublished(files, pages))
    return SourceBook(name, layout.name, base, documents, skipped, warnings)


def _unpublished(files: Mapping[Path, SourceFile], pages: Sequence[Page]) -> Iterator[str]:
    """Name the pages that the site would not show either."""
    shown = {page.path for page in pages}
    names = [file.relative.as_posix() for path, file in files.items() if path not in shown]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"Not published, as drafts or parts of other pages: {', '.join(names[:3])}{more}."


def _single(path: Path, title: str | None, url: str) -> SourceBook:
    if not is_markdown(path.name) or not path.is_file():
        raise UnreadableBook(
            f"{path} is not a Markdown file.", "Give a .md file or a folder of them."
        )
    file = load_file(path, path.parent)
    page = Page(path, path.stem, url, None, route=f"/{path.name}")
    links = book_links((page,), {path: file}, Tree(path.parent, frozenset()), "", "")
    manner = _Manner("mdx" if path.suffix == ".mdx" else "plain", github_anchor, links)
    document = _source_document(page, file, manner)
    return SourceBook(title or document.read().title, "Markdown file", url, (document,))


def _nothing(folder: Path, skipped: Sequence[Skipped]) -> UnreadableBook:
    if skipped:
        return UnreadableBook(
            f"No page of {folder} can be read. {skipped[0].name}: {skipped[0].reason}",
            "Put the files right, then run ingest again.",
        )
    return UnreadableBook(
        f"{folder} holds no Markdown file.", "Give a folder with .md or .mdx files in it."
    )


def _expanded(
    files: Mapping[Path, SourceFile], layout: Layout
) -> tuple[Mapping[Path, SourceFile], list[Skipped]]:
    """Put what pages include into them: a page changes when what it includes does."""
    expanded: dict[Path, SourceFile] = {}
    skipped = []
    for path, file in files.items():
        try:
            expanded[path] = replace(file, body=layout.expand(file))
        except (UnreadableBook, HostilePage) as error:
            skipped.append(Skipped(file.relative.as_posix(), str(error)))
    return expanded, skipped


def _with_own_ids(pages: Sequence[Page]) -> list[Page]:
    seen: dict[str, int] = {}
    return [replace(page, document_id=numbered(page.document_id, seen)) for page in pages]


def _source_document(page: Page, file: SourceFile, manner: _Manner) -> SourceDocument:
    mark = fingerprint(
        "Markdown", page.document_id, page.url, page.chapter, page.title, manner.flavour,
        manner.anchor_of.__name__, manner.shows_front_title, file.path.stem, file.word("title"),
        file.body, *manner.links.candidates(page, file, file.body),
    )  # fmt: skip
    return SourceDocument(page.document_id, mark, cache(partial(_document, page, file, manner)))


def _document(page: Page, file: SourceFile, manner: _Manner) -> Document:
    try:
        return _parsed(page, file, manner)
    except (RecursionError, HostilePage) as error:
        what = error if isinstance(error, HostilePage) else "It is nested too deep."
        raise UnreadableBook(
            f"{file.path} cannot be parsed. {what}", "Simplify the page or part it."
        ) from error


def _parsed(page: Page, file: SourceFile, manner: _Manner) -> Document:
    tokens = markdown_tokens(file.body, manner.flavour)
    own = first_title(file.body)
    given = file.word("title")
    link_of = partial(manner.links.find, page, file)
    plain_with = partial(plain_text, tokens, manner.flavour, link_of)
    # A site shows the front matter's title as the first heading; text needs one to stand under.
    untitled = given is not None and own is None
    plain = plain_with(given if untitled else None)
    opening = plain.headings[0].title if plain.headings else None
    title = given or own or page.title or opening or file.path.stem
    if not is_text(title):
        raise UnreadableBook(
            f"The title of {file.path} is not text.", "Put its front matter right."
        )
    shows_both = manner.shows_front_title and given is not None and opening != title
    headless = untitled or shows_both or opening is None or plain.headings[0].start > 0
    if headless and not untitled:
        plain = plain_with(title)
    place = Place(page.document_id, title, page.chapter or title, page.url)
    return make_document(plain, place, manner.anchor_of, headless=headless)


def _own_title(source: Path, documents: Sequence[SourceDocument]) -> str:
    return documents[0].read().title if len(documents) == 1 else source.resolve().name
