"""`ingest`: a source becomes a published book."""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import typer

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.bootstrap import Core
from bythebook.calibrate.after_publishing import PublishedScores, live_fit
from bythebook.cli.calibrating import (
    fit_after_publishing,
    print_scores,
    with_warning,
)
from bythebook.cli.core import open_core
from bythebook.cli.reporting import (
    ingest_progress,
    print_report,
    print_skipped,
    report_values,
    require_writable,
    write_report,
)
from bythebook.cli.terminal import err, out
from bythebook.domain.reports import IngestReport
from bythebook.domain.suggestions import Suggestion
from bythebook.errors import (
    ByTheBookError,
    InputError,
    StoreFailed,
    UnknownBook,
    UnreadableBook,
)
from bythebook.ingest.pipeline import IngestOrder, IngestPorts
from bythebook.ingest.pipeline import ingest as run_ingest
from bythebook.ingest.report import OnProgress, Progress
from bythebook.suggest import suggest as run_suggest


def ingest(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PATH_OR_URL",
            help="A folder of Markdown (Docusaurus, mdBook, Hugo or plain), reStructuredText or HTML, "
            "a PDF, an EPUB, one page, or the address of a web site.",
        ),
    ],
    book: Annotated[
        str | None, typer.Option(help="Id of the book; default: made from the source's name.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title; default: taken from the book.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the book's own site, for links.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would change and its cost, without changing anything."
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Publish nothing if any part cannot be read.")
    ] = False,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate/--no-calibrate",
            help="Fit scores to the book, or leave them at the default.",
        ),
    ] = True,
    suggest: Annotated[
        bool,
        typer.Option(
            "--suggest/--no-suggest", help="Find questions to suggest to readers, or suggest none."
        ),
    ] = True,
    report: Annotated[
        Path | None, typer.Option(help="Write the report as an HTML page to this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print progress and report as lines of JSON.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
) -> None:
    """Read a book and publish it; only what changed is embedded again."""
    _require_address(base_url)
    require_writable(report, "--report")
    book_id = book_id_of(source) if book is None else book
    order = IngestOrder(source, book_id, _clean(title), base_url, dry_run, strict)
    with open_core() as core, _progress(json_lines=json_lines, quiet=quiet) as show:
        if book is None:
            _require_same_source(core.library, order)
        before = read_suggestions(core, book_id)
        done, scores = _publish(core, order, show, calibrate=calibrate)
        if suggest and not dry_run and core.settings.embedder == "bundled":  # none that costs money
            _suggest(core, book_id, before, show)
    if json_lines:
        typer.echo(json.dumps({"event": "report", **_values(done, scores)}))
    elif as_json:
        out.print_json(json.dumps(_values(done, scores)))
    elif quiet:
        print_skipped(done, err)
    else:
        print_report(done)
    if scores is not None:
        print_scores(book_id, scores, quiet=quiet or as_json or json_lines)
    if report is not None:
        write_report(done, report)


def _publish(
    core: Core, order: IngestOrder, show: OnProgress, *, calibrate: bool
) -> tuple[IngestReport, PublishedScores | None]:
    """Ingest, and fit scores to the published book; a dry run publishes nothing."""
    before = live_fit(order.book_id, core.library, core.calibrations)
    done = _run(order, core.ingest, show)
    if order.dry_run:
        return done, None
    scores = fit_after_publishing(core, done, before, show) if calibrate else None
    return with_warning(core, done), scores


def read_suggestions(core: Core, book_id: str) -> Sequence[Suggestion]:
    """Read the suggestions that the next generation may take over, before it is published."""
    try:
        return core.suggestions.of(core.library.book(book_id))
    except ByTheBookError:  # there is no book yet, or none that can be read
        return ()


def _suggest(core: Core, book_id: str, before: Sequence[Suggestion], show: OnProgress) -> None:
    """Find suggestions; the book is published without them too."""
    try:
        find_suggestions(core, book_id, before, show)
    except ByTheBookError as error:
        err.print(f"No questions are suggested: {error.what}")


def find_suggestions(
    core: Core, book_id: str, before: Sequence[Suggestion], show: OnProgress
) -> Sequence[Suggestion]:
    """Find questions that a published book answers, and keep them."""

    def on_asked(done: int, most: int) -> None:
        show(Progress("suggesting", done, most))

    book = core.library.book(book_id)
    found = asyncio.run(run_suggest(book_id, core.suggest, before, on_asked=on_asked))
    core.suggestions.keep(book, found)
    return found


def _values(done: IngestReport, scores: PublishedScores | None) -> dict[str, object]:
    return {**report_values(done), "calibration": scores and asdict(scores)}


def _run(order: IngestOrder, ports: IngestPorts, show: OnProgress) -> IngestReport:
    try:
        return asyncio.run(run_ingest(order, ports, show))
    except KeyboardInterrupt:
        err.print("Stopped: the book is as it was, and the next run goes on from here.")
        raise


def _progress(*, json_lines: bool, quiet: bool) -> AbstractContextManager[OnProgress]:
    if json_lines:
        return nullcontext(_print_line)
    return nullcontext(_show_nothing) if quiet else ingest_progress()


def _print_line(progress: Progress) -> None:
    typer.echo(json.dumps({"event": "progress", **asdict(progress)}))


def _show_nothing(_progress: Progress) -> None:
    """Show nothing."""


def _require_address(base_url: str | None) -> None:
    if base_url is not None and not is_web_address(base_url):
        raise UnreadableBook(
            f"{base_url!r} is not a web address.", "Give one like https://example.org/book/."
        )


def _clean(title: str | None) -> str | None:
    """Return a title, or raise InputError if it is not valid UTF-8."""
    if title is not None and title.encode("utf-8", "replace").decode() != title:
        raise InputError("The title is not UTF-8 text.", "Give another --title.")
    return title


def _require_same_source(library: BookFolder, order: IngestOrder) -> None:
    """Raise InputError if a book of that name came from another source."""
    try:
        book = library.book(order.book_id)
    except (UnknownBook, StoreFailed):  # no book, or one that this run repairs
        return
    if book.source != order.source_name and (
        "://" in order.source or os.path.lexists(order.source)
    ):
        raise InputError(
            f"There is a book {order.book_id!r} already, from another source.",
            f"Give this one an id of its own: --book ID; or replace that one: --book {order.book_id}.",
        )


def is_web_address(text: str) -> bool:
    """Return True if a text is an address that links can begin with."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond 65535, a bracket left open
        return False
    return known and not re.search(r"[\s<>\"'#?]", text)


def book_id_of(source: str) -> str:
    """Make a book id from the name of its file, folder or site."""
    if "://" in source:
        own = re.sub(r"^\w+://", "", unquote(source.split("?")[0].split("#")[0]))
    else:
        full = Path(os.path.realpath(source))
        own = full.stem if full.is_file() else full.name
    name = re.sub(r"[^a-z0-9]+", "-", own.lower()).strip("-")
    return name[:64].strip("-") or "book"
