"""`doctor`: what is configured, what works, what to fix."""

import asyncio
import platform
import sys
import tempfile

import typer

import bythebook
from bythebook.bootstrap import Core
from bythebook.calibrate.pipeline import warning_of
from bythebook.cli.terminal import say
from bythebook.errors import InputError
from bythebook.http.health import Health, examine
from bythebook.settings import PREFIX, Settings, load_settings, unknown_variables


def doctor() -> None:
    """Say what is configured, what works and what to fix; exit code 1 if something must be fixed."""
    settings = load_settings()
    say(f"ByTheBook {bythebook.__version__}, Python {platform.python_version()}, {sys.platform}")
    _show_settings(settings)
    sound = _check_folder(settings)
    core = Core(settings)
    try:
        health = asyncio.run(_examined(core))
    except InputError as error:  # a part that cannot even be made
        _line(False, "settings", f"{error.what} {error.help_message}".strip())
        raise typer.Exit(1) from error
    for name, part in health.dependencies.items():
        _line(part.status == "ok", name, part.message or f"{part.latency_ms:.0f} ms")
    for book in core.library.books():
        fits = book.embedding_model == core.embedder.model_id
        wrong = f"was indexed by {book.embedding_model}: ingest it again"
        scores = "fitted scores" if core.calibrations.of(book) else "default scores"
        told = f"{book.chunks:,} chunks, {scores}"
        _line(fits, f"book {book.book_id}", told if fits else wrong)
        sound = sound and fits
        if fits and (warning := warning_of(book, core.calibrations.of(book))):
            say(f"note {f'book {book.book_id}':<18} {warning}", "yellow")
    for name in unknown_variables():
        _line(False, name, "means nothing here: a misspelling?")
        sound = False
    raise typer.Exit(0 if sound and health.status == "ok" else 1)


async def _examined(core: Core) -> Health:
    service = core.service()
    try:
        return await examine({**service.checks, **service.other_checks})
    finally:
        await service.close()


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


def _line(good: bool, name: str, message: str) -> None:
    say(f"{'ok ' if good else 'FIX'}  {name:<18} {message}", "" if good else "red")
