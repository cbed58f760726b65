"""Measures whether citations still open after a book was edited as its editors do.

Usage: .venv/bin/python evals/citations.py [--book NAME] [--edits N] [--editions N] [--seed N] [--json PATH]

Cites sentences of a real book (of EVAL_DATA, else the sample book), makes edits over several editions with known
outcomes, and opens each citation in the last edition: once with the text of older editions, once after it was purged.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bythebook.bootstrap import Core, sample_book
from bythebook.cite import (
    CitationId,
    FoundCitation,
    OlderWords,
    WordRow,
    find_citation,
    make_citation_id,
    read_citation_id,
)
from bythebook.domain.books import Chunk, DocumentText, OlderGeneration
from bythebook.ingest.chunk import cut_document
from bythebook.settings import Settings
from evals.book_edits import EditedBook, Truth, open_book

BOOK = "rust-book"
_OVERLAP = 0.8  # of the true span that must be opened, and nothing else by as much
_SHOWN = 12


def read_book(path: Path) -> tuple[EditedBook, dict[int, CitationId]]:
    """Read a book with the product's reader, and cite every unit of it."""
    with tempfile.TemporaryDirectory() as folder:
        core = Core(Settings(data_dir=Path(folder)))
        source = core.reader.read(str(path), title=None, base_url=None)
        documents = [document.read() for document in source.documents]
        tokens = core.embedder.count_tokens
        chunks = [cut_document("book", document, tokens) for document in documents]
    return open_book(documents, chunks), _cite(chunks)


def _cite(chunks: Sequence[Sequence[Chunk]]) -> dict[int, CitationId]:
    cited: dict[int, CitationId] = {}
    number = 0
    for chunk in (chunk for its in chunks for chunk in its):
        for unit in chunk.units:
            span = unit.start, unit.end
            made = make_citation_id(
                chunk.book_id, chunk.document_id, chunk.text, span, chunk.char_start
            )
            read = read_citation_id(str(made))
            if made.words:
                if read != made:
                    raise AssertionError(f"{made} is read as {read}")
                cited[number] = made
            number += 1
    return cited


def texts_of(book: EditedBook) -> list[DocumentText]:
    """Return the documents as they are now."""
    return [DocumentText(one.document_id, one.title, one.text) for one in book.documents]


def revise(book: EditedBook, edits: int, editions: int, seed: int) -> list[OlderGeneration]:
    """Edit a book over several editions; return what ingest keeps of each older one, newest first."""
    rng = random.Random(seed)  # noqa: S311 - the same edits every time
    older = []
    for number in range(editions):
        before = texts_of(book)
        book.edit(edits // editions, rng)
        after = {one.document_id: one.text for one in texts_of(book)}
        changed = tuple(one for one in before if after.get(one.document_id) != one.text)
        ids = frozenset(one.document_id for one in before)
        older.append(OlderGeneration(str(number), f"edition {number}", ids, changed))
    return older[::-1]


def judge(truth: Truth, found: FoundCitation, *, stands_elsewhere: bool) -> str:
    """Say how a citation opened, against what became of its words."""
    silent = found.status == "standing"
    if truth.fate == "deleted":
        if found.status == "gone":
            return "said to be gone"
        if stands_elsewhere and found.status == "moved":
            return "opened where the same words stand, and said so"
        return "opened elsewhere without saying so" if silent else f"said to be {found.status}"
    if found.place is None:
        return "said to be gone"
    if not _is_right(truth, found):
        return "opened elsewhere without saying so" if silent else "opened elsewhere, and said so"
    if truth.fate == "standing":
        return "opened" if silent else f"opened, said to be {found.status}"
    return "followed and labelled" if found.status == "edited" else "opened, the words still stand"


def _is_right(truth: Truth, found: FoundCitation) -> bool:
    place = found.place
    if place is None or place.document_id != truth.document_id:
        return False
    if (
        found.status in {"standing", "moved"}
        and truth.start <= place.start < place.end <= truth.end
    ):
        return True  # text was put next to the words
    common = min(place.end, truth.end) - max(place.start, truth.start)
    return common >= _OVERLAP * max(place.end - place.start, truth.end - truth.start)


def measure(
    book: EditedBook, cited: dict[int, CitationId], older: Sequence[OlderGeneration], *, show: bool
) -> dict[str, dict[str, int]]:
    """Open each citation in the last edition."""
    now, then = WordRow(texts_of(book)), [OlderWords(one) for one in older]
    truths = book.truths()
    standing = {
        cited[number].run
        for number, one in truths.items()
        if one.fate == "standing" and number in cited
    }
    tallies: dict[str, Counter[str]] = {}
    shown: Counter[str] = Counter()
    for number, one in cited.items():
        truth = truths.get(number, Truth("deleted"))
        found = find_citation(one, now, then)
        verdict = judge(truth, found, stands_elsewhere=one.run in standing)
        tallies.setdefault(truth.fate, Counter())[verdict] += 1
        shown[verdict] += 1
        if (
            show
            and ("elsewhere" in verdict or (truth.fate, found.status) == ("deleted", "edited"))
            and shown[verdict] <= _SHOWN
        ):
            print(f"  {truth.fate}, {verdict}: {found.words_then!r} {found.place} {truth}")
    return {fate: dict(tally.most_common()) for fate, tally in sorted(tallies.items())}


def print_tallies(tallies: dict[str, dict[str, int]]) -> None:
    """Print the shares of each fate."""
    for fate, tally in tallies.items():
        total = sum(tally.values())
        print(f"  {fate}: {total:,} citations")
        for verdict, count in tally.items():
            print(f"    {100 * count / total:6.2f} %  {count:6,}  {verdict}")


def choose_cited(
    cited: dict[int, CitationId], book: EditedBook, most: int, seed: int
) -> dict[int, CitationId]:
    """Keep the citations whose words changed or vanished, and others at random."""
    truths = book.truths()
    touched = {n for n in cited if n not in truths or truths[n].fate != "standing"}
    others = sorted(set(cited) - touched)
    random.Random(seed).shuffle(others)  # noqa: S311 - the same every time
    kept = sorted(touched | set(others[:most]))
    return {number: cited[number] for number in kept}


def find_book(name: str) -> Path:
    """Return the folder of a book of EVAL_DATA, else the sample book."""
    data = os.environ.get("EVAL_DATA")
    return Path(data) / "books" / name if data and name != "sample" else sample_book()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", default=BOOK, help="folder below EVAL_DATA/books, or sample")
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--editions", type=int, default=10)
    parser.add_argument("--others", type=int, default=4000, help="citations of unchanged words")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--show", action="store_true", help="print what opened elsewhere")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    path = find_book(given.book)
    book, cited = read_book(path)
    older = revise(book, given.edits, given.editions, given.seed)
    cited = choose_cited(cited, book, given.others, given.seed)
    print(f"{path.name}: {len(book.documents)} documents, {sum(book.counts.values()):,} edits")
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(book.counts.items())))
    lengths = sorted(len(str(one)) - len("book.") for one in cited.values())
    print(f"  ids of {lengths[0]} to {lengths[-1]} characters after the book's")
    report: dict[str, object] = {"edits": book.counts}
    for name, kept in (("with older text", older), ("after a purge", [])):
        began = time.perf_counter()
        tallies = measure(book, cited, kept, show=given.show)
        seconds = time.perf_counter() - began
        print(f"{name}: {1000 * seconds / len(cited):.1f} ms for each citation")
        print_tallies(tallies)
        report[name] = tallies
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
