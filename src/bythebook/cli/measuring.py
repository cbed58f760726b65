"""`eval`: ask a book the questions of a set, and print figures."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bythebook.bootstrap import Core, sample_book
from bythebook.cli.core import open_core
from bythebook.cli.terminal import err, say
from bythebook.errors import BadQuestions
from bythebook.evaluate.report import Figures, summarise
from bythebook.evaluate.run import QuestionResult, ask_all
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import load_settings

_WARM_UP = 3  # questions asked before the clock counts, so that models are loaded


def evaluate(
    file: Annotated[Path, typer.Argument(help="Questions as JSON lines.")],
    book: Annotated[
        str | None, typer.Option(help="The book to ask; default: the sample book.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Ask only the questions of this split.")] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Write figures and answers to this file.")
    ] = None,
) -> None:
    """Measure retrieval, answers, refusals, quotes and speed on a question set."""
    results = _ask_questions(_choose_questions(file, split), book)
    sections = {
        f"{file.name}, {name}": summarise([one for one in results if one.question.split == name])
        for name in sorted({one.question.split for one in results})
    }
    for name, figures in sections.items():
        _print_table(name, figures)
    if json_path is not None:
        _write_json(json_path, file.name, sections, results)


def _choose_questions(file: Path, split: str | None) -> list[EvalQuestion]:
    questions = [one for one in load_questions(file) if split in {None, one.split}]
    if not questions:
        raise BadQuestions(
            f"{file.name} has no split {split!r}.", "Omit --split, or name a split of the file."
        )
    return questions


def _ask_questions(questions: Sequence[EvalQuestion], book: str | None) -> list[QuestionResult]:
    with _open_book(book) as (core, book_id):
        asyncio.run(ask_all(questions[:_WARM_UP], core.ask, book_id, _ignore_progress))
        return asyncio.run(ask_all(questions, core.ask, book_id, show_progress))


@contextmanager
def _open_book(book: str | None) -> Iterator[tuple[Core, str]]:
    """Open a published book, or ingest the sample book into a temporary library."""
    if book is not None:
        with open_core() as core:
            yield core, core.library.book(book).book_id
        return
    with tempfile.TemporaryDirectory(prefix="bythebook-eval-") as folder:
        core = Core(load_settings().model_copy(update={"data_dir": Path(folder)}))
        try:
            order = IngestOrder(str(sample_book()), "sample")
            asyncio.run(ingest(order, core.ingest, lambda _: None))
            yield core, "sample"
        finally:
            core.close()


def _ignore_progress(_done: int, _total: int) -> None:
    """Show nothing."""


def show_progress(done: int, total: int) -> None:
    """Count questions on a terminal; print nothing elsewhere."""
    if err.is_terminal and (done % 10 == 0 or done == total):
        err.print(f"\r{done}/{total}", end="" if done < total else "\n")


def _print_table(name: str, figures: Figures) -> None:
    say(name, "bold")
    for row, value in figures.items():
        shown = f"{value:.0f}" if value == int(value) and value > 1 else f"{value:.3f}"
        say(f"  {row:<48} {shown:>9}")
    say()


def _write_json(
    path: Path, name: str, sections: Mapping[str, Figures], results: Sequence[QuestionResult]
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"file": name, "figures": sections, "questions": [asdict(one) for one in results]}
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")
    say(f"Written to {path}", "dim")
