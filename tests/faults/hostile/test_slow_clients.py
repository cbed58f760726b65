"""Clients that are slow, silent, too many or that never read: others are served meanwhile."""

import asyncio
import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import Response
from pydantic import BaseModel
from tests.conftest import free_port
from tests.contracts.fakes import FakeIndex, MemoryThreads, fake_service, hits, over
from tests.contracts.test_chat_stream import HeldJudge
from tests.unit.fakes import make_chunk

from bythebook.http.app import Service, create_app
from bythebook.http.wire.connections import ConnectionLimits
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.server import AcceptErrors, DrainingServer, make_server
from bythebook.http.wire.streaming import MOST_UNSENT, EventStream, StreamEvent

SHORT = ConnectionLimits(request=0.6, reading=1.0, closing=0.5, most_connections=50)
QUESTION = {"query": "What is one?"}
FAR = 60.0  # seconds after which something is taken to hang


@contextmanager
def run_server(
    app: FastAPI, draining: Draining, limits: ConnectionLimits
) -> Iterator[DrainingServer]:
    """Serve an application in a thread, for the length of a with block."""
    server = make_server(app, draining, port=free_port(), grace_seconds=5, limits=limits)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + FAR
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield server
    server.should_exit = True
    thread.join(FAR)
    assert not thread.is_alive()


@contextmanager
def serve_slowly(service: Service, limits: ConnectionLimits = SHORT) -> Iterator[DrainingServer]:
    with run_server(create_app(service), service.draining, limits) as server:
        yield server


def make_service() -> Service:
    return over((make_chunk("One is a number."), 0.9))


def connect(server: DrainingServer, first: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.config.port), timeout=FAR)
    line.sendall(first)
    return line


def read_all(line: socket.socket) -> bytes:
    """Read until the other side closes, as it must."""
    received = b""
    with line, contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65536):
            received += piece
    return received


def ask(server: DrainingServer) -> httpx.Response:
    url = f"http://127.0.0.1:{server.config.port}/api/query"
    return httpx.post(url, json=QUESTION, timeout=FAR)


SLOW_HEADERS = b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
SLOW_BODY = (
    b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 500\r\n\r\n{"query": "'
)


@pytest.mark.parametrize("first", [SLOW_HEADERS, SLOW_BODY])
def test_a_request_that_trickles_in_is_ended_with_408(first: bytes) -> None:
    with serve_slowly(make_service()) as server:
        line = connect(server, first)

        def trickle() -> None:
            with contextlib.suppress(OSError):
                for _ in range(200):
                    line.sendall(b"a")
                    time.sleep(0.05)

        threading.Thread(target=trickle, daemon=True).start()
        assert ask(server).status_code == 200  # others are served meanwhile
        head, _, body = read_all(line).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["error"] == "request_timeout"


def test_a_connection_that_never_asks_is_closed() -> None:
    with serve_slowly(make_service()) as server:
        assert read_all(connect(server)) == b""


def test_a_second_request_on_a_kept_connection_has_its_time_too() -> None:
    with serve_slowly(make_service()) as server:
        line = connect(server, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        received = b""
        while b"alive" not in received:
            received += line.recv(65536)
        line.sendall(SLOW_HEADERS)
        assert b"HTTP/1.1 408 " in read_all(line)


def test_an_answer_that_takes_longer_than_a_request_may_is_not_cut() -> None:
    judge = HeldJudge()
    service = fake_service(index=FakeIndex(hits=hits((make_chunk("One is."), 0.9))), judge=judge)
    with serve_slowly(service) as server:
        line = connect(server, request("POST /api/query", QUESTION))
        time.sleep(2 * SHORT.request + 1)
        server.servers[0].get_loop().call_soon_threadsafe(judge.let_go.set)
        assert line.recv(65536).startswith(b"HTTP/1.1 200 ")
        line.close()


def request(route: str, body: object) -> bytes:
    data = json.dumps(body).encode()
    return (
        f"{route} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    ).encode() + data


def test_a_reader_gets_in_when_slow_clients_take_every_place() -> None:
    patient = replace(SHORT, request=FAR, most_connections=20)
    with serve_slowly(make_service(), patient) as server:
        lines = [connect(server, SLOW_HEADERS) for _ in range(40)]
        assert [ask(server).status_code for _ in range(5)] == [200] * 5
        assert len(server.server_state.connections) <= 21
        for line in lines:
            line.close()


def test_only_health_checks_have_room_when_every_connection_waits_for_an_answer() -> None:
    judge = HeldJudge()
    service = fake_service(index=FakeIndex(hits=hits((make_chunk("One is."), 0.9))), judge=judge)
    with serve_slowly(service, replace(SHORT, most_connections=4)) as server:
        lines = [connect(server, request("POST /api/query", QUESTION)) for _ in range(4)]
        deadline = time.monotonic() + FAR
        while len(server.server_state.tasks) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        refused = ask(server)
        health = httpx.get(f"http://127.0.0.1:{server.config.port}/livez", timeout=FAR)
        server.servers[0].get_loop().call_soon_threadsafe(judge.let_go.set)
        for line in lines:
            assert line.recv(65536).startswith(b"HTTP/1.1 200 ")
            line.close()
    assert health.status_code == 200
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "OVERLOADED"
    assert int(refused.headers["Retry-After"]) >= 1


class Words(BaseModel):
    """Much to read."""

    text: str


def large_stream(made: list[int]) -> FastAPI:
    app, draining = FastAPI(), Draining()

    async def events() -> AsyncGenerator[StreamEvent]:
        for number in range(100_000):
            made.append(number)
            await asyncio.sleep(0)
            yield StreamEvent("content", Words(text="word " * 2000))
        yield StreamEvent("done", Words(text=""))

    @app.post("/chat/stream")
    async def stream() -> EventStream:
        return EventStream(events(), draining)

    return app


def test_a_client_that_never_reads_a_stream_is_dropped_and_little_is_made_for_it() -> None:
    made: list[int] = []
    with run_server(large_stream(made), Draining(), SHORT) as server:
        line = connect(server)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(request("POST /chat/stream", {}))
        deadline = time.monotonic() + FAR
        while not made or server.server_state.connections:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        line.close()
    # What the system buffers on its way, some megabytes, is not ours.
    assert len(made) < MOST_UNSENT + 800


def test_idle_and_half_sent_connections_do_not_hold_up_a_stop() -> None:
    patient = replace(SHORT, request=FAR)
    with serve_slowly(make_service(), patient) as server:
        kept = [
            connect(server, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") for _ in range(5)
        ]
        assert all(line.recv(65536) for line in kept)
        half = [connect(server, first) for first in (b"", SLOW_HEADERS, SLOW_BODY)]
        time.sleep(0.2)
        began = time.monotonic()
    assert time.monotonic() - began < 4  # the grace time is 5
    for line in (*kept, *half):
        read_all(line)


def test_a_client_that_never_reads_its_answer_does_not_hold_up_a_stop() -> None:
    threads = MemoryThreads()
    service = replace(make_service(), threads=threads)
    with serve_slowly(service, replace(SHORT, reading=FAR)) as server:
        line = connect(server)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(3):
            line.sendall(request("POST /api/query", QUESTION))
        time.sleep(0.5)
        began = time.monotonic()
    assert time.monotonic() - began < 4
    line.close()


def test_connections_that_cannot_be_accepted_are_logged_once_a_second(
    caplog: pytest.LogCaptureFixture,
) -> None:
    errors, loop = AcceptErrors(), asyncio.new_event_loop()
    full = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(24, "Too many open files"),
    }
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            errors.handle(loop, full)
        errors.handle(loop, {"message": "something else"})
    loop.close()
    assert [record.name for record in caplog.records] == ["bythebook.serve", "asyncio"]


def test_an_answer_is_not_cut_while_its_reader_takes_it_slowly() -> None:
    app, size = FastAPI(), 3_000_000

    @app.get("/large")
    async def large() -> Response:
        return Response(b"x" * size)

    with run_server(app, Draining(), replace(SHORT, reading=3.0)) as server:
        line = connect(server)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        line.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        received = 0
        while piece := line.recv(60_000):
            received += len(piece)
            time.sleep(0.08)
        line.close()
    assert received > size


def test_a_connection_answered_before_its_body_came_is_closed_in_time() -> None:
    head = SLOW_BODY.replace(b"/api/query", b"/nowhere").partition(b"\r\n\r\n")[0]
    with serve_slowly(make_service()) as server:
        line = connect(server, head + b"\r\n\r\n")
        assert line.recv(65536).startswith(b"HTTP/1.1 404 ")
        line.sendall(b"a" * 500)
        read_all(line)


def test_rubbish_after_an_answer_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serve_slowly(make_service()) as server:
        line = connect(server, head)
        assert line.recv(65536).startswith(b"HTTP/1.1 404 ")
        line.sendall(b"zz\r\n")
        read_all(line)
    assert not [record for record in caplog.records if record.exc_info]
