"""Connections with deadlines for sending headers and body, and for reading the response."""

import asyncio
import fcntl
import json
import resource
import sys
import termios
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h11
from fastapi import FastAPI
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from bythebook.http.wire.context import OVER_CAPACITY

_KEPT_DESCRIPTORS = 64  # for books, records and models opened later
_KEPT_FOR_HEALTH = 8
_LEAST_CONNECTIONS = 16
_TIMED_OUT = json.dumps(
    {"error": "request_timeout", "message": "The request did not arrive in time."}
).encode()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How long a client may take, in seconds, and how many may be connected."""

    request: float = 10.0  # for the headers, and again for the body
    reading: float = 20.0  # without reading a single byte of the response
    closing: float = 2.0
    most_connections: int = 1000


def limits_within_descriptors(limits: ConnectionLimits) -> ConnectionLimits:
    """Bound the number of connections by the descriptors that this process may still open."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = sum(1 for _ in Path("/proc/self/fd").iterdir())
    room = allowed - opened - _KEPT_DESCRIPTORS - _KEPT_FOR_HEALTH
    most = max(_LEAST_CONNECTIONS, min(limits.most_connections, room))
    return replace(limits, most_connections=most)


class TimedConfig(Config):
    """Uvicorn's configuration, with the limits of its connections."""

    def __init__(self, app: FastAPI, limits: ConnectionLimits, **others: Any) -> None:
        super().__init__(app, http=TimedConnection, **others)
        self.limits = limits


class TimedConnection(H11Protocol):
    """An HTTP/1.1 connection that neither a slow nor a silent client can hold for long."""

    def __init__(
        self,
        config: TimedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.limits = config.limits
        self.waits_since: float | None = None  # for the rest of a request
        self._waits_for_body = False
        self._unread = 0  # bytes that the client has not read
        self._unread_since = 0.0
        self._stopping = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close the one that has kept us waiting longest."""
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        if len(self.connections) <= self.limits.most_connections:
            return
        idle = [one for one in self._others_open() if not one.is_busy]
        if idle:
            min(idle, key=lambda one: one.waits_since or 0.0).drop()
        elif len(self.connections) > self.limits.most_connections + _KEPT_FOR_HEALTH:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Read data, and note since when the rest is missing."""
        if self.waits_since is None:
            self.waits_since = self.loop.time()
        self._mark_over_capacity()
        super().data_received(data)
        self._note_progress()

    def on_response_complete(self) -> None:
        """Continue with the next request, which may have arrived in part."""
        super().on_response_complete()
        self._note_progress()

    def drop(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.transport.abort()
        self.connections.discard(self)  # not counted any more, though the system reports it later

    def check(self, now: float) -> None:
        """End what takes too long; called every second."""
        if self._reads_nothing(now):
            self.drop()
        elif not self.transport.is_closing() and self._keeps_us_waiting(now):
            self._time_out()

    @property
    def is_answering(self) -> bool:
        """True if a whole request has arrived and is not answered yet."""
        return self._cycle is not None and self.conn.their_state is not h11.SEND_BODY

    @property
    def is_busy(self) -> bool:
        """True if an answer is in progress, or not read to its end yet."""
        return self.is_answering or bool(self.transport.get_write_buffer_size())

    @property
    def _cycle(self) -> RequestResponseCycle | None:
        """The request that is being answered, if any; uvicorn's field is None before the first."""
        cycle: RequestResponseCycle | None = self.cycle
        return None if cycle is None or cycle.response_complete else cycle

    def shutdown(self) -> None:
        """Stop serving: finish an answer in progress, but do not wait for more of a request."""
        self._stopping = True
        if self.is_answering:
            super().shutdown()
        elif not self.transport.is_closing():
            self._disconnect_cycle()
            self.transport.close()

    def _others_open(self) -> list["TimedConnection"]:
        return [
            one
            for one in self.connections
            if isinstance(one, TimedConnection)
            and one is not self
            and not one.transport.is_closing()
        ]

    def _mark_over_capacity(self) -> None:
        over = len(self.connections) > self.limits.most_connections
        if over != bool(self.app_state.get(OVER_CAPACITY)):
            self.app_state = {**self.app_state, OVER_CAPACITY: over}

    def _note_progress(self) -> None:
        """Keep the time since which the rest of the headers or body is missing."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if not self._waits_for_body:
                self._waits_for_body, self.waits_since = True, self.loop.time()
        elif state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._waits_for_body, self.waits_since = False, None
            if state is h11.IDLE and self._cycle is None and self.timeout_keep_alive_task is None:
                # The body came after the answer, which is when uvicorn forgets its own timer.
                self.waits_since = self.loop.time()

    def _keeps_us_waiting(self, now: float) -> bool:
        if self.waits_since is None or self.flow.read_paused:  # paused: we are the ones not reading
            return False
        if self._cycle is not None and self._cycle.waiting_for_100_continue:
            self.waits_since = now  # it is the client that waits, for our word to go on
        return now - self.waits_since > self.limits.request

    def _reads_nothing(self, now: float) -> bool:
        unread = self._count_unread()
        if not unread or unread < self._unread or not self._unread:
            self._unread_since = now
        self._unread = unread
        most = self.limits.closing if self._stopping else self.limits.reading
        return bool(unread) and now - self._unread_since > most

    def _count_unread(self) -> int:
        """Count the bytes that the client has not acknowledged, in our buffer and in the system's."""
        own = self.transport.get_write_buffer_size()
        connected = self.transport.get_extra_info("socket")
        try:
            queued = fcntl.ioctl(connected.fileno(), termios.TIOCOUTQ, bytes(4))
        except (AttributeError, OSError):  # closed meanwhile
            return own
        return own + int.from_bytes(queued, sys.byteorder)

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, unless an answer was begun: then only close."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self._disconnect_cycle()
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore the offer of another protocol; a line in the log for each would be noise."""

    def _time_out(self) -> None:
        """Answer 408 if a request has begun and has no response yet, and close."""
        if self._waits_for_body:
            unanswered = self._cycle is not None and not self._cycle.response_started
        else:
            unanswered = bool(self.conn.trailing_data[0])
        if unanswered:
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_TIMED_OUT), _TIMED_OUT)
            )
        self._disconnect_cycle()
        self.transport.close()

    def _disconnect_cycle(self) -> None:
        """Tell the application that the client has disconnected."""
        if self._cycle is not None:
            self._cycle.disconnected = True
            self._cycle.message_event.set()
