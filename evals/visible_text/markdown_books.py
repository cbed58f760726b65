"""Lists the Markdown files that a book shows as pages, by the rules of each site builder."""

import re
from collections.abc import Iterator
from pathlib import Path

from evals.visible_text.markdown_pages import Flavour, MarkdownPage
from evals.visible_text.words import VisibleText

_SUMMARY_LINK = re.compile(r"\[[^\]]*\]\(([^)#]+\.md)[^)]*\)")


def detect_flavour(folder: Path) -> Flavour:
    """Detect which site builder a book is written for."""
    if find_summary(folder) is not None:
        return "mdbook"
    return "hugo" if any(folder.rglob("_index.md")) else "docusaurus"


def find_summary(folder: Path) -> Path | None:
    """Find mdBook's list of chapters."""
    paths = (folder / "SUMMARY.md", folder / "src" / "SUMMARY.md")
    return next((path for path in paths if path.is_file()), None)


def list_pages(folder: Path) -> Iterator[MarkdownPage]:
    """List the pages of a book that a reader can open."""
    flavour = detect_flavour(folder)
    if summary := find_summary(folder):
        names = dict.fromkeys(_SUMMARY_LINK.findall(summary.read_text("utf-8")))
        paths = [summary.parent / name for name in names]
    else:
        root = folder / "docs" if (folder / "docs").is_dir() else folder
        paths = sorted(path for path in root.rglob("*.md*") if path.suffix in {".md", ".mdx"})
    for path in paths:
        partial = path.name.startswith("_") and flavour != "hugo"
        if path.is_file() and not partial:
            page = MarkdownPage.load(path, flavour)
            if page.get_entry("draft") != "true" and page.get_entry("headless") != "true":
                yield page


def extract_markdown(folder: Path) -> Iterator[VisibleText]:
    """Extract the visible text of each page."""
    for page in list_pages(folder):
        yield VisibleText(page.path.relative_to(folder).as_posix(), page.extract_text())
