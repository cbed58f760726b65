"""The command line: talks to a terminal and leaves the work to the core."""

import sys

import typer

import bythebook
from bythebook.cli import (
    asking,
    assisting,
    backing_up,
    books,
    calibrating,
    doctor,
    ingesting,
    keys,
    measuring,
    migrating,
    serving,
    stats,
)
from bythebook.cli.terminal import fail
from bythebook.errors import ByTheBookError

app = typer.Typer(
    name="bythebook",
    help="Answers readers' questions only from a given book, each sentence with its quote.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serving.demo)
app.command()(ingesting.ingest)
app.command()(asking.ask)
app.command()(serving.serve)
app.command()(assisting.mcp)
app.command()(calibrating.calibrate)
app.add_typer(books.app, name="books")
app.add_typer(keys.app, name="keys")
app.command()(migrating.migrate)
app.command()(backing_up.backup)
app.command()(backing_up.restore)
app.command()(stats.stats)
app.command()(doctor.doctor)
app.command("eval")(measuring.evaluate)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(bythebook.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Answer readers' questions only from a given book, each sentence with its quote."""


def main() -> None:
    """Run a command; an error prints what happened, what to do, and exits with code 2."""
    try:
        app()
    except ByTheBookError as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        what = f"{error.filename or 'A file'} cannot be used: {error.strerror or error}."
        fail(ByTheBookError(what, "Check the path, who may use it, and the room on the disk."))
