"""Reads random reader pages of real books as a browser shows them, and reports markup that is visible outside code.

Usage: .venv/bin/python evals/reader_pages.py [--json PATH] [--pages N] [--seed N] [--html FOLDER] [BOOK...]

A book is one that `evals/coverage.py` knows; real books are read from EVAL_DATA. With --html the pages are written
to a folder, to be looked at.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import json
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lxml import html

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bythebook.domain.books import Document
from bythebook.http.pages.assets import load_asset
from bythebook.render import Addresses, render_document
from evals.coverage import list_books, open_reader

_MARKUP = re.compile(
    r"""\$\$|(?<![\w:]):(?:numref|ref|eqref|cite\w*|label|eqlabel|doc|term|math):|\{[\w:+-]+\}`
    |\{\{|\}\}|\{%|%\}|(?m:^\s*:{3,})|\]\(\S+\)|(?<!\w)\\(?:begin|end|frac|text|mathbf)\{
    |</?(?:div|span|p|a|img|br|table|tr|td|th|details|summary|figure|iframe|script|style|font|sup|sub)\b[^<>]*>""",
    re.VERBOSE,
)
_BLOCKS = ("p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div")
_AROUND = 40  # characters


@dataclass(slots=True)
class PageTally:
    """What was found on the pages of a book."""

    book: str
    pages: int = 0
    formulas: int = 0
    raw_formulas: list[str] = field(default_factory=list)  # that are shown as TeX
    marks: list[str] = field(default_factory=list)


def check_pages(name: str, documents: Sequence[Document]) -> PageTally:
    """Render pages, and find what their author did not mean to be seen."""
    tally = PageTally(name)
    for document in documents:
        tally.pages += 1
        page = html.fragment_fromstring(
            render_document(document, Addresses(name)) or "<p></p>", create_parent="article"
        )
        tally.formulas += len(list(page.iter("math")))
        raw = [one.text_content() for one in page.iter("code") if one.get("class") == "tex"]
        tally.raw_formulas += [f"{document.document_id}: {one[:200]}" for one in raw]
        tally.marks += [f"{document.document_id}: {one}" for one in _find_markup(page)]
    return tally


def _find_markup(page: html.HtmlElement) -> Iterator[str]:
    for element in list(page.iter("code", "pre", "kbd", "math", "details")):
        element.drop_tree()
    for element in page.iter(*_BLOCKS):
        element.tail = f"\n{element.tail or ''}"
    text = page.text_content()
    for found in _MARKUP.finditer(text):
        around = text[max(found.start() - _AROUND, 0) : found.end() + _AROUND]
        yield f"{found.group()!r} in {around!r}"


def write_page(folder: Path, name: str, document: Document) -> None:
    """Write a page as a file with the reader's style sheet."""
    folder.mkdir(parents=True, exist_ok=True)
    body = render_document(document, Addresses(name))
    path = folder / f"{name}-{document.document_id}.html".replace("/", "-")
    style = load_asset("reader.css").content.decode()
    head = f'<!doctype html><meta charset="utf-8"><title>{name}</title><style>{style}</style>'
    path.write_text(f"{head}<main><article>{body}</article></main>", "utf-8")


def main() -> None:
    """Check pages of the books named on the command line, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("books", nargs="*", metavar="BOOK", help="names, or how they start")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    parser.add_argument(
        "--pages", type=int, default=200, help="in all; the same number of each book"
    )
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--html", type=Path, help="write the pages to this folder")
    given = parser.parse_args()
    data = os.environ.get("EVAL_DATA")
    known = [
        book
        for book in list_books(Path(data) / "books" if data else None)
        if book.name.startswith(tuple(given.books) or "")
    ]
    chance = random.Random(given.seed)  # noqa: S311 - a sample, no secret
    tallies: list[PageTally] = []
    print(f"{'book':<42}{'pages':>7}{'formulas':>10}{'as TeX':>8}{'markup':>8}")
    with open_reader() as read:
        for place, book in enumerate(known):
            left = given.pages - sum(one.pages for one in tallies)
            documents = read(book.path)
            count = min(-(-left // (len(known) - place)), len(documents))
            chosen = chance.sample(documents, count)
            tally = check_pages(book.name, chosen)
            tallies.append(tally)
            for document in chosen if given.html else ():
                write_page(given.html, book.name.replace("/", "-"), document)
            row = f"{book.name:<42}{tally.pages:>7}{tally.formulas:>10}{len(tally.raw_formulas):>8}"
            print(f"{row}{len(tally.marks):>8}", flush=True)
            for one in (*tally.marks, *tally.raw_formulas):
                print(f"    {one}")
    pages, marks, raw = (
        sum(count)
        for count in zip(
            *((one.pages, len(one.marks), len(one.raw_formulas)) for one in tallies), strict=True
        )
    )
    print(f"{pages} pages, {marks} marks, {raw} formulas as TeX")
    if given.json:
        rows = [asdict(one) for one in tallies]
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
