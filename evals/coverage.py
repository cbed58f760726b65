"""How much of what a person sees in a book is found in its chunks, measured by independent code.

Usage: .venv/bin/python evals/coverage.py [--json PATH] [--worst N] [BOOK...]

A book is one of the names below, or its start ("epub"). Real books are those of EVAL_DATA.
"""

# ruff: noqa: E402, T201 - run as a file, it looks for modules first, and prints

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
from bythebook.ingest.distinct import Distinct
from bythebook.settings import Settings
from evals.visible_text.comparison import Coverage, compare
from evals.visible_text.epub_books import visible_epub
from evals.visible_text.headings import Outline, folded
from evals.visible_text.html_pages import Attributes, visible_site
from evals.visible_text.markdown_books import visible_markdown
from evals.visible_text.pdf_books import visible_pdf
from evals.visible_text.rst_books import visible_rst
from evals.visible_text.words import Visible

See = Callable[[Path], Iterable[Visible]]


@dataclass(frozen=True, slots=True)
class MeasuredBook:
    """A book, and what finds its visible words."""

    name: str
    path: Path
    see: See
    is_markdown: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Whether chunks name the section and chapter that they stand in."""

    chunks: int
    found: int  # whose words were seen in the source
    right_section: int
    right_chapter: int
    wrong: tuple[str, ...]  # for finding out why

    def share(self, right: int) -> float:
        """Give a percentage of the chunks that were found."""
        return 100.0 * right / self.found if self.found else 0.0


def known_books(books: Path | None) -> Iterator[MeasuredBook]:
    """Give the sample book, and the real ones if their folder is there."""
    yield MeasuredBook("sample", ROOT / "examples" / "book", visible_markdown, is_markdown=True)
    if books is None:
        return
    yield MeasuredBook("rust-book", books / "rust-book", visible_markdown, is_markdown=True)
    docusaurus = books / "docusaurus-docs" / "website"
    yield MeasuredBook("docusaurus-docs", docusaurus, visible_markdown, is_markdown=True)
    kubernetes = books / "kubernetes-docs"
    yield MeasuredBook("kubernetes-docs", kubernetes, visible_markdown, is_markdown=True)
    yield MeasuredBook("ros2-docs", books / "ros2-docs", visible_rst)
    for path in sorted((books / "epub").glob("*.epub")):
        yield MeasuredBook(f"epub/{path.stem}", path, visible_epub)
    pdf = books / "openintro-pdf" / "openintro-main.pdf"
    yield MeasuredBook("openintro-pdf", pdf, visible_pdf)


def rendered_books(folder: Path) -> Iterator[MeasuredBook]:
    """Give the sample book as a site, an EPUB and, where there is a Chromium, a PDF."""
    from tests.rendered.chromium import find_chromium
    from tests.rendered.epub import render_epub
    from tests.rendered.pdf import render_pdf
    from tests.rendered.site import render_site

    yield MeasuredBook("sample/html", render_site(folder / "site"), visible_site_content)
    yield MeasuredBook("sample/epub", render_epub(folder / "book.epub"), visible_epub)
    if find_chromium():
        yield MeasuredBook("sample/pdf", render_pdf(folder), visible_pdf)


def visible_site_content(folder: Path) -> Iterator[Visible]:
    """Give what is seen of each page where Docusaurus puts a page's own text."""

    def is_content(_tag: str, given: Attributes) -> bool:
        return "theme-doc-markdown" in (given.get("class") or "").split()

    return visible_site(folder, is_content)


def count_roughly(texts: Sequence[str]) -> list[int]:
    """Count tokens as well as it takes for chunks of about the usual size."""
    return [len(text) // 4 + 1 for text in texts]


@contextmanager
def opened_reader() -> Iterator[Callable[[Path], list[Document]]]:
    """Give what reads a whole book by the product's own readers."""
    with tempfile.TemporaryDirectory(prefix="bythebook-coverage-") as folder:
        core = Core(Settings(data_dir=Path(folder)))

        def read(path: Path) -> list[Document]:
            book = core.reader.read(str(path), title=None, base_url=None)
            return [document.read() for document in book.documents]

        try:
            yield read
        finally:
            core.close()


def indexed_chunks(documents: Sequence[Document]) -> list[list[Chunk]]:
    """Give the chunks of each document that would be indexed, and those that say the same again."""
    distinct = Distinct()
    texts: set[str] = set()
    kept: list[list[Chunk]] = []
    for document in documents:
        indexed, left_out = distinct.sort(cut_document("book", document, count_roughly))
        texts.update("".join(chunk.text.split()) for chunk in indexed)
        again = [chunk for chunk, _ in left_out if "".join(chunk.text.split()) in texts]
        kept.append([*indexed, *again])
    return kept


def held_words(chunks: Sequence[Chunk]) -> str:
    """Give a document's text as chunks hold it, with each heading that one of them carries once."""
    own = {(chunk.heading_path, chunk.anchor) for chunk in chunks}
    paths = {path for path, _ in own}
    above = {path[:depth] for path in paths for depth in range(1, len(path))} - paths
    titles = [*(path[-1] for path, _ in own if path), *(path[-1] for path in above)]
    return "\n".join((*(chunk.text for chunk in chunks), *titles))


def measure(book: MeasuredBook, chunks: Sequence[Sequence[Chunk]]) -> Coverage:
    """Compare what is seen of a book with what its chunks hold."""
    return compare(list(book.see(book.path)), [held_words(some) for some in chunks])


def check_places(book: MeasuredBook, chunks: Sequence[Sequence[Chunk]]) -> Places:
    """Look up where the chunks of a Markdown book stand."""
    outline = Outline(book.path)
    total = found = sections = chapters = 0
    wrong: list[str] = []
    for chunk in (chunk for some in chunks for chunk in some):
        total += 1
        if not (places := outline.places(chunk.text)):
            continue
        found += 1
        is_section = any(folded(chunk.section) == place.title for place in places)
        is_chapter = any(folded(chunk.chapter) in place.chapters for place in places)
        sections += is_section
        chapters += is_chapter
        if not (is_section and is_chapter):
            meant = f"{' '.join(places[0].title)} / {sorted(places[0].chapters)}"
            wrong.append(
                f"{places[0].file}: {chunk.section} / {chunk.chapter}, not {meant}: {chunk.text[:60]!r}"
            )
    return Places(total, found, sections, chapters, tuple(wrong))


def main() -> None:
    """Measure the books that were asked for, and print one table."""
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
    )
    with opened_reader() as read, tempfile.TemporaryDirectory() as folder:
        known = [
            *known_books(Path(data) / "books" if data else None),
            *rendered_books(Path(folder)),
        ]
        chosen = [book for book in known if book.name.startswith(tuple(options.books) or "")]
        rows = [report(book, read, options.worst) for book in chosen]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


def report(
    book: MeasuredBook, read: Callable[[Path], list[Document]], worst: int
) -> dict[str, object]:
    """Measure a book, and print its line."""
    chunks = indexed_chunks(read(book.path))
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
    if book.is_markdown:
        places = check_places(book, chunks)
        wrong = places.wrong
        row["chunks"], row["chunks_found"] = places.chunks, places.found
        row["section_percent"] = round(places.share(places.right_section), 2)
        row["chapter_percent"] = round(places.share(places.right_chapter), 2)
        line += f"{row['section_percent']:>8}%{row['chapter_percent']:>8}%"
    print(line, flush=True)
    for name, missing in coverage.worst(worst):
        print(f"    {name}: {' '.join(missing)[:400]}")
    for place in wrong[:worst]:
        print(f"    {place}")
    return row


if __name__ == "__main__":
    main()
