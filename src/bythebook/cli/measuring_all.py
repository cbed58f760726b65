"""`eval-all`: every report set in one table, as JSON and as a page."""

import asyncio
import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bythebook.bootstrap import Core, sample_book
from bythebook.cli.terminal import err, say
from bythebook.errors import BadQuestions
from bythebook.evaluate.bench import Bench, Cosines, fit_scores
from bythebook.evaluate.floor import drops, read_floor, write_floor
from bythebook.evaluate.page import report_page
from bythebook.evaluate.sample import BOOK, fit_baseline
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.evaluate.suite import KEYS, EvalReport, measure_all
from bythebook.evaluate.table import as_markdown, as_text
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import load_settings


def evaluate_all(
    data: Annotated[
        Path | None, typer.Argument(help="The folder of published sets; else the sample book only.")
    ] = None,
    questions: Annotated[
        Path, typer.Option(help="Questions to the sample book, dev and test.")
    ] = Path("evals/sample-book.jsonl"),
    only: Annotated[
        list[str] | None, typer.Option(help=f"Only these sets: {', '.join(KEYS)}.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="A fixed draw of each set.")] = False,
    calibrate: Annotated[
        bool, typer.Option(help="Fit scores to each book, as ingest does.")
    ] = True,
    work: Annotated[
        Path, typer.Option(help="Where books and vectors are kept for the next run.")
    ] = Path("reports/work"),
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Write figures and verdicts here.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with plots here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table as Markdown here.")] = None,
    floor: Annotated[
        Path | None, typer.Option(help="Fail if a figure is below these by more than chance.")
    ] = None,
    new_floor: Annotated[
        Path | None, typer.Option("--write-floor", help="Keep the figures as the new floor.")
    ] = None,
) -> None:
    """Measure every report set, beside what a threshold on the cosine would do."""
    if unknown := set(only or ()) - set(KEYS):
        raise BadQuestions(
            f"There is no set {min(unknown)!r}.", f"Name some of: {', '.join(KEYS)}."
        )
    asked = load_questions(questions)
    report = run_all(asked, data, work, quick=quick, calibrate=calibrate, only=only or KEYS)
    for line, style in as_text(report):
        say(line, style)
    if json_path is not None:
        _write(json_path, json.dumps(asdict(report), indent=1, ensure_ascii=False))
    if html is not None:
        _write(html, report_page(report))
    if markdown is not None:
        _write(markdown, as_markdown(report))
    if new_floor is not None:
        write_floor(report, new_floor)
    if floor is not None and (worse := list(drops(report, read_floor(floor)))):
        for line in worse:
            say(line, "bold")
        sys.exit(1)


def run_all(
    questions: Sequence[EvalQuestion],
    data: Path | None,
    work: Path,
    *,
    quick: bool,
    calibrate: bool,
    only: Collection[str] = KEYS,
) -> EvalReport:
    """Measure in a library of its own, with the parts as configured."""
    core = Core(load_settings().model_copy(update={"data_dir": work}))

    async def run() -> EvalReport:
        bench = await _bench(core, questions, quick=quick, calibrate=calibrate)
        return await measure_all(questions, data, bench, lambda name: _tell(f"{name} ..."), only)

    try:
        return asyncio.run(run())
    finally:
        core.close()


async def _bench(
    core: Core, questions: Sequence[EvalQuestion], *, quick: bool, calibrate: bool
) -> Bench:
    """Publish the sample book and fit the baseline to its dev questions."""
    await ingest(IngestOrder(str(sample_book()), BOOK), core.ingest, lambda _: None)
    fitting = core.calibrate if calibrate else None
    await fit_scores(BOOK, fitting)
    return Bench(
        ask=core.ask,
        ingest=core.ingest,
        cosines=Cosines(core.embedder),
        cosine_from=await fit_baseline(questions, core.ask),
        calibrate=fitting,
        quick=quick,
        on_done=_show,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    say(f"Written to {path}", "dim")


def _tell(line: str) -> None:
    err.print(line, style="dim")


def _show(done: int, total: int) -> None:
    if err.is_terminal and (done % 10 == 0 or done == total):
        err.print(f"\r{done}/{total}", end="" if done < total else "\n")
