"""`serve` and `demo`: the service as a process."""

import asyncio
import logging
import socket
from typing import Annotated

import typer
import uvicorn

from bythebook.ask.retrieve import require_embedder
from bythebook.bootstrap import Core, sample_book
from bythebook.calibrate.pipeline import warning_of
from bythebook.cli.calibrating import fit_published, live_fit, print_scores
from bythebook.cli.reporting import ingest_progress, print_report
from bythebook.cli.terminal import say
from bythebook.errors import InputError, RecordsFailed, RecordsOutdated, StoreFailed
from bythebook.http.app import create_app
from bythebook.http.draining import Draining
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.operate.keyring import KeyRing
from bythebook.settings import Settings, load_settings

_log = logging.getLogger("bythebook.serve")
DEMO_BOOK = "physical-ai"
GRACE_SECONDS = 10
_STREAMS_SHARE = 0.8  # of the grace time; the rest is for sending their ends and closing the parts


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", min=1, max=65535)] = None,
) -> None:
    """Serve the library over HTTP."""
    _run(Core(_settings(host, port)))


def demo(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", min=1, max=65535)] = None,
) -> None:
    """Ingest the sample book and serve it."""
    core = Core(_settings(host, port))
    _require_loopback(core)
    _require_free(core.settings)
    before = live_fit(core, DEMO_BOOK)
    with ingest_progress() as show:
        report = asyncio.run(ingest(IngestOrder(str(sample_book()), DEMO_BOOK), core.ingest, show))
        scores = fit_published(core, report, before, show)
    print_report(report)
    print_scores(DEMO_BOOK, scores)
    url = core.settings.reader_url
    say()
    say("Open  ", "bold")
    say(f"  {url}/                   ask the book")
    say(f"  {url}/read/{DEMO_BOOK}   read it, with the same field beside the text")
    say(f"  {url}/docs               the HTTP contracts")
    say("Or try", "bold")
    body = '{"query": "How do ROS 2 nodes communicate?"}'
    say(f"  curl -s {url}/api/query -H 'Content-Type: application/json' -d '{body}'")
    say()
    say("Stop with Ctrl-C.")
    _run(core)


def _settings(host: str | None, port: int | None) -> Settings:
    settings = load_settings()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update=given)


def _run(core: Core) -> None:
    settings = core.settings
    _require_loopback(core)
    _require_free(settings)
    core.log()
    _require_embedder(core)
    asyncio.run(_open_records(core))
    service = core.service()
    config = uvicorn.Config(
        create_app(service),
        host=settings.host,
        port=settings.port,
        log_config=None,  # its lines go where all others go
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        proxy_headers=False,  # X-Forwarded-For is read by our own rule
    )
    DrainingServer(config, service.draining).run()


class DrainingServer(uvicorn.Server):
    """Ends open streams with their last event before it stops, also those that take too long."""

    def __init__(self, config: uvicorn.Config, draining: Draining) -> None:
        super().__init__(config)
        self._draining = draining

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within the grace time."""
        grace = self.config.timeout_graceful_shutdown or GRACE_SECONDS
        self._draining.begin(grace * _STREAMS_SHARE)
        await super().shutdown(sockets)


def _require_loopback(core: Core) -> None:
    """Without keys the service is open, so it stays on this machine."""

    async def has_usable_key() -> bool:
        async with core.keys() as store:
            try:
                return await KeyRing(store).has_usable()
            except RecordsOutdated:
                raise
            except RecordsFailed:
                return True  # not known: elsewhere than on this machine the service never opens

    if not core.settings.on_loopback and not asyncio.run(has_usable_key()):
        raise InputError(
            f"Without keys the service listens on this machine only, not on {core.settings.host}.",
            "Make a key first: `bythebook keys create --scope ask`; or use --host 127.0.0.1.",
        )


async def _open_records(core: Core) -> None:
    """See that records can be kept, before the first reader comes; a server may come up later."""
    async with core.database() as database:
        try:
            await database.open()
        except RecordsFailed as error:
            if database.address.file is not None or isinstance(error, RecordsOutdated):
                raise
            _log.warning("%s Every question is answered 503 until it can.", error.what)


def _require_embedder(core: Core) -> None:
    """Refuse to serve books that another embedder indexed; warn of scores that nobody has seen."""
    try:
        books = core.library.books()
    except StoreFailed as error:  # a damaged one can be put right while the others are served
        _log.error("%s", error.what)
        return
    for book in books:
        require_embedder(book, core.embedder)
        if warning := warning_of(book, core.calibrations.of(book)):
            _log.warning("%s", warning)


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
