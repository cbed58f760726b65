"""FairytaleQA: each story is a book, asked its own questions and those of another story."""

import csv
import re
from dataclasses import replace
from pathlib import Path

from bythebook.errors import BadQuestions
from bythebook.evaluate.sets import EvalQuestion
from evals.harness import Harness
from evals.report.results import SetResult
from evals.sets.articles import Article, ArticleReader, make_document
from evals.sets.book_questions import AskedQuestion, ask_book, make_set_result

QUICK_STORIES, QUICK = 3, 6  # stories in a quick run, and questions of each
_SPACE_BEFORE = re.compile(r" +([,.;:!?])")
_OPENING = re.compile(r"((?:^|[.!?])[\s'\"`]*)([a-z])")


async def measure_fairytales(folder: Path, harness: Harness) -> list[SetResult]:
    """Ask explicit questions, whose answers are in the story's words."""
    stories = harness.sample(load_stories(folder / "fairytaleqa" / "valid.csv"), QUICK_STORIES)
    asked: list[AskedQuestion] = []
    books = [story.document.document_id for story in stories]
    for book_id, story in zip(books, stories, strict=True):
        await harness.publish(book_id, ArticleReader((story,)))
    for number, story in enumerate(stories):
        questions = harness.sample(story.questions, QUICK)
        asked += await ask_book(questions, books[number], harness)
        foreign = [replace(question, kind="foreign", golds=()) for question in questions]
        asked += await ask_book(foreign, books[(number + 1) % len(books)], harness)
    about = (
        f"{len(asked) // 2} explicit questions to {len(stories)} stories, each story a book; a sentence is right "
        "if it holds the words of an answer. Asked again of the next story, they are foreign, "
        "though a story may happen to answer a question about another."
    )
    return [make_set_result("FairytaleQA valid", about, asked, harness)]


def load_stories(path: Path) -> list[Article]:
    """Read stories as books of one page, with their explicit questions."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        names = list(dict.fromkeys(row["story_name"] for row in rows))
        return [
            _make_story(name, [row for row in rows if row["story_name"] == name]) for name in names
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadQuestions(
            f"{path.name} is not a table of FairytaleQA.", "Its columns must be those of the set."
        ) from error


def _make_story(name: str, rows: list[dict[str, str]]) -> Article:
    parts = dict.fromkeys(
        restore_case(row["content"]) for row in rows if row["local_or_sum"] == "local"
    )
    title = name.replace("-", " ").capitalize()
    document, spans = make_document(f"tale-{name}", title, list(parts))
    return Article(document, spans, tuple(_make_questions(name, rows)))


def _make_questions(name: str, rows: list[dict[str, str]]) -> list[EvalQuestion]:
    return [
        EvalQuestion(
            question_id=f"{name}-{number}",
            split="all",
            kind="answered",
            question=restore_case(row["question"]),
            golds=tuple(dict.fromkeys(filter(None, (row["answer1"], row["answer2"])))),
            document_id=name,
        )
        for number, row in enumerate(rows)
        if row["ex_or_im"] == "explicit" and row["local_or_sum"] == "local"
    ]


def restore_case(text: str) -> str:
    """Restore capitals and spacing: the set is in lower case, with a space before punctuation."""
    joined = _SPACE_BEFORE.sub(r"\1", " ".join(text.split()))
    return _OPENING.sub(lambda match: match[1] + match[2].upper(), joined)
