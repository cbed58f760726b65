"""`serve` and `demo`: the service as a process."""

import asyncio
import ipaddress
import socket
from typing import Annotated

import typer
import uvicorn

from bythebook.bootstrap import Core, sample_book
from bythebook.cli.reporting import ingest_progress, print_report
from bythebook.cli.terminal import say
from bythebook.errors import InputError
from bythebook.http.app import create_app
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings, load_settings

DEMO_BOOK = "physical-ai"
_GRACE_SECONDS = 10


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
    _require_loopback(core.settings.host)
    _require_free(core.settings)
    with ingest_progress() as show:
        report = asyncio.run(ingest(IngestOrder(str(sample_book()), DEMO_BOOK), core.ingest, show))
    print_report(report)
    url = core.settings.reader_url
    say()
    say("Open  ", "bold")
    say(f"  {url}/read/{DEMO_BOOK}   the book, with a field to ask it")
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
    _require_loopback(settings.host)
    _require_free(settings)
    application = create_app(core.service())
    config = uvicorn.Config(
        application,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
    )
    uvicorn.Server(config).run()


def _require_loopback(host: str) -> None:
    """Without keys the service is open, so it stays on this machine."""
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise InputError(
            f"Without keys the service listens on this machine only, not on {host}.",
            "Use --host 127.0.0.1, and put a proxy that asks for a password in front to reach it from elsewhere.",
        )


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
