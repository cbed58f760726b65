"""`doctor`: checks the configuration and the parts."""

import asyncio
import platform
import sys
import tempfile
from typing import Annotated

import typer

import bythebook
from bythebook.bootstrap import Core
from bythebook.calibrate.pipeline import warning_of
from bythebook.cli.terminal import say
from bythebook.errors import InputError
from bythebook.http.contracts.health import Health, examine
from bythebook.settings import PREFIX, Settings, find_unknown_variables, load_settings


def doctor(
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Compare every byte of every book with what was published."),
    ] = False,
) -> None:
    """Say what is configured, what works and what to fix; exit code 1 if something must be fixed."""
    settings = load_settings()
    say(f"ByTheBook {bythebook.__version__}, Python {platform.python_version()}, {sys.platform}")
    _show_settings(settings)
    sound = _check_folder(settings)
    core = Core(settings)
    try:
        health = asyncio.run(_examine_parts(core))
    except InputError as error:  # a part that cannot be built
        _line(False, "settings", f"{error.what} {error.help_message}".strip())
        raise typer.Exit(1) from error
    for name, part in health.dependencies.items():
        _line(part.status == "ok", name, part.message or f"{part.latency_ms:.0f} ms")
    for book_id in core.library.book_ids():
        sound = _check_book(core, book_id, deep=deep) and sound
    for name in find_unknown_variables():
        _line(False, name, "is no setting; check its spelling")
        sound = False
    raise typer.Exit(0 if sound and health.status == "ok" else 1)


async def _examine_parts(core: Core) -> Health:
    service = core.service()
    try:
        return await examine({**service.checks, **service.other_checks})
    finally:
        await service.close()


def _check_book(core: Core, book_id: str, *, deep: bool) -> bool:
    name = f"book {book_id}"
    damaged = core.library.damage(book_id, deep=deep)
    if damaged is not None:
        _line(False, name, f"{damaged.what} {damaged.help_message}")
        return False
    book = core.library.book(book_id)
    if book.embedding_model != core.embedder.model_id:
        _line(False, name, f"was indexed by {book.embedding_model}: ingest it again")
        return False
    is_summed = core.library.has_checksums(book)
    scores = "fitted scores" if core.calibrations.of(book) else "default scores"
    whole = ", every file as it was published" if deep and is_summed else ""
    _line(True, name, f"{book.chunks:,} chunks, {scores}{whole}")
    if warning := warning_of(book, core.calibrations.of(book)):
        _note(name, warning)
    if deep and not is_summed:
        _note(name, "was published without checksums; ingest it again to have its files compared")
    return True


def _show_settings(settings: Settings) -> None:
    width = max(map(len, Settings.model_fields))
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        mark = "" if name in settings.model_fields_set else "(default)"
        say(f"  {PREFIX}{name.upper():<{width}} {value!s:<24} {mark} {field.description}", "dim")


def _check_folder(settings: Settings) -> bool:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            pass
    except OSError as error:
        _line(False, "data folder", f"{settings.data_dir} cannot be written: {error.strerror}")
        return False
    _line(True, "data folder", str(settings.data_dir))
    return True


def _note(name: str, message: str) -> None:
    say(f"note {name:<18} {message}", "yellow")


def _line(good: bool, name: str, message: str) -> None:
    say(f"{'ok ' if good else 'FIX'}  {name:<18} {message}", "" if good else "red")
