"""Kinds of Markdown books: how to tell them, and what each does in its own way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown import hugo
from bythebook.adapters.readers.markdown.docusaurus import (
    docusaurus_pages,
    docusaurus_root,
    docusaurus_title,
    has_docusaurus_config,
)
from bythebook.adapters.readers.markdown.includes import (
    Expand,
    Included,
    expand_directives,
    expand_partials,
)
from bythebook.adapters.readers.markdown.mdbook import (
    find_mdbook,
    mdbook_pages,
    mdbook_title,
    missing_files,
    summary_files,
)
from bythebook.adapters.readers.markdown.mdx import Flavour
from bythebook.adapters.readers.markdown.pages import Page, SourceFile, natural, spoken
from bythebook.adapters.readers.markdown.shown import shown_body
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.plain_text import AnchorOf, github_anchor


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of book: where its pages are, how to lay them out, what they include."""

    name: str
    root: Path
    files: Sequence[Path]
    pages: Callable[[Path, Sequence[SourceFile], str], Sequence[Page]]
    anchor_for: Callable[[Iterable[str]], AnchorOf]  # by the pages' bodies
    flavour: Flavour
    expand: Expand  # gives a page's body with what it includes
    warnings: Callable[[], Iterator[str]]  # asked after all pages were expanded
    title: str | None = None


def detect_layout(tree: Tree) -> Layout:
    """Tell what kind of Markdown book a folder is."""
    if root := find_mdbook(tree.root):
        return _mdbook(tree, root)
    if hugo.has_hugo_config(tree) and not has_docusaurus_config(tree.root):
        return _hugo(tree)
    if has_docusaurus_config(tree.root) or not hugo.has_hugo_sections(tree):
        docs = docusaurus_root(tree)
        return _plain(tree) if docs is None else _docusaurus(tree, docs)
    return _hugo(tree)


def mdbook_anchor(title: str) -> str:
    """Make a heading's anchor as mdBook does."""
    kept = (c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in title)
    return "".join(kept)


def _always(anchor_of: AnchorOf) -> Callable[[Iterable[str]], AnchorOf]:
    return lambda _bodies: anchor_of


def _mdbook(tree: Tree, root: Path) -> Layout:
    above = next((f for f in (tree.root, tree.root.parent) if (f / "book.toml").is_file()), None)
    included = Included(above or tree.root)

    def warnings() -> Iterator[str]:
        yield from (f"{name} is listed but not there." for name in missing_files(root))
        yield from included.warnings()

    return Layout(
        "mdBook", root, summary_files(root), mdbook_pages, _always(mdbook_anchor), "commonmark",
        partial(expand_directives, included), warnings, mdbook_title(above),
    )  # fmt: skip


def _docusaurus(tree: Tree, docs: Path) -> Layout:
    included = Included(tree.root)
    return Layout(
        "Docusaurus", docs, tree.below(docs).markdown(), docusaurus_pages, _always(github_anchor),
        "mdx", partial(expand_partials, included), included.warnings, docusaurus_title(tree.root),
    )  # fmt: skip


def _hugo(tree: Tree) -> Layout:
    config = hugo.hugo_config(tree)
    root = hugo.hugo_root(tree, config)
    site = hugo.hugo_site(tree, root, config)

    def warnings() -> Iterator[str]:
        yield from hugo.other_languages(tree, root)
        yield from site.included.warnings()
        if site.unknown:
            counts = (f"{name} ({count})" for name, count in sorted(site.unknown.items()))
            yield f"What the site's theme shows for these was not read: {', '.join(counts)}."

    title = config.get("title")
    return Layout(
        "Hugo", root, tree.below(root).markdown("_index.md"), hugo.hugo_pages,
        partial(hugo.hugo_anchor, config), "commonmark", partial(shown_body, site), warnings,
        str(title) if title else None,
    )  # fmt: skip


def _plain(tree: Tree) -> Layout:
    included = Included(tree.root)
    trunk = _trunk(tree)
    pages = partial(_plain_pages, trunk.relative_to(tree.root).as_posix())
    return Layout(
        "Markdown folder", trunk, tree.below(trunk).markdown(), pages, _always(github_anchor),
        "plain", partial(expand_partials, included), included.warnings,
    )  # fmt: skip


def _trunk(tree: Tree) -> Path:
    """Go down while a folder holds nothing but one other folder with pages in it."""
    trunk = tree.root
    paths = [path.relative_to(trunk).parts for path in tree.markdown()]
    while paths and all(len(path) > 1 for path in paths) and len({path[0] for path in paths}) == 1:
        trunk /= paths[0][0]
        paths = [path[1:] for path in paths]
    return trunk


def _plain_pages(above: str, _root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    """Lay a plain folder out; addresses keep the folders above its trunk, ids and chapters do not."""
    pages = []
    for file in sorted(files, key=_plain_rank):
        if file.front.get("draft") is True:
            continue
        route = str(above / file.relative)
        url = urljoin(base_url, quote(route)) if base_url else ""
        chapter = spoken(file.relative.parts[0]) if len(file.relative.parts) > 1 else None
        document_id = str(file.relative.with_suffix(""))
        pages.append(Page(file.path, document_id, url, chapter, route=f"/{route}"))
    return pages


def _plain_rank(file: SourceFile) -> tuple[object, ...]:
    directories, stem = file.relative.parent.parts, file.relative.stem
    named = natural(stem)
    if stem.lower() in {"index", "readme", "intro", "introduction", "preface", "foreword"}:
        named = ((-1, 0, stem),)
    elif stem.lower().startswith(("appendix", "glossary", "afterword", "epilogue")):
        named = ((2, 0, ""), *named)
    return (*(natural(name) for name in directories), named)
