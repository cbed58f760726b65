"""Measures how much of the visible text of a book is in its chunks, by code independent of the readers.

Usage: .venv/bin/python evals/coverage.py [--json PATH] [--worst N] [BOOK...]

A book is one of the names below, or the start of one ("epub"). Real books are read from EVAL_DATA.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bythebook.bootstrap import Core
from bythebook.domain.books import Chunk, Document
from bythebook.ingest.chunk import cut_document
from bythebook.ingest.duplicates import DuplicateFilter
from bythebook.settings import Settings
from evals.visible_text.comparison import Coverage, compare, count_kept_order
from evals.visible_text.dialects.asciidoc import list_asciidoc_pages
from evals.visible_text.dialects.mkdocs import list_mkdocs_pages
from evals.visible_text.dialects.myst import list_myst_pages
from evals.visible_text.dialects.notebooks import list_notebook_pages
from evals.visible_text.dialects.page import SourcePage
from evals.visible_text.dialects.quarto import list_quarto_pages
from evals.visible_text.epub_books import extract_epub
from evals.visible_text.headings import (
    Outline,
    list_page_sections,
    list_sections,
    normalize_title,
)
from evals.visible_text.html_pages import Attributes, extract_site
from evals.visible_text.markdown_books import extract_markdown
from evals.visible_text.markup import find_markup
from evals.visible_text.pdf_books import extract_pdf
from evals.visible_text.rst_books import extract_rst
from evals.visible_text.words import VisibleText

Extract = Callable[[Path], Iterable[VisibleText]]
ListPages = Callable[[Path], Iterable[SourcePage]]


@dataclass(frozen=True, slots=True)
class MeasuredBook:
    """A book, and the function that extracts its visible text."""

    name: str
    path: Path
    extract: Extract
    is_markdown: bool = False
    list_pages: ListPages | None = None  # in the author's order


def read_pages(name: str, path: Path, list_pages: ListPages) -> MeasuredBook:
    """Describe a book whose pages are listed in order, split at their headings."""

    def extract(folder: Path) -> Iterator[VisibleText]:
        return (page.make_visible() for page in list_pages(folder))

    return MeasuredBook(name, path, extract, list_pages=list_pages)


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """How many chunks name the right section and chapter."""

    chunks: int
    found: int  # chunks whose words are in the visible text
    right_section: int
    right_chapter: int
    wrong: tuple[str, ...]  # descriptions, for finding the cause

    def compute_percent(self, right: int) -> float:
        """Compute a percentage of the chunks that were found."""
        return 100.0 * right / self.found if self.found else 0.0


def list_books(books: Path | None) -> Iterator[MeasuredBook]:
    """List the sample book, and the real books if their folder is given."""
    yield MeasuredBook("sample", ROOT / "examples" / "book", extract_markdown, is_markdown=True)
    if books is None:
        return
    yield MeasuredBook("rust-book", books / "rust-book", extract_markdown, is_markdown=True)
    docusaurus = books / "docusaurus-docs" / "website"
    yield MeasuredBook("docusaurus-docs", docusaurus, extract_markdown, is_markdown=True)
    kubernetes = books / "kubernetes-docs"
    yield MeasuredBook("kubernetes-docs", kubernetes, extract_markdown, is_markdown=True)
    yield MeasuredBook("ros2-docs", books / "ros2-docs", extract_rst)
    for path in sorted((books / "epub").glob("*.epub")):
        yield MeasuredBook(f"epub/{path.stem}", path, extract_epub)
    pdf = books / "openintro-pdf" / "openintro-main.pdf"
    yield MeasuredBook("openintro-pdf", pdf, extract_pdf)
    yield read_pages("quantecon-intro", books / "quantecon-intro", list_myst_pages)
    yield read_pages("turing-way", books / "turing-way", list_myst_pages)
    notebooks = books / "data-science-notebooks"
    yield read_pages("data-science-notebooks", notebooks, list_notebook_pages)
    yield read_pages("fastapi-docs", books / "fastapi-docs", list_mkdocs_pages)
    yield read_pages("r4ds", books / "r4ds", list_quarto_pages)
    yield read_pages("progit2", books / "progit2", list_asciidoc_pages)


def render_books(folder: Path) -> Iterator[MeasuredBook]:
    """Render the sample book as a site, an EPUB and, if Chromium is installed, a PDF."""
    from tests.rendered.chromium import find_chromium
    from tests.rendered.epub import render_epub
    from tests.rendered.pdf import render_pdf
    from tests.rendered.site import render_site

    yield MeasuredBook("sample/html", render_site(folder / "site"), extract_site_content)
    yield MeasuredBook("sample/epub", render_epub(folder / "book.epub"), extract_epub)
    if find_chromium():
        yield MeasuredBook("sample/pdf", render_pdf(folder), extract_pdf)


def extract_site_content(folder: Path) -> Iterator[VisibleText]:
    """Extract the visible text of each page from the element that holds its content in Docusaurus."""

    def is_content(_tag: str, given: Attributes) -> bool:
        return "theme-doc-markdown" in (given.get("class") or "").split()

    return extract_site(folder, is_content)


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate token counts, well enough for chunks of about the usual size."""
    return [len(text) // 4 + 1 for text in texts]


@contextmanager
def open_reader() -> Iterator[Callable[[Path], list[Document]]]:
    """Open a function that reads a whole book by the product's readers."""
    with tempfile.TemporaryDirectory(prefix="bythebook-coverage-") as folder:
        core = Core(Settings(data_dir=Path(folder)))

        def read(path: Path) -> list[Document]:
            book = core.reader.read(str(path), title=None, base_url=None)
            return [document.read() for document in book.documents]

        try:
            yield read
        finally:
            core.close()


def select_chunks(documents: Sequence[Document]) -> list[list[Chunk]]:
    """Select the chunks of each document that would be indexed, and their duplicates."""
    distinct = DuplicateFilter()
    texts: set[str] = set()
    kept: list[list[Chunk]] = []
    for document in documents:
        indexed, left_out = distinct.split(cut_document("book", document, estimate_tokens))
        texts.update("".join(chunk.text.split()) for chunk in indexed)
        again = [chunk for chunk, _ in left_out if "".join(chunk.text.split()) in texts]
        kept.append([*indexed, *again])
    return kept


def join_chunks(chunks: Sequence[Chunk]) -> str:
    """Join the texts of a document's chunks, with each of their headings once."""
    own = {(chunk.heading_path, chunk.anchor) for chunk in chunks}
    paths = {path for path, _ in own}
    above = {path[:depth] for path in paths for depth in range(1, len(path))} - paths
    titles = [*(path[-1] for path, _ in own if path), *(path[-1] for path in above)]
    return "\n".join((*(chunk.text for chunk in chunks), *titles))


def measure(book: MeasuredBook, chunks: Sequence[Sequence[Chunk]]) -> Coverage:
    """Compare the visible text of a book with its chunks."""
    return compare(list(book.extract(book.path)), [join_chunks(some) for some in chunks])


def check_places(book: MeasuredBook, chunks: Sequence[Sequence[Chunk]]) -> PlaceCounts:
    """Check the section and chapter of each chunk of a book whose headings are known."""
    if book.list_pages:
        outline = Outline(list_page_sections(book.list_pages(book.path)))
    else:
        outline = Outline(list_sections(book.path))
    total = found = sections = chapters = 0
    wrong: list[str] = []
    for chunk in (chunk for some in chunks for chunk in some):
        total += 1
        if not (places := outline.find_sections(chunk.text)):
            continue
        found += 1
        is_section = any(normalize_title(chunk.section) == place.title for place in places)
        is_chapter = any(normalize_title(chunk.chapter) in place.chapters for place in places)
        sections += is_section
        chapters += is_chapter
        if not (is_section and is_chapter):
            expected = f"{' '.join(places[0].title)} / {sorted(places[0].chapters)}"
            wrong.append(
                f"{places[0].file}: {chunk.section} / {chunk.chapter}, not {expected}: {chunk.text[:60]!r}"
            )
    return PlaceCounts(total, found, sections, chapters, tuple(wrong))


def check_order(book: MeasuredBook, chunks: Sequence[Sequence[Chunk]]) -> float:
    """Return the percentage of neighbouring pages that are in the author's order."""
    kept, pairs = count_kept_order(
        list(book.extract(book.path)), [join_chunks(some) for some in chunks]
    )
    return round(100.0 * kept / max(pairs, 1), 2)


def check_markup(book: MeasuredBook, documents: Sequence[Document]) -> list[str]:
    """List the markup that is visible as text on random pages."""
    raw = "\n".join(page.raw for page in book.list_pages(book.path)) if book.list_pages else ""
    return find_markup(documents, raw)[1]


def main() -> None:
    """Measure the books named on the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("books", nargs="*", metavar="BOOK", help="names, or how they start")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--worst", type=int, default=0, help="documents to show missing words of")
    options = parser.parse_args()
    data = os.environ.get("EVAL_DATA")
    if data is None:
        print("EVAL_DATA is not set: only the sample book is measured.")
    print(
        f"{'book':<42}{'letters+digits':>15}{'covered':>10}{'extra':>8}{'section':>9}{'chapter':>9}"
        f"{'order':>8}{'markup':>7}"
    )
    with open_reader() as read, tempfile.TemporaryDirectory() as folder:
        known = [
            *list_books(Path(data) / "books" if data else None),
            *render_books(Path(folder)),
        ]
        chosen = [book for book in known if book.name.startswith(tuple(options.books) or "")]
        rows = [report(book, read, options.worst) for book in chosen]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


def report(
    book: MeasuredBook, read: Callable[[Path], list[Document]], worst: int
) -> dict[str, object]:
    """Measure a book, and print its row."""
    documents = read(book.path)
    chunks = select_chunks(documents)
    coverage = measure(book, chunks)
    row: dict[str, object] = {
        "book": book.name,
        "letters_and_digits": coverage.visible,
        "covered": coverage.covered,
        "covered_percent": round(coverage.percent, 3),
        "extra_percent": round(100 * coverage.extra / max(coverage.visible, 1), 2),
    }
    line = f"{book.name:<42}{coverage.visible:>15,}{coverage.percent:>9.3f}%"
    line += f"{row['extra_percent']:>7}%"
    wrong: Sequence[str] = ()
    if book.is_markdown or book.list_pages:
        places = check_places(book, chunks)
        wrong = places.wrong
        row["chunks"], row["chunks_found"] = places.chunks, places.found
        row["section_percent"] = round(places.compute_percent(places.right_section), 2)
        row["chapter_percent"] = round(places.compute_percent(places.right_chapter), 2)
        line += f"{row['section_percent']:>8}%{row['chapter_percent']:>8}%"
    marks: Sequence[str] = ()
    if book.list_pages:
        order, marks = check_order(book, chunks), check_markup(book, documents)
        row["order_percent"], row["markup_marks"] = order, len(marks)
        line += f"{order:>7}%{len(marks):>7}"
    print(line, flush=True)
    for mark in marks[:worst]:
        print(f"    {mark}")
    for name, missing in coverage.list_worst(worst):
        print(f"    {name}: {' '.join(missing)[:400]}")
    for place in wrong[:worst]:
        print(f"    {place}")
    return row


if __name__ == "__main__":
    main()
