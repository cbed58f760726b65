"""`serve` and `demo`: the service as a process."""

import asyncio
import gc
import logging
import os
import socket
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from bythebook.ask import require_embedder
from bythebook.bootstrap import Core, sample_book
from bythebook.calibrate.after_publishing import live_fit
from bythebook.calibrate.pipeline import warning_of
from bythebook.cli.calibrating import fit_after_publishing, print_scores
from bythebook.cli.ingesting import find_suggestions, read_suggestions
from bythebook.cli.reporting import ingest_progress, print_report
from bythebook.cli.serving.workers import require_shared_counts, run_workers
from bythebook.cli.terminal import say
from bythebook.errors import DamagedBook, InputError, RecordsFailed, RecordsOutdated, StoreFailed
from bythebook.http.app import create_app
from bythebook.http.wire.server import make_server
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.operate.access.first_key import provide_first_key, read_first_key
from bythebook.operate.access.keyring import KeyRing
from bythebook.operate.soundness import find_damaged
from bythebook.settings import Settings, load_settings, without_brackets

_log = logging.getLogger("bythebook.serve")
DEMO_BOOK = "physical-ai"
_SWITCH_SECONDS = 0.001


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", min=1, max=65535)] = None,
    workers: Annotated[
        int,
        typer.Option(help="Processes that answer; SIGHUP replaces them one by one.", min=1, max=64),
    ] = 1,
    listening: Annotated[int | None, typer.Option("--socket", hidden=True)] = None,
    ready: Annotated[int | None, typer.Option("--ready", hidden=True)] = None,
) -> None:
    """Serve the library over HTTP."""
    core = Core(_settings(host, port))
    if workers == 1:
        _run(core, listening, ready)
        return
    require_shared_counts(core.settings)
    _prepare(core)
    core.close()
    run_workers(core.settings, workers)


def demo(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", min=1, max=65535)] = None,
) -> None:
    """Ingest the sample book and serve it."""
    core = Core(_settings(host, port))
    _require_loopback(core)
    _require_free(core.settings)
    before = live_fit(DEMO_BOOK, core.library, core.calibrations)
    suggested = read_suggestions(core, DEMO_BOOK)
    with ingest_progress() as show:
        report = asyncio.run(ingest(IngestOrder(str(sample_book()), DEMO_BOOK), core.ingest, show))
        scores = fit_after_publishing(core, report, before, show)
        find_suggestions(core, DEMO_BOOK, suggested, show)
    print_report(report)
    print_scores(DEMO_BOOK, scores)
    url = core.settings.reader_url
    say()
    say("Open  ", "bold")
    say(f"  {url}/                   ask the book")
    say(f"  {url}/read/{DEMO_BOOK}   read it, with the same field next to the text")
    say(f"  {url}/docs               the HTTP contracts")
    say("Or try", "bold")
    body = '{"query": "How do ROS 2 nodes communicate?"}'
    say(f"  curl -s {url}/api/query -H 'Content-Type: application/json' -d '{body}'")
    say()
    say("Stop with Ctrl-C.")
    _run(core)


def _settings(host: str | None, port: int | None) -> Settings:
    settings = load_settings()
    bare = host and without_brackets(host)
    given = {name: value for name, value in (("host", bare), ("port", port)) if value is not None}
    return settings.model_copy(update=given)


def _prepare(core: Core) -> None:
    """See that the service may start, before it does."""
    _provide_first_key(core)
    _require_loopback(core)
    _require_free(core.settings)


def _run(core: Core, listening: int | None = None, ready: int | None = None) -> None:
    """Serve in this process; as one of several workers, on their common socket."""
    settings = core.settings
    if listening is None:
        _prepare(core)
    core.log()
    _require_embedder(core)
    _report_damage(core)
    asyncio.run(_open_records(core))
    service = core.service()
    # Judging is partly Python; at the default of 5 ms each request would wait for it many times.
    sys.setswitchinterval(_SWITCH_SECONDS)

    async def say_ready() -> None:
        if ready is not None:
            os.write(ready, b"1")

    duties = (*service.duties, _keep_for_good, say_ready)
    server = make_server(
        create_app(replace(service, duties=duties)),
        service.draining,
        host=settings.host,
        port=settings.port,
        grace_seconds=settings.grace_seconds,
    )
    server.run(None if listening is None else [socket.socket(fileno=listening)])


async def _keep_for_good() -> None:
    """Take what the start has made out of later garbage collections.

    It lives as long as the process; to walk through it again and again would stop every request for
    a tenth of a second.
    """
    gc.collect()
    gc.freeze()


def _provide_first_key(core: Core) -> None:
    """Make the key that the settings name, unless it was made before."""
    secret = read_first_key(
        core.settings.first_key.get_secret_value(), core.settings.first_key_file
    )
    if not secret:
        return

    async def provide() -> bool:
        async with core.keys() as store:
            return await provide_first_key(store, secret, datetime.now(UTC))

    if asyncio.run(provide()):
        say("Made the first key, as the settings say. Every request needs a key.", "dim")


def _require_loopback(core: Core) -> None:
    """Raise InputError for a service without keys that others could reach."""

    async def has_usable_key() -> bool:
        async with core.keys() as store:
            try:
                return await KeyRing(store).has_usable()
            except RecordsOutdated:
                raise
            except RecordsFailed:
                return (
                    True  # unknown: treat as no keys, so that others cannot reach an open service
                )

    if not core.settings.on_loopback and not asyncio.run(has_usable_key()):
        raise InputError(
            f"Without keys the service listens on this machine only, not on {core.settings.host}.",
            "Make a key first: `bythebook keys create --scope ask`; or use --host 127.0.0.1.",
        )


async def _open_records(core: Core) -> None:
    """Check that records can be stored before serving; a database server may start later."""
    async with core.database() as database:
        try:
            await database.open()
        except RecordsFailed as error:
            if database.address.file is not None or isinstance(error, RecordsOutdated):
                raise
            _log.warning("%s Every question is answered 503 until it can.", error.what)


def _require_embedder(core: Core) -> None:
    """Raise an error for books of another embedder; warn about scores that are not fitted."""
    try:
        books = core.library.books()
    except DamagedBook:  # reported with all others, and repaired while they are served
        return
    except StoreFailed as error:
        _log.error("%s", error.what)
        return
    for book in books:
        require_embedder(book, core.embedder)
        if warning := warning_of(book, core.calibrations.of(book)):
            _log.warning("%s", warning)


def _report_damage(core: Core) -> None:
    """Say at the start, not at the first question, which books must be ingested again."""
    try:
        for damaged in find_damaged(core.library):
            _log.error("%s %s", damaged.what, damaged.help_message)
    except StoreFailed as error:  # one book that cannot be read; the others are served
        _log.error("%s", error.what)


def _require_free(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise InputError(
                f"Port {settings.port} on {settings.host} cannot be used: {error.strerror}.",
                f"Stop what uses it, or choose another: --port {settings.port + 1}.",
            ) from error
