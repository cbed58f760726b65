"""An ingest run at the terminal: its progress, then its report."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from bythebook.cli.terminal import err, out, say
from bythebook.domain.reports import IngestReport
from bythebook.errors import InputError
from bythebook.http.pages.ingest_report import render_report
from bythebook.ingest.report import OnProgress, Stage
from bythebook.ingest.report import Progress as IngestProgress

_STAGES: dict[Stage, str] = {
    "reading": "Reading",
    "embedding": "Embedding",
    "publishing": "Publishing",
    "calibrating": "Calibrating",
    "suggesting": "Looking for questions to suggest",
    "copying": "Copying",
}
_SHOWN = 5  # of what may be many
_LEAST_SECONDS = 1.0  # that a rate is measured over


@contextmanager
def ingest_progress() -> Iterator[OnProgress]:
    """Show a bar for each stage with rate and time left; nothing without a terminal."""
    columns = (
        TextColumn("{task.description:<11}"),
        BarColumn(complete_style="cyan"),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks: dict[Stage, TaskID] = {}
        pace = Pace()

        def show(progress: IngestProgress) -> None:
            if progress.stage not in tasks:
                name = _STAGES[progress.stage]
                tasks[progress.stage] = bar.add_task(name, total=None, note="")
            task = tasks[progress.stage]
            bar.update(task, completed=progress.done, total=progress.total or None)
            if note := progress.reader or pace.note(progress.tokens):
                bar.update(task, note=note)

        yield show


class Pace:
    """How fast tokens are embedded, measured from the first report on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def note(self, tokens: int) -> str:
        """Give the rate in words; nothing until there has been time to measure it."""
        if not tokens:
            return ""
        now = self._clock()
        # How long the first batch took is not known: only what follows it is counted.
        began, before = self._first = self._first or (now, tokens)
        elapsed = now - began
        return f"{(tokens - before) / elapsed:,.0f} tokens/s" if elapsed >= _LEAST_SECONDS else ""


def report_values(report: IngestReport) -> dict[str, Any]:
    """Return a report as plain values, including its totals."""
    return {**asdict(report), **report.totals()}


def require_writable(path: Path | None, option: str) -> None:
    """Raise InputError before the work if its result cannot be written."""
    if path is None:
        return
    folder = next(folder for folder in path.absolute().parents if folder.exists())
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"{path} cannot be written.", f"Give another {option} FILE.")


def write_report(report: IngestReport, path: Path) -> None:
    """Write a report as a self-contained page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_report(report), "utf-8")


def print_report(report: IngestReport) -> None:
    """Summarize a run in a few lines, with what a person should check."""
    done = "Published" if report.published else "Would publish"
    say(f"{done} {report.book_id}: {report.title}", "bold")
    documents = f"{len(report.documents)} document{'' if len(report.documents) == 1 else 's'}"
    say(f"  read as {report.reader}: {documents}, {report.characters:,} characters")
    say(
        f"  {report.chunks:,} chunks: {report.added:,} new, {report.kept:,} kept, {report.removed:,} removed"
    )
    verb = "embedded" if report.published else "to embed"
    cost = f", about ${report.cost_usd:.4f}" if report.cost_usd else ""
    say(f"  {report.embedded:,} {verb} ({report.tokens:,} tokens{cost}), {report.seconds:.1f} s")
    left = ", ".join(
        f"{reason} {count:,}" for reason, count in report.left_out.items() if reason != "duplicate"
    )
    twice = report.left_out.get("duplicate", 0)
    say(
        f"  {100 * report.coverage:.2f} % of the text is in the index"
        + (f", {twice:,} characters of it said again elsewhere" if twice else "")
        + (f"; left out: {left}" if left else "")
    )
    if report.citations:
        say(f"  recent citations: {report.citations}")
    print_skipped(report)
    _print_some("Note", report.warnings)
    broken = [f"{link.document_id} -> {link.target}" for link in report.broken_links]
    _print_some("Broken link", broken)
    lost = [f"{one.document_id}: {one.target}: {one.reason}" for one in report.lost_pictures]
    _print_some("Picture not shown", lost)


def print_skipped(report: IngestReport, console: Console = out) -> None:
    """Name the parts that could not be read."""
    _print_some("Skipped", [f"{part.name}: {part.reason}" for part in report.skipped], console)


def _print_some(kind: str, lines: Sequence[str], console: Console = out) -> None:
    for line in lines[:_SHOWN]:
        console.print(Text(f"  {kind}: {line}", style="yellow"))
    if len(lines) > _SHOWN:
        more = f"  ... and {len(lines) - _SHOWN} more; --report FILE or --json lists all"
        console.print(Text(more, style="yellow"))
