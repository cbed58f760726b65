"""Readers' questions on two real books, with the places of their answers.

Usage: EVAL_DATA=... .venv/bin/python -m evals.readers_books

The set holds no text of the books. A gold is a place: the page's file below the book's folder, the heading, the
index of the first word among the page's normalized words (evals/source_pages.py), how many words, and the first
16 hex digits of the SHA-256 of those words joined by spaces. A question with several golds is answered by any one.
All questions on a page are in one split.
"""

# ruff: noqa: T201 - run as a module, it prints

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from bythebook.errors import BadQuestions
from bythebook.evaluate.sets import EvalQuestion, Kind
from evals.sets.json_lines import read_json_lines
from evals.source_pages import Page, find_words, read_page

SET = Path(__file__).parent / "readers-books.jsonl"
HASH_DIGITS = 16
SetKind = Literal["answered", "look-alike", "foreign"]
Form = Literal[
    "fact", "list", "how-to", "code", "why", "comparison", "table", "definition", "notation"
]
_KINDS: Mapping[SetKind, Kind] = {
    "answered": "answered",
    "look-alike": "look_alike",
    "foreign": "foreign",
}


@dataclass(frozen=True, slots=True)
class Gold:
    """A place in a book whose words answer a question."""

    page: str
    section: str
    start: int
    words: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question as a reader asks it."""

    question_id: str
    split: Literal["dev", "test"]
    kind: SetKind
    form: Form
    book: str
    page: str  # that the question is about; empty if it is foreign
    question: str
    golds: tuple[Gold, ...]


def load_readers_questions(path: Path = SET) -> list[ReaderQuestion]:
    """Read the set."""
    try:
        return [_make_question(value) for value in read_json_lines(path)]
    except (KeyError, TypeError, ValueError) as error:
        raise BadQuestions(f"{path.name} has a line that is not a question ({error}).") from error


def _make_question(value: dict[str, Any]) -> ReaderQuestion:
    for name, allowed in (("kind", SetKind), ("form", Form), ("split", Literal["dev", "test"])):
        if value[name] not in get_args(allowed):
            raise ValueError(f"{value['id']}: {name} {value[name]!r}")
    golds = tuple(Gold(**gold) for gold in value["golds"])
    return ReaderQuestion(question_id=value["id"], golds=golds, **_omit(value, "id", "golds"))


def _omit(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: field for name, field in value.items() if name not in names}


def hash_words(words: Iterable[str]) -> str:
    """Hash normalized words as the set does."""
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:HASH_DIGITS]


def resolve_golds(
    questions: Iterable[ReaderQuestion], books: Path
) -> Iterator[tuple[ReaderQuestion, tuple[str, ...]]]:
    """Yield each question with its golds as normalized words, and check every hash."""
    page = cache(read_page)
    for question in questions:
        folder = books / question.book
        yield (
            question,
            tuple(_read_gold(question, gold, page(folder / gold.page)) for gold in question.golds),
        )


def _read_gold(question: ReaderQuestion, gold: Gold, page: Page) -> str:
    words = page.words[gold.start : gold.start + gold.words]
    if hash_words(words) != gold.sha256 or page.section_at(gold.start) != gold.section:
        raise BadQuestions(
            f"The answer to {question.question_id} is no longer at word {gold.start} of {gold.page}.",
            "Use the version of the book that the set was written for.",
        )
    return " ".join(words)


def holds_gold(text: str, golds: Iterable[str]) -> bool:
    """Return True if the text contains the words of one of the golds in one run."""
    return any(find_words(text, gold.split()) for gold in golds)


def make_eval_question(question: ReaderQuestion, golds: tuple[str, ...]) -> EvalQuestion:
    """Convert a question to the format of the other sets; its golds are normalized words."""
    return EvalQuestion(
        question_id=question.question_id,
        split=question.split,
        kind=_KINDS[question.kind],
        question=question.question,
        golds=golds,
        document_id=question.page.removesuffix(".md"),
        section=question.golds[0].section if question.golds else "",
        reworded=True,
    )


def main() -> None:
    """Count the questions, and check every gold if EVAL_DATA is set."""
    questions = load_readers_questions()
    for name in ("book", "kind", "form", "split"):
        counts = Counter(
            getattr(question, name)
            for question in questions
            if name != "form" or question.kind == "answered"
        )
        print(f"{name:<6}", json.dumps(dict(counts.most_common())))
    data = os.environ.get("EVAL_DATA")
    if data is None:
        sys.exit("EVAL_DATA is not set: the golds are not checked.")
    golds = sum(len(texts) for _, texts in resolve_golds(questions, Path(data) / "books"))
    print(f"{golds} golds found, every hash right")


if __name__ == "__main__":
    main()
