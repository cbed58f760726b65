"""`ingest` and `books`: what is in the library."""

import asyncio
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from bythebook.adapters.book_folder import BookFolder
from bythebook.cli.core import opened_core
from bythebook.cli.terminal import ingest_progress, out, print_report, say
from bythebook.errors import InputError, UnreadableBook
from bythebook.ingest.pipeline import IngestOrder
from bythebook.ingest.pipeline import ingest as run_ingest

app = typer.Typer(help="List and remove books.", no_args_is_help=True)


def ingest(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A Docusaurus, mdBook or Markdown folder, or one file."
        ),
    ],
    book: Annotated[
        str | None, typer.Option(help="Id of the book; else made from the folder's name.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title; else taken from the book.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the book's own site, for links.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, change nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Read a book and publish it; only what changed is embedded again."""
    if re.match(r"https?://", source):
        raise UnreadableBook(
            "Web sites cannot be read yet.", "Give the folder of the book's Markdown."
        )
    if base_url is not None and not is_web_address(base_url):
        raise UnreadableBook(
            f"{base_url!r} is not a web address.", "Give one like https://example.org/book/."
        )
    path = Path(source)
    order = IngestOrder(path, book or book_id_of(path), title, base_url, dry_run)
    with opened_core() as core, ingest_progress() as show:
        if book is None:
            _require_same_source(core.library, order)
        report = asyncio.run(run_ingest(order, core.ingest, show))
    if as_json:
        out.print_json(data=asdict(report))
    else:
        print_report(report)


def _require_same_source(library: BookFolder, order: IngestOrder) -> None:
    """Keep a folder's name from replacing another book of that name."""
    if any(
        order.book_id == book.book_id and order.source_name != book.source
        for book in library.books()
    ):
        raise InputError(
            f"There is a book {order.book_id!r} already, from another folder.",
            f"Give this one an id of its own: --book ID; or replace that one: --book {order.book_id}.",
        )


def is_web_address(text: str) -> bool:
    """Say whether a text is an address that links can begin with."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond 65535, a bracket left open
        return False
    return known and not re.search(r"[\s<>\"'#?]", text)


def book_id_of(path: Path) -> str:
    """Make a book's id of its folder's name."""
    full = path.resolve()
    own = full.stem if full.is_file() else full.name
    name = re.sub(r"[^a-z0-9]+", "-", own.lower()).strip("-")
    return name[:64].strip("-") or "book"


@app.command("list")
def list_books() -> None:
    """List the published books."""
    with opened_core() as core:
        books = core.library.books()
    if not books:
        say("There is no book yet. Ingest one: bythebook ingest PATH")
    for book in books:
        say(f"{book.book_id}  {book.title}", "bold")
        say(f"  {book.documents} documents, {book.chunks:,} chunks, published {book.published_at}")


@app.command()
def remove(
    book: Annotated[str, typer.Argument(help="Id of the book.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a book and all its generations."""
    with opened_core() as core:
        if not yes:
            typer.confirm(f"Remove the book {book}?", abort=True)
        core.press.remove(book)
    say(f"Removed {book}.")
