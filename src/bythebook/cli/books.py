"""`books`: lists, copies, purges and removes books."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from bythebook.cli.calibrating import describe_reached
from bythebook.cli.core import open_core
from bythebook.cli.ingesting import find_suggestions
from bythebook.cli.reporting import ingest_progress, print_report, report_values, write_report
from bythebook.cli.terminal import out, say
from bythebook.ingest.report import Progress

app = typer.Typer(
    help="List, copy and remove books, and see how they were read.", no_args_is_help=True
)


@app.command("list")
def list_books() -> None:
    """List the published books."""
    with open_core() as core:
        books = core.library.books()
        fits = {book.book_id: core.calibrations.of(book) for book in books}
    if not books:
        say("There is no book yet. Ingest one: bythebook ingest PATH")
    for book in books:
        say(f"{book.book_id}  {book.title}", "bold")
        say(f"  {book.documents} documents, {book.chunks:,} chunks, published {book.published_at}")
        fit = fits[book.book_id]
        fitted = f"fitted{describe_reached(fit.reached, ':')}" if fit else "default"
        say(f"  scores: {fitted}")


@app.command()
def report(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option("--report", help="Write it as an HTML page to this file.")
    ] = None,
) -> None:
    """Show what was read of a book and what was left out, by its last ingest."""
    with open_core() as core:
        found = core.library.report(book)
    if html is not None:
        write_report(found, html)
    if as_json:
        out.print_json(json.dumps(report_values(found)))
    elif html is None:
        print_report(found)


@app.command()
def suggest(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
) -> None:
    """Find questions to suggest to readers, each one answered by the book, and print them."""
    with open_core() as core, ingest_progress() as show:
        found = find_suggestions(core, book, (), show)
    for one in found:
        say(one.question)
        say(f"  {one.chapter} · {one.section}", "dim")
    if not found:
        say("No question was found that the book answers clearly.")


@app.command()
def copy(
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="Qdrant server, as https://host:6333.")
    ],
    book: Annotated[str | None, typer.Argument(help="Id of the book; default: all books.")] = None,
) -> None:
    """Copy books to a Qdrant server without embedding them again; its key is BYTHEBOOK_QDRANT_API_KEY."""
    with open_core() as core:
        for one in core.library.books() if book is None else [core.library.book(book)]:
            with ingest_progress() as show:
                made = asyncio.run(
                    core.copy_to_qdrant(
                        one, to, lambda done, total: show(Progress("copying", done, total))
                    )
                )
            say(
                f"{one.book_id}: {f'{one.chunks:,} chunks copied' if made else 'was there already'}."
            )
    say("Set BYTHEBOOK_QDRANT_URL to that address to answer from there.", "dim")


@app.command()
def purge(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove the text of older generations for good, such as a passage that was withdrawn."""
    with open_core() as core:
        core.library.require(book)
        if not yes:
            typer.confirm(f"Remove all older text of {book}?", abort=True)
        purged = core.library.purge(book)
    say(f"Removed the older text of {purged} generation{'' if purged == 1 else 's'} of {book}.")
    say("Citations of passages that changed will only say so.", "dim")


@app.command()
def remove(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a book and all its generations."""
    with open_core() as core:
        core.index_writer.require_book(book)
        if not yes:
            typer.confirm(f"Remove the book {book}?", abort=True)
        core.index_writer.remove(book)
    say(f"Removed {book}.")
