"""Readers' questions on real books: how they are asked and scored."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from evals.funnel import GoldTrace
from evals.readers_books import hash_words
from evals.sets.book_questions import AskedQuestion
from evals.sets.real_books import FolderReader, measure_real_books, score_answer
from tests.unit.evals.eval_harness import ShelfHarness, lines, make_harness, make_result, values
from tests.unit.fakes import make_document

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import SourceBook, SourceDocument
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ingest.pipeline import IngestPorts

HELD = GoldTrace(among_8=True, among_20=True, in_best=True, in_two_best=True)


def test_an_answer_is_scored_as_one_text_without_list_numbers_and_fences() -> None:
    question = EvalQuestion("q", "test", "answered", "How?", ("lift it set it down",))
    text = "Two steps:\n\n1. Lift it.\n2. Set it down."
    asked = AskedQuestion(make_result(question, text=text), 0.9, (), HELD)
    assert score_answer(asked).result.gold_in_answer
    other = replace(asked.result, text="1. Lift it.\n2. Then set it down.", gold_in_answer=True)
    assert not score_answer(replace(asked, result=other)).result.gold_in_answer
    code = replace(asked.result, text="```python\nlift(it)\n```\n\nSet it down.")
    assert score_answer(replace(asked, result=code)).result.gold_in_answer


def reader_question(number: int, book: str, gold: str = "", **changes: str) -> dict[str, object]:
    """A question to the one page of a book, whose first word is its heading."""
    place = {"page": "page.md", "section": "Use", "start": 1, "words": len(gold.split())}
    row: dict[str, object] = {
        "id": f"q{number}",
        "split": "test",
        "kind": "answered" if gold else "foreign",
        "form": "fact",
        "book": book,
        "page": "page.md" if gold else "",
        "question": "Who? nobody",
        "golds": [place | {"sha256": hash_words(gold.split())}] if gold else [],
    }
    return {**row, **changes}


def write_real_books(data: Path) -> Path:
    """Write two books of a page or two, and a set of questions to them."""
    for book, text in (
        ("turing-way", "It runs tests. Robots stop here."),
        ("quantecon-intro", "We save."),
    ):
        folder = data / "books" / book
        folder.mkdir(parents=True)
        (folder / "page.md").write_text(f"# Use\n\n{text}\n", "utf-8")
    (data / "books" / "turing-way" / "other.md").write_text("# Other\n\nMore.\n", "utf-8")
    whole = "it runs tests robots stop here"
    lines(
        data / "set.jsonl",
        reader_question(1, "turing-way", "it runs tests", question="What runs? tests"),
        reader_question(2, "turing-way", whole, question="What then? here", form="list"),
        reader_question(3, "quantecon-intro"),
        reader_question(4, "quantecon-intro", "we save", question="Who? save", split="dev"),
    )
    return data / "set.jsonl"


def real_book_harness(*, quick: bool = False) -> ShelfHarness:
    reads: IngestPorts = SimpleNamespace(reader=MarkdownReader())  # type: ignore[assignment]
    return replace(make_harness(quick=quick), ingest=reads)


def test_readers_books_are_asked_by_split_and_scored_by_the_whole_answer(tmp_path: Path) -> None:
    set_file = write_real_books(tmp_path)
    harness = real_book_harness()
    test, dev = asyncio.run(measure_real_books(tmp_path, harness, set_file))
    assert (test.name, dev.name) == ("Readers' books, test", "Readers' books, dev")
    assert len(harness.published["turing-way"].documents) == 2
    assert values(test)["gold among 8 passages"] == 1
    assert values(test)["gold in the best sentence"] == 1
    assert values(test)["gold in a key sentence"] == 1
    assert values(test)["gold shown in the answer"] == 1
    assert not test.misses
    assert values(test)["foreign questions refused"] == 1
    assert "by form: fact 1.00 of 1, list 1.00 of 1" in test.notes[1]
    assert values(dev)["gold shown in the answer"] == 1


def test_a_quick_run_on_real_books_asks_test_questions_only(tmp_path: Path) -> None:
    set_file = write_real_books(tmp_path)
    harness = real_book_harness(quick=True)
    (test,) = asyncio.run(measure_real_books(tmp_path, harness, set_file))
    assert (test.name, len(test.decisions)) == ("Readers' books, test", 3)
    assert set(harness.published) == {"quantecon-intro-quick", "turing-way-quick"}


@dataclass
class TwoPageReader:
    """Lays out two pages, whatever the source."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        pages = tuple(SourceDocument(name, name, make_document) for name in ("one", "two"))
        return SourceBook(title or source, "two pages", base_url or "", pages)


def test_a_quick_run_reads_only_some_pages_of_a_book(tmp_path: Path) -> None:
    whole = FolderReader(TwoPageReader(), tmp_path).read("book", title=None, base_url=None)
    assert (whole.title, len(whole.documents)) == ("book", 2)
    part = FolderReader(TwoPageReader(), tmp_path, frozenset({"two", "three"}))
    book = part.read("book", title=None, base_url=None)
    assert [one.document_id for one in book.documents] == ["two"]
