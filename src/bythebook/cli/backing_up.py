"""`backup` and `restore`: a whole data folder in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

import bythebook
from bythebook.adapters.backup.archive import pack
from bythebook.adapters.backup.restore import restore as restore_folder
from bythebook.adapters.backup.snapshot import take_snapshot
from bythebook.cli.terminal import say
from bythebook.errors import InputError
from bythebook.settings import Settings, load_settings


def backup(
    file: Annotated[Path, typer.Argument(help="File to write; one that exists is replaced.")],
) -> None:
    """Write all books and records to one file, while the service runs or not."""
    settings = load_settings()
    if not settings.data_dir.is_dir():
        raise InputError(
            f"There is no data folder {settings.data_dir}.",
            "Ingest a book first, or set BYTHEBOOK_DATA_DIR.",
        )
    with take_snapshot(settings.data_dir) as folder:
        files = pack(folder, file, bythebook.__version__)
    books = _count_books([one.name for one in files])
    say(f"Wrote {books} and {len(files):,} files to {file} ({_megabytes(file)} MB).")
    say("It holds everything that the service stores: keep it as safe as the data folder.", "dim")
    for line in _list_elsewhere(settings):
        say(line, "yellow")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `bythebook backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the books and records that are there now.")
    ] = False,
) -> None:
    """Put the books and records of a backup into the data folder; the service must be stopped."""
    settings = load_settings()
    files = restore_folder(file, settings.data_dir, replace=replace)
    books = _count_books([one.name for one in files])
    say(f"Restored {books} and {len(files):,} files to {settings.data_dir}.")
    for line in _list_elsewhere(settings):
        say(line, "yellow")


def _count_books(names: list[str]) -> str:
    number = len({name.split("/")[1] for name in names if name.startswith("books/")})
    return "1 book" if number == 1 else f"{number} books"


def _megabytes(file: Path) -> str:
    return f"{file.stat().st_size / 1_000_000:,.1f}"


def _list_elsewhere(settings: Settings) -> list[str]:
    """Name what the data folder does not hold."""
    lines = []
    if settings.database_url.get_secret_value():
        lines.append("The records are in PostgreSQL: use pg_dump and pg_restore for them.")
    if settings.qdrant_url:
        lines.append("The index is on the Qdrant server: use its snapshots for it.")
    return lines
