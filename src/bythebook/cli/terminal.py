"""How things look in a terminal: calm, one accent, no banners."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from bythebook.errors import ByTheBookError
from bythebook.ingest.report import IngestReport, OnProgress
from bythebook.ingest.report import Progress as IngestProgress

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)
_STAGES = {"reading": "Reading", "embedding": "Embedding", "publishing": "Publishing"}


def fail(error: ByTheBookError) -> NoReturn:
    """Say what went wrong and what to do about it, and leave with exit code 2."""
    err.print(Text.assemble(("Error: ", "bold red"), error.what))
    if error.help_message:
        err.print(Text(error.help_message))
    sys.exit(2)


def say(text: str = "", style: str = "") -> None:
    """Print a line as it is, markup characters and all."""
    out.print(Text(text, style=style))


@contextmanager
def ingest_progress() -> Iterator[OnProgress]:
    """Show a bar with rate and time left; nothing where the output is not a terminal."""
    columns = (
        TextColumn("{task.description:<11}"),
        BarColumn(complete_style="cyan"),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("Reading", total=None, rate="")
        current = "reading"

        def show(progress: IngestProgress) -> None:
            nonlocal current
            if progress.stage != current:
                bar.reset(task, total=progress.total or None)
                current = progress.stage
            elapsed = bar.tasks[0].elapsed or 0
            rate = (
                f"{progress.tokens / elapsed:,.0f} tokens/s" if elapsed and progress.tokens else ""
            )
            bar.update(
                task,
                description=_STAGES[progress.stage],
                completed=progress.done,
                total=progress.total or None,
                rate=rate,
            )

        yield show


def print_report(report: IngestReport) -> None:
    """Sum a run up in five lines."""
    done = "Published" if report.published else "Would publish"
    say(f"{done} {report.book_id}: {report.title}", "bold")
    say(f"  {report.reader}, {report.documents} documents, {report.characters:,} characters")
    say(
        f"  {report.chunks:,} chunks: {report.added:,} new, {report.kept:,} kept, {report.removed:,} removed"
    )
    verb = "embedded" if report.published else "to embed"
    say(f"  {report.embedded:,} {verb} ({report.tokens:,} tokens)")
    say(f"  {report.seconds:.1f} s")
    for warning in report.warnings:
        say(f"  Note: {warning}", "yellow")
