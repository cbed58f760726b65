"""The server: stops within its grace time, watches slow clients, and keeps its log short."""

import asyncio
import logging
import socket
from typing import Any

import uvicorn
from fastapi import FastAPI

from bythebook.http.wire.connections import (
    ConnectionLimits,
    TimedConfig,
    TimedConnection,
    limits_within_descriptors,
)
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.paced_log import PacedLog

GRACE_SECONDS = 10
_STREAMS_SHARE = 0.8  # of the grace time; the rest is for sending their ends and closing the parts
_CHECK_SECONDS = 0.5
_BACKLOG = 512  # connections that the system queues until they are accepted
_ACCEPT_FAILED = "socket.accept() out of system resource"  # asyncio's message
_log = logging.getLogger("bythebook.serve")


def make_server(
    app: FastAPI,
    draining: Draining,
    *,
    host: str = "127.0.0.1",
    port: int,
    grace_seconds: int = GRACE_SECONDS,
    limits: ConnectionLimits | None = None,
) -> "DrainingServer":
    """Make the server of an application."""
    config = TimedConfig(
        app,
        limits or limits_within_descriptors(ConnectionLimits()),
        host=host,
        port=port,
        log_config=None,  # its lines go to our log
        access_log=False,
        timeout_graceful_shutdown=grace_seconds,
        server_header=False,
        proxy_headers=False,  # X-Forwarded-For is read by our own rule
        backlog=_BACKLOG,
        ws="none",
    )
    return DrainingServer(config, draining)


class DrainingServer(uvicorn.Server):
    """Ends open streams with a last event before it stops, including those that take too long."""

    def __init__(self, config: TimedConfig, draining: Draining) -> None:
        super().__init__(config)
        self.draining = draining
        self._watch: asyncio.Task[None] | None = None
        self._accept_errors = AcceptErrors()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and watch the connections from then on."""
        asyncio.get_running_loop().set_exception_handler(self._accept_errors.handle)
        await super().startup(sockets)
        self._watch = asyncio.create_task(self._check_connections())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within the grace time."""
        grace = self.config.timeout_graceful_shutdown or GRACE_SECONDS
        self.draining.begin(grace * _STREAMS_SHARE)
        await super().shutdown(sockets)
        if self._watch is not None:
            self._watch.cancel()

    async def _check_connections(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            for connection in tuple(self.server_state.connections):
                if isinstance(connection, TimedConnection):
                    _check(connection, loop.time())


def _check(connection: TimedConnection, now: float) -> None:
    try:
        connection.check(now)
    except Exception:  # noqa: BLE001 - one connection must not end the watch over all others
        _log.exception("a connection could not be checked, and was dropped")
        connection.drop()


class AcceptErrors:
    """Logs at most once a second that connections cannot be accepted; asyncio would log it thousands of times."""

    def __init__(self) -> None:
        self._error: object = None
        self._lines = PacedLog(self._log)

    def handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count accept errors; pass anything else on to asyncio's default handler."""
        if context.get("message") != _ACCEPT_FAILED:
            loop.default_exception_handler(context)
            return
        self._error = context.get("exception")
        self._lines.count()

    def _log(self, times: int) -> None:
        _log.error(
            "Connections cannot be accepted (%s), %d times since the last such line. "
            "Raise the limit of open files.",
            self._error,
            times,
        )
