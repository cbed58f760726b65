"""`eval`: a question set asked of a book, as a table and as JSON."""

import asyncio
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from bythebook.bootstrap import Core, sample_book
from bythebook.cli.core import opened_core
from bythebook.cli.terminal import err, say
from bythebook.errors import BadQuestions
from bythebook.evaluate.articles import foreign_auroc, paragraph_recall
from bythebook.evaluate.report import Figures, summarise
from bythebook.evaluate.run import Asked, ask_all
from bythebook.evaluate.sets import Article, ArticleReader, load_articles, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import load_settings


def evaluate(
    file: Annotated[
        Path, typer.Argument(help="Questions as JSON lines, or articles in SQuAD's form.")
    ],
    book: Annotated[str | None, typer.Option(help="Ask this book; else the sample book.")] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="SQuAD: more articles for the book.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only the questions of this split.")] = None,
    most: Annotated[
        int, typer.Option(help="SQuAD: questions to answer, drawn by a fixed seed.")
    ] = 400,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Write figures and answers here.")
    ] = None,
) -> None:
    """Measure retrieval, answers, refusals, quotes and speed on a question set."""
    if file.suffix == ".json":
        sections, asked = _evaluate_articles(file, also or [], most)
    else:
        sections, asked = _evaluate_questions(file, book, split)
    for name, figures in sections.items():
        _table(name, figures)
    if json_path is not None:
        json_path.parent.mkdir(parents=True, exist_ok=True)
        value = {
            "file": file.name,
            "figures": sections,
            "questions": [asdict(one) for one in asked],
        }
        json_path.write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")
        say(f"Written to {json_path}", "dim")


def _evaluate_questions(
    file: Path, book: str | None, split: str | None
) -> tuple[dict[str, Figures], list[Asked]]:
    questions = [q for q in load_questions(file) if split in {None, q.split}]
    if not questions:
        raise BadQuestions(
            f"{file.name} has no split {split!r}.", "Leave --split out, or name one it has."
        )
    with _library(book) as (core, book_id):
        asyncio.run(ask_all(questions[:3], core.ask, book_id, _silent))  # warm up: models load once
        asked = asyncio.run(ask_all(questions, core.ask, book_id, _show))
    splits = sorted({one.question.split for one in asked})
    return {
        f"{file.name}, {name}": summarise([one for one in asked if one.question.split == name])
        for name in splits
    }, asked


@contextmanager
def _library(book: str | None) -> Iterator[tuple[Core, str]]:
    """Give a live book, or the sample book in a library of its own."""
    if book is not None:
        with opened_core() as core:
            yield core, core.library.book(book).book_id
        return
    with _scratch_core() as core:
        asyncio.run(ingest(IngestOrder(str(sample_book()), "sample"), core.ingest, lambda _: None))
        yield core, "sample"


@contextmanager
def _scratch_core() -> Iterator[Core]:
    with tempfile.TemporaryDirectory(prefix="bythebook-eval-") as folder:
        core = Core(load_settings().model_copy(update={"data_dir": Path(folder)}))
        try:
            yield core
        finally:
            core.close()


def _evaluate_articles(
    file: Path, also: Sequence[Path], most: int
) -> tuple[dict[str, Figures], list[Asked]]:
    report = load_articles(file)
    articles = [*report, *(article for path in also for article in load_articles(path))]
    spans = {article.document.document_id: article.paragraphs for article in articles}
    with _scratch_core() as core:
        _publish(core, "all", articles)
        without = {}
        for number, article in enumerate(report):
            name = f"without-{number}"
            _publish(core, name, [other for other in articles if other is not article])
            without[article.document.document_id] = name
        recall = asyncio.run(paragraph_recall(report, "all", core.ask, spans))
        foreign = asyncio.run(foreign_auroc(report, without, core.ask))
        questions = [question for article in report for question in article.questions]
        chosen = random.Random(1).sample(questions, min(most, len(questions)))  # noqa: S311 - a fixed draw
        asked = asyncio.run(ask_all(chosen, core.ask, "all", _show))
    retrieval: Mapping[str, float] = {"gold paragraph in the first five": recall, **foreign}
    name = f"{file.name}, book of {len(articles)} articles"
    return {
        f"{name}: retrieval": retrieval,
        f"{name}: {len(asked)} questions": summarise(asked),
    }, asked


def _publish(core: Core, book_id: str, articles: Sequence[Article]) -> None:
    ports = replace(core.ingest, reader=ArticleReader(tuple(articles)))
    asyncio.run(ingest(IngestOrder(book_id, book_id), ports, lambda _: None))


def _silent(_done: int, _total: int) -> None:
    """Show nothing."""


def _show(done: int, total: int) -> None:
    if err.is_terminal and (done % 10 == 0 or done == total):
        err.print(f"\r{done}/{total}", end="" if done < total else "\n")


def _table(name: str, figures: Figures) -> None:
    say(name, "bold")
    for row, value in figures.items():
        shown = f"{value:.0f}" if value == int(value) and value > 1 else f"{value:.3f}"
        say(f"  {row:<48} {shown:>9}")
    say()
