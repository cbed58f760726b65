"""Streams that are cut, and services that are stopped or killed while streams are open."""

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Self

import httpx
import pytest
from tests.conftest import free_port, serve_core
from tests.contracts.fakes import FakeIndex, MemoryThreads, fake_service, hits
from tests.contracts.test_chat_stream import HeldJudge, parse_events, require_end
from tests.unit.fakes import make_chunk

from bythebook.bootstrap import Core
from bythebook.http.app import create_app
from bythebook.http.wire.draining import STOPPING
from bythebook.http.wire.server import DrainingServer, make_server

STREAMS = int(os.environ.get("STREAMS", "40"))  # 500 in the long form
SETTLED_SECONDS = 60
QUESTIONS = (
    "What is URDF?",
    "How do ROS 2 nodes communicate?",
    "What are the stages of the perception-action loop?",
    "Who won the football world cup in 1998?",
)


def request_bytes(message: str, session: str | None = None) -> bytes:
    body = json.dumps({"message": message, "session_id": session}).encode()
    head = (
        "POST /chat/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def cut(port: int, seed: int) -> None:
    """Ask, read for a while, and hang up, politely or not, perhaps before all was asked."""
    chance = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as line:
        asked = request_bytes(chance.choice(QUESTIONS))
        line.sendall(asked[: chance.choice((len(asked), len(asked), len(asked), 150))])
        line.settimeout(chance.uniform(0.001, 0.6))
        with contextlib.suppress(TimeoutError):
            for _ in range(chance.randrange(3)):
                line.recv(chance.choice((1, 200, 4096)))
        if chance.random() < 0.5:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def settles(figures: Callable[[], tuple[int, ...]], most: tuple[int, ...]) -> tuple[int, ...]:
    """Give figures once none is above its bound, or as they are when time is over."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while time.monotonic() < deadline:
        now = figures()
        if all(one <= bound for one, bound in zip(now, most, strict=True)):
            return now
        time.sleep(0.05)
    return figures()


def test_streams_cut_by_their_clients_leave_nothing_behind(sample_core: Core) -> None:
    core = Core(sample_core.settings.model_copy(update={"port": free_port()}))
    port = core.settings.port
    with serve_core(core) as service, ThreadPoolExecutor(20) as pool:
        server = service._server
        loop = server.servers[0].get_loop()

        def figures() -> tuple[int, ...]:
            handles = len(list(Path("/proc/self/fd").iterdir()))
            state = server.server_state
            return len(asyncio.all_tasks(loop)), len(state.connections), len(state.tasks), handles

        list(pool.map(lambda seed: ask(port, QUESTIONS[seed % 4]), range(20)))  # all pools are full
        before = settles(figures, (sys.maxsize, 0, 0, sys.maxsize))
        list(pool.map(lambda seed: cut(port, seed), range(STREAMS)))
        bounds = (before[0], 0, 0, before[3])
        after = settles(figures, bounds)
        assert all(one <= bound for one, bound in zip(after, bounds, strict=True)), (before, after)
        assert require_end(parse_events(ask(port, QUESTIONS[0])))["should_answer"] is True
    core.close()


def ask(port: int, message: str, session: str | None = None) -> str:
    """Read a stream to its end, however the other side ends it; a chunked body is put together."""
    body = {"message": message, "session_id": session}
    text = ""
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client,
        client.stream("POST", "/chat/stream", json=body) as reply,
    ):
        assert reply.status_code == 200
        for piece in reply.iter_text():
            text += piece
    return text


class Serving:
    """`bythebook serve` in a process of its own."""

    def __init__(self, core: Core) -> None:
        self.port = free_port()
        environment = os.environ | {
            "BYTHEBOOK_DATA_DIR": str(core.settings.data_dir),
            "BYTHEBOOK_LIMIT_IP": "0",
            "BYTHEBOOK_LIMIT_SESSION": "0",
            "BYTHEBOOK_MAX_WAIT_SECONDS": "60",
            "BYTHEBOOK_GRACE_SECONDS": "240",  # as much as a slow machine may need
        }
        command = [sys.executable, "-m", "bythebook", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=core.settings.data_dir,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=60).status_code == 200:
                    return self
            time.sleep(0.05)
        raise AssertionError("the service did not start")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def test_a_service_that_is_told_to_stop_ends_every_open_stream(sample_core: Core) -> None:
    with Serving(sample_core) as service:
        lines = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(20)]
        for number, line in enumerate(lines):
            line.settimeout(240)
            line.sendall(request_bytes(QUESTIONS[number % 4]))
        assert all(line.recv(1, socket.MSG_PEEK) for line in lines)  # each has begun
        service.process.send_signal(signal.SIGTERM)
        with ThreadPoolExecutor(len(lines)) as pool:
            replies = list(pool.map(read_all, lines))
        service.process.wait(120)
    for reply in replies:
        head, _, body = reply.partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 200"), head
        assert "should_answer" in require_end(parse_events(join_chunks(body)))


def read_all(line: socket.socket) -> str:
    with line:
        return b"".join(iter(lambda: line.recv(65536), b"")).decode()


def join_chunks(body: str) -> str:
    """Put a chunked body together; its lengths count bytes."""
    rest, text = body.encode(), b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        text += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return text.decode()


@pytest.fixture
def stuck() -> Iterator[tuple[DrainingServer, threading.Thread, int]]:
    """A server that finds passages and then judges for ever; its grace time is two seconds."""
    judge, index = HeldJudge(), FakeIndex(hits=hits((make_chunk("One is."), 0.9)))
    service = fake_service(index=index, judge=judge, threads=MemoryThreads())
    service = replace(service, duties=(service.answerer.journal.run,))
    port = free_port()
    server = make_server(create_app(service), service.draining, port=port, grace_seconds=2)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield server, thread, port
    server.should_exit = server.force_exit = True
    thread.join(60)


def test_a_stream_that_outlasts_the_grace_time_ends_with_an_error(
    stuck: tuple[DrainingServer, threading.Thread, int],
) -> None:
    server, thread, port = stuck
    with ThreadPoolExecutor(5) as pool:
        streams: list[Future[str]] = [pool.submit(ask, port, "Anything?") for _ in range(5)]
        while server.draining.under_way < 5:
            time.sleep(0.02)
        time.sleep(0.2)
        began = time.monotonic()
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        assert time.monotonic() - began > 1.5
        for stream in streams:
            assert require_end(parse_events(stream.result())) == {
                "error": "store_unavailable",
                "message": STOPPING,
            }


def test_what_a_killed_service_said_was_done_is_in_the_thread(sample_core: Core) -> None:
    session = str(uuid.uuid4())
    done: list[str] = []

    def talk(number: int) -> None:
        message = f"What is URDF {number}?"
        with contextlib.suppress(httpx.TransportError):
            if "event: done" in ask(service.port, message, session):
                done.append(message)
            if len(done) == 6:
                service.process.kill()

    with Serving(sample_core) as service, ThreadPoolExecutor(4) as pool:
        list(pool.map(talk, range(20)))
    assert 6 <= len(done) < 20
    with Serving(sample_core) as again:
        url = f"http://127.0.0.1:{again.port}/session/{session}/history"
        messages = httpx.get(url, timeout=60).json()["messages"]
        kept = [message["content"] for message in messages[::2]]
        assert [message["role"] for message in messages] == ["user", "assistant"] * len(kept)
        assert set(done) <= set(kept)
        assert (
            len(kept) == len(set(kept)) <= len(done) + 1
        )  # one may have been kept and not yet reported
        assert "event: done" in ask(again.port, "What does it describe?", session)
