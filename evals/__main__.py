"""`make eval`: every report set in one table, as JSON, as a page with plots and as a page of misses.

Usage: .venv/bin/python -m evals [DATA] [--only SET] [--quick] [--json PATH] [--html PATH] [--misses PATH]
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bythebook.cli.measuring import show_progress
from bythebook.cli.terminal import err, fail, say
from bythebook.errors import BadQuestions, ByTheBookError
from bythebook.evaluate.sets import load_questions
from evals.report.floor import find_drops, read_floor, write_floor
from evals.report.misses import render_misses
from evals.report.page import render_page
from evals.report.table import render_markdown, render_text
from evals.sets.sample_book import QUESTIONS
from evals.suite import KEYS, run_suite

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def evaluate_sets(
    data: Annotated[
        Path | None,
        typer.Argument(help="The folder of public sets; default: the sample book only."),
    ] = None,
    questions: Annotated[
        Path, typer.Option(help="Questions to the sample book, dev and test.")
    ] = QUESTIONS,
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"Measure only this set; repeatable: {', '.join(KEYS)}."),
    ] = None,
    quick: Annotated[bool, typer.Option(help="Measure a fixed sample of each set.")] = False,
    calibrate: Annotated[
        bool, typer.Option(help="Fit scores to each book, as ingest does.")
    ] = True,
    work: Annotated[
        Path, typer.Option(help="Keep books and vectors in this folder for the next run.")
    ] = Path("reports/work"),
    json_path: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures, decisions and misses to this file."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with plots to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the table as Markdown to this file.")
    ] = None,
    misses: Annotated[
        Path | None, typer.Option(help="Write a page of misses to this file.")
    ] = None,
    floor: Annotated[
        Path | None, typer.Option(help="Fail if a figure is below this floor by more than chance.")
    ] = None,
    new_floor: Annotated[
        Path | None, typer.Option("--write-floor", help="Write the figures as the new floor.")
    ] = None,
) -> None:
    """Measure every report set, and a cosine threshold for comparison."""
    if unknown := set(only or ()) - set(KEYS):
        raise BadQuestions(
            f"There is no set {min(unknown)!r}.", f"Name some of: {', '.join(KEYS)}."
        )
    report = run_suite(
        load_questions(questions),
        data,
        work,
        quick=quick,
        calibrate=calibrate,
        only=only or KEYS,
        on_set=lambda name: err.print(f"{name} ...", style="dim"),
        on_progress=show_progress,
    )
    for line, style in render_text(report):
        say(line, style)
    _write(json_path, json.dumps(asdict(report), indent=1, ensure_ascii=False))
    _write(html, render_page(report))
    _write(markdown, render_markdown(report))
    _write(misses, render_misses(report))
    if new_floor is not None:
        write_floor(report, new_floor)
    if floor is not None and (drops := list(find_drops(report, read_floor(floor)))):
        for line in drops:
            say(line, "bold")
        sys.exit(1)


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        say(f"Written to {path}", "dim")


def main() -> None:
    """Run the command; an error of ours is two lines and exit code 2."""
    try:
        app()
    except ByTheBookError as error:
        fail(error)


if __name__ == "__main__":
    main()
