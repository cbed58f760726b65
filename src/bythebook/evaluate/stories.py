"""FairytaleQA: each story is a book, asked its own questions and those of another story."""

import csv
import re
from dataclasses import replace
from pathlib import Path

from bythebook.domain.books import Block, Document, Section
from bythebook.errors import BadQuestions
from bythebook.evaluate.bench import Bench
from bythebook.evaluate.book_sets import (
    Compared,
    ask_book,
    book_figures,
    verdicts_of,
)
from bythebook.evaluate.measured import Measured
from bythebook.evaluate.sets import Article, ArticleReader, EvalQuestion

QUICK_STORIES, QUICK = 3, 6  # in a quick run, and questions of each
_BEFORE_MARK = re.compile(r" +([,.;:!?])")
_OPENING = re.compile(r"((?:^|[.!?])[\s'\"`]*)([a-z])")


async def measure_stories(folder: Path, bench: Bench) -> list[Measured]:
    """Ask explicit questions, whose answers are in the story's words."""
    stories = bench.draw(load_stories(folder / "fairytaleqa" / "valid.csv"), QUICK_STORIES)
    compared: list[Compared] = []
    books = [story.document.document_id for story in stories]
    for book_id, story in zip(books, stories, strict=True):
        await bench.publish(book_id, ArticleReader((story,)))
    for number, story in enumerate(stories):
        own = bench.draw(story.questions, QUICK)
        compared += await ask_book(own, books[number], bench)
        foreign = [replace(question, kind="foreign", golds=()) for question in own]
        compared += await ask_book(foreign, books[(number + 1) % len(books)], bench)
    about = (
        f"{len(compared) // 2} explicit questions to {len(stories)} stories, each story a book; right is a "
        "sentence that holds an answer's words. Asked again of the next story, they are foreign, "
        "though a story may happen to answer a question of another."
    )
    return [
        Measured(
            "FairytaleQA valid",
            about,
            book_figures(compared, bench),
            verdicts_of(compared),
        )
    ]


def load_stories(path: Path) -> list[Article]:
    """Read stories as books of one page, with their explicit questions."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        names = list(dict.fromkeys(row["story_name"] for row in rows))
        return [_story(name, [row for row in rows if row["story_name"] == name]) for name in names]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadQuestions(
            f"{path.name} is not a table of FairytaleQA.", "Its columns must be those of the set."
        ) from error


def _story(name: str, rows: list[dict[str, str]]) -> Article:
    parts = dict.fromkeys(mended(row["content"]) for row in rows if row["local_or_sum"] == "local")
    title = name.replace("-", " ").capitalize()
    text, spans = title, []
    for part in parts:
        text += "\n\n"
        spans.append((len(text), len(text) + len(part)))
        text += part
    blocks = (
        Block("heading", 0, len(title), level=1),
        *(Block("paragraph", *span) for span in spans),
    )
    section = Section(title, "", (title,), 0, len(text))
    document = Document(f"tale-{name}", title, title, text, blocks, (section,))
    return Article(document, tuple(spans), tuple(_questions(name, rows)))


def _questions(name: str, rows: list[dict[str, str]]) -> list[EvalQuestion]:
    return [
        EvalQuestion(
            question_id=f"{name}-{number}",
            split="all",
            kind="answered",
            question=mended(row["question"]),
            golds=tuple(dict.fromkeys(filter(None, (row["answer1"], row["answer2"])))),
            document_id=name,
        )
        for number, row in enumerate(rows)
        if row["ex_or_im"] == "explicit" and row["local_or_sum"] == "local"
    ]


def mended(text: str) -> str:
    """Write a text as books do that the set keeps in lower case, a space before each mark."""
    joined = _BEFORE_MARK.sub(r"\1", " ".join(text.split()))
    return _OPENING.sub(lambda match: match[1] + match[2].upper(), joined)
