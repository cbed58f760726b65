"""`calibrate`: fits scores to a book; also the quick fit that `ingest` makes."""

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from bythebook.bootstrap import Core
from bythebook.calibrate.after_publishing import PublishedScores, fit_published
from bythebook.calibrate.pipeline import (
    FALSE_ANSWERS,
    QUICK,
    THOROUGH,
    CalibrateOrder,
    Fitted,
    warning_of,
)
from bythebook.calibrate.pipeline import calibrate as run_calibrate
from bythebook.calibrate.plot import risk_lines, risk_plot
from bythebook.cli.core import open_core
from bythebook.cli.reporting import ingest_progress, require_writable
from bythebook.cli.terminal import err, say
from bythebook.domain.calibrations import Calibration, RiskPoint
from bythebook.domain.reports import IngestReport
from bythebook.errors import InputError
from bythebook.ingest.report import OnProgress, Progress

_LEAST_RATE, _MOST_RATE = 0.001, 0.5


def calibrate(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
    false_answers: Annotated[
        float,
        typer.Option(help="Largest share of unanswerable questions that may be answered."),
    ] = FALSE_ANSWERS,
    plot: Annotated[
        Path | None, typer.Option(help="Write the risk-coverage curve to this SVG file.")
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Write the fit and its figures to this file.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Ask few questions and stay near the default, as ingest does."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, without storing it.")
    ] = False,
) -> None:
    """Fit what scores mean, and from when to answer, to one book."""
    if not _LEAST_RATE <= false_answers <= _MOST_RATE:
        raise InputError(
            f"--false-answers is a share from {_LEAST_RATE} to {_MOST_RATE}, not {false_answers}.",
            "Give 0.05 for five in a hundred.",
        )
    for path, option in ((plot, "--plot"), (json_path, "--json")):
        require_writable(path, option)
    with open_core() as core:
        with ingest_progress() as show:
            effort = QUICK if quick else THOROUGH
            fitted = _fit(core, CalibrateOrder(book, false_answers, effort), show)
        if fitted is None:
            raise InputError(
                f"The book {book!r} has too little prose to make questions of.",
                "Nothing to do: the default scores apply to it.",
            )
        if not dry_run:
            core.calibrations.keep(book, fitted.calibration)
        title = core.library.book(book).title
    _print_fit(title, fitted)
    say("Nothing was kept." if dry_run else f"Kept; {book} answers by it from now on.", "dim")
    if plot is not None:
        _write(plot, risk_plot(title, fitted.calibration))
    if json_path is not None:
        _write(json_path, json.dumps(asdict(fitted), indent=1) + "\n")


def _fit(core: Core, order: CalibrateOrder, show: OnProgress) -> Fitted | None:
    def show_progress(done: int, total: int) -> None:
        show(Progress("calibrating", done, total))

    return asyncio.run(run_calibrate(order, core.calibrate, show_progress))


def _print_fit(title: str, fitted: Fitted) -> None:
    fit, before, after = fitted.calibration, fitted.before, fitted.after
    say(f"{title}: fitted for {fit.false_answer_rate:.1%} false answers", "bold")
    aside = f", {fitted.left_out} left out as near to it" if fitted.left_out else ""
    say(f"  {fit.own_questions} questions of the book, {fit.other_questions} others{aside}")
    say(f"  {'':<44} {'present':>8} {'fitted':>8}")
    now = fitted.present.relevance
    _row("relevance is even at a signal of", now.midpoint, fit.relevance.midpoint, "8.3f")
    _row("... and rises with a slope of", now.slope, fit.relevance.slope, "8.1f")
    _row("the judge must be sure to", fitted.present.answer_from, fit.answer_from, "8.3f")
    if before is not None:
        _row("own questions answered", before.own_answered, after.own_answered)
        _row(
            "... refused, their passage taken away", before.withheld_refused, after.withheld_refused
        )
        _row("foreign questions refused", before.foreign_refused, after.foreign_refused)
    if fit.reached is not None:
        say(f"  On questions held out of the fit{describe_reached(fit.reached, ':')}.")
    say("Risk and coverage, by how sure the judge must be", "bold")
    for line in risk_lines(fit):
        say(line)


def describe_reached(reached: RiskPoint | None, before: str = ";") -> str:
    """Describe what a fit reached on questions that it was not fitted to."""
    if reached is None:
        return ""
    return (
        f"{before} {reached.false_answers:.0%} of unanswerable questions are answered wrongly, "
        f"{reached.answered:.0%} of the book's own are answered"
    )


def _row(name: str, before: float, after: float, form: str = "8.1%") -> None:
    say(f"  {name:<44} {before:{form}} {after:{form}}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    say(f"Written to {path}", "dim")


def fit_after_publishing(
    core: Core, report: IngestReport, before: Calibration | None, show: OnProgress
) -> PublishedScores:
    """Fit scores to a book that was just published, and show the progress."""

    def show_progress(done: int, total: int) -> None:
        show(Progress("calibrating", done, total))

    try:
        return asyncio.run(
            fit_published(
                report,
                before,
                core.library,
                core.calibrations,
                lambda: core.calibrate,
                show_progress,
            )
        )
    except KeyboardInterrupt:
        err.print("Stopped: the book is published, and the default scores apply to it.")
        raise


def with_warning(core: Core, report: IngestReport) -> IngestReport:
    """Add a warning to a report if the book's scores are not fitted."""
    book = core.library.book(report.book_id)
    warning = warning_of(book, core.calibrations.of(book))
    return replace(report, warnings=(*report.warnings, warning)) if warning else report


def print_scores(book_id: str, scores: PublishedScores, *, quiet: bool = False) -> None:
    """Print one line about a book's scores; when quiet, only if something failed."""
    if scores.state == "failed":
        err.print(f"  Not calibrated, so the default scores apply: {scores.why}", markup=False)
        err.print(f"  Try again: bythebook calibrate {book_id}", markup=False)
    elif quiet:
        return
    elif scores.answer_from is None:
        say(f"  default scores: {scores.why}")
    else:
        say(
            f"  scores {scores.state}: answers when {scores.answer_from:.0%} sure{describe_reached(scores.reached)}"
        )
