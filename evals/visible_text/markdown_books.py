"""Which Markdown files a book shows as pages, by each site builder's own rules."""

import re
from collections.abc import Iterator
from pathlib import Path

from evals.visible_text.markdown_pages import Flavour, MarkdownPage
from evals.visible_text.words import Visible

_SUMMARY_LINK = re.compile(r"\[[^\]]*\]\(([^)#]+\.md)[^)]*\)")


def flavour_of(folder: Path) -> Flavour:
    """Tell which site builder a book is written for."""
    if summary_of(folder) is not None:
        return "mdbook"
    return "hugo" if any(folder.rglob("_index.md")) else "docusaurus"


def summary_of(folder: Path) -> Path | None:
    """Find mdBook's list of chapters."""
    paths = (folder / "SUMMARY.md", folder / "src" / "SUMMARY.md")
    return next((path for path in paths if path.is_file()), None)


def markdown_pages(folder: Path) -> Iterator[MarkdownPage]:
    """Give the pages of a book that a reader can open."""
    flavour = flavour_of(folder)
    if summary := summary_of(folder):
        names = dict.fromkeys(_SUMMARY_LINK.findall(summary.read_text("utf-8")))
        paths = [summary.parent / name for name in names]
    else:
        root = folder / "docs" if (folder / "docs").is_dir() else folder
        paths = sorted(path for path in root.rglob("*.md*") if path.suffix in {".md", ".mdx"})
    for path in paths:
        partial = path.name.startswith("_") and flavour != "hugo"
        if path.is_file() and not partial:
            page = MarkdownPage.load(path, flavour)
            if page.entry("draft") != "true" and page.entry("headless") != "true":
                yield page


def visible_markdown(folder: Path) -> Iterator[Visible]:
    """Give each page with what is seen of it."""
    for page in markdown_pages(folder):
        yield Visible(page.path.relative_to(folder).as_posix(), page.text())
