"""Readers' questions on two real books, which the product's reader reads from EVAL_DATA."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bythebook.domain.books import SourceBook
from bythebook.evaluate.figures import share
from bythebook.ports import BookReader
from evals.harness import Harness
from evals.readers_books import (
    SET,
    ReaderQuestion,
    holds_gold,
    load_readers_questions,
    make_eval_question,
    resolve_golds,
)
from evals.report.results import SetResult
from evals.sets.book_questions import AskedQuestion, ask_book, make_set_result

BOOKS = ("quantecon-intro", "turing-way")
# In a quick run: questions of each kind, and further pages, of each book.
QUICK, QUICK_PAGES = 8, 6
_MARK = re.compile(r"^\s*(?:\d+[.)]\s+|`{3,}.*$)", re.MULTILINE)  # list numbers, code fences


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads a book from its folder by the product's reader, all pages or only some."""

    reader: BookReader
    folder: Path
    pages: frozenset[str] | None = None  # document ids

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay out the book under another name than its folder's."""
        book = self.reader.read(str(self.folder), title=title or source, base_url=base_url)
        if self.pages is None:
            return book
        kept = tuple(one for one in book.documents if one.document_id in self.pages)
        return replace(book, documents=kept)


async def measure_real_books(data: Path, harness: Harness, set_file: Path = SET) -> list[SetResult]:
    """Ask each book its questions, and report the splits separately."""
    books = data / "books"
    questions = load_readers_questions(set_file)
    splits = {
        split: _sample_split(questions, split, harness)
        for split in (("test",) if harness.quick else ("test", "dev"))
    }
    chosen = [question for split in splits.values() for question in split]
    for book in BOOKS:
        await _publish_book(book, books / book, chosen, harness)
    return [await _measure_split(split, asked, books, harness) for split, asked in splits.items()]


def _sample_split(
    questions: Sequence[ReaderQuestion], split: str, harness: Harness
) -> list[ReaderQuestion]:
    return [
        question
        for book in BOOKS
        for kind in ("answered", "look-alike", "foreign")
        for question in harness.sample(
            [one for one in questions if (one.split, one.book, one.kind) == (split, book, kind)],
            QUICK,
        )
    ]


async def _publish_book(
    book: str, folder: Path, questions: Iterable[ReaderQuestion], harness: Harness
) -> None:
    """Publish a book, in a quick run only the pages of the questions and some others."""
    reader = FolderReader(harness.ingest.reader, folder)
    if harness.quick:
        files = [
            f"/{page.removesuffix('.md')}"
            for one in questions
            if one.book == book
            for page in (one.page, *(gold.page for gold in one.golds))
        ]
        source = reader.read(book, title=None, base_url=None)
        known = [one.document_id for one in source.documents]
        # A reader names pages from where the book's own folder begins.
        wanted = {name for name in known if any(file.endswith(f"/{name}") for file in files)}
        others = [name for name in known if name not in wanted]
        pages = wanted.union(harness.sample(others, QUICK_PAGES))
        reader = replace(reader, pages=frozenset(pages))
    await harness.publish(harness.name_book(book), reader)


async def _measure_split(
    split: str, questions: Sequence[ReaderQuestion], books: Path, harness: Harness
) -> SetResult:
    asked: list[AskedQuestion] = []
    for book in BOOKS:
        resolved = resolve_golds((one for one in questions if one.book == book), books)
        chosen = [make_eval_question(question, golds) for question, golds in resolved]
        asked += await ask_book(chosen, harness.name_book(book), harness)
    asked = [score_answer(one) for one in asked]
    about = (
        f"{len(asked)} questions in readers' words to {' and '.join(BOOKS)}, answered in full. An answer is right "
        "if it holds the words of a gold in one run; a sentence is right if it is part of a gold or holds one."
    )
    notes = _describe_shares(asked, questions)
    return make_set_result(f"Readers' books, {split}", about, asked, harness, notes=notes)


def score_answer(asked: AskedQuestion) -> AskedQuestion:
    """Score the text of an answer, not its sentences: a gold may have several."""
    result = asked.result
    text = _MARK.sub("", result.text)  # golds are without them
    shown = holds_gold(text, result.question.golds)
    return replace(asked, result=replace(result, gold_in_answer=shown))


def _describe_shares(
    asked: Sequence[AskedQuestion], questions: Sequence[ReaderQuestion]
) -> list[str]:
    """Describe how often the gold is shown, by book and by form of question."""
    known = {question.question_id: question for question in questions}
    notes = []
    for name in ("book", "form"):
        groups: dict[str, list[bool]] = {}
        for one in asked:
            if one.result.question.kind == "answered":
                value = getattr(known[one.result.question.question_id], name)
                groups.setdefault(value, []).append(one.result.gold_in_answer)
        shares = (f"{key} {share(shown):.2f} of {len(shown)}" for key, shown in groups.items())
        notes.append(f"Gold shown in the answer by {name}: {', '.join(shares)}.")
    return notes
