"""Detects the kind of a Markdown book, and describes how each kind is read."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from bythebook.adapters.readers.asciidoc.book import describe_asciidoc
from bythebook.adapters.readers.markdown.kinds import hugo
from bythebook.adapters.readers.markdown.kinds.book_kind import BookKind
from bythebook.adapters.readers.markdown.kinds.docusaurus import (
    find_docs_folder,
    has_docusaurus_config,
    list_docusaurus_pages,
    read_docusaurus_title,
)
from bythebook.adapters.readers.markdown.kinds.hugo_shortcodes import replace_hugo_shortcodes
from bythebook.adapters.readers.markdown.kinds.includes import (
    IncludedFiles,
    expand_directives,
    expand_partials,
)
from bythebook.adapters.readers.markdown.kinds.mdbook import (
    find_mdbook,
    list_mdbook_pages,
    list_missing_files,
    list_summary_files,
    make_mdbook_anchor,
    read_mdbook_title,
)
from bythebook.adapters.readers.markdown.kinds.mixed_pages import SyntaxBySuffix
from bythebook.adapters.readers.markdown.kinds.plain_folder import find_trunk, list_plain_pages
from bythebook.adapters.readers.markdown.syntax.page_syntax import MarkdownSyntax
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.mkdocs.site import describe_mkdocs
from bythebook.adapters.readers.myst.project import describe_myst
from bythebook.adapters.readers.plain_text import MakeAnchor, make_github_anchor
from bythebook.adapters.readers.quarto.project import describe_quarto


def detect_kind(tree: Tree) -> BookKind:
    """Detect what kind of Markdown book a folder is."""
    for describe in (describe_myst, describe_quarto, describe_mkdocs, describe_asciidoc):
        if kind := describe(tree):
            return kind
    if root := find_mdbook(tree.root):
        return _describe_mdbook(tree, root)
    if hugo.has_hugo_config(tree) and not has_docusaurus_config(tree.root):
        return _describe_hugo(tree)
    if has_docusaurus_config(tree.root) or not hugo.has_hugo_sections(tree):
        docs = find_docs_folder(tree)
        return _describe_plain_folder(tree) if docs is None else _describe_docusaurus(tree, docs)
    return _describe_hugo(tree)


def _use_always(make_anchor: MakeAnchor) -> Callable[[Iterable[str]], MakeAnchor]:
    return lambda _bodies: make_anchor


def _describe_mdbook(tree: Tree, root: Path) -> BookKind:
    above = next((f for f in (tree.root, tree.root.parent) if (f / "book.toml").is_file()), None)
    included = IncludedFiles(above or tree.root)

    def list_warnings() -> Iterator[str]:
        yield from (f"{name} is listed but missing." for name in list_missing_files(root))
        yield from included.list_warnings()

    return BookKind(
        name="mdBook",
        root=root,
        files=list_summary_files(root),
        list_pages=list_mdbook_pages,
        choose_anchor_maker=_use_always(make_mdbook_anchor),
        syntax=MarkdownSyntax("commonmark"),
        expand=partial(expand_directives, included),
        list_warnings=list_warnings,
        title=read_mdbook_title(above),
    )


def _describe_docusaurus(tree: Tree, docs: Path) -> BookKind:
    included = IncludedFiles(tree.root)
    return BookKind(
        name="Docusaurus",
        root=docs,
        files=tree.narrow_to(docs).list_markdown(),
        list_pages=list_docusaurus_pages,
        choose_anchor_maker=_use_always(make_github_anchor),
        syntax=MarkdownSyntax("mdx"),
        expand=partial(expand_partials, included),
        list_warnings=included.list_warnings,
        title=read_docusaurus_title(tree.root),
    )


def _describe_hugo(tree: Tree) -> BookKind:
    config = hugo.read_hugo_config(tree)
    root = hugo.find_content_folder(tree, config)
    site = hugo.make_site(tree, root, config)

    def list_warnings() -> Iterator[str]:
        yield from hugo.warn_of_other_languages(tree, root)
        yield from site.included.list_warnings()
        if site.unknown:
            counts = (f"{name} ({count})" for name, count in sorted(site.unknown.items()))
            yield f"Shortcodes that only the site's theme can render: {', '.join(counts)}."

    title = config.get("title")
    return BookKind(
        name="Hugo",
        root=root,
        files=tree.narrow_to(root).list_markdown("_index.md"),
        list_pages=hugo.list_hugo_pages,
        choose_anchor_maker=partial(hugo.choose_anchor_maker, config),
        syntax=MarkdownSyntax("commonmark"),
        expand=partial(replace_hugo_shortcodes, site),
        list_warnings=list_warnings,
        title=str(title) if title else None,
    )


def _describe_plain_folder(tree: Tree) -> BookKind:
    included = IncludedFiles(tree.root)
    trunk = find_trunk(tree)
    files = tree.narrow_to(trunk).list_pages()
    notebooks = sum(path.suffix == ".ipynb" for path in files)
    return BookKind(
        name="Notebook folder" if 2 * notebooks > len(files) else "Markdown folder",
        root=trunk,
        files=files,
        list_pages=partial(list_plain_pages, trunk.relative_to(tree.root).as_posix()),
        choose_anchor_maker=_use_always(make_github_anchor),
        syntax=SyntaxBySuffix(MarkdownSyntax("plain")),
        expand=partial(expand_partials, included),
        list_warnings=included.list_warnings,
    )
