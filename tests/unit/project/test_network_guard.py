"""The guard that all tests run under: other hosts are refused, and a test that asks for one fails."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import AskedFor


@pytest.fixture
def noted(asked_for: AskedFor) -> Iterator[AskedFor]:
    """What was asked for, which is meant to happen here."""
    yield asked_for
    asked_for.forget()


def _loop_looks_up() -> object:
    async def look_up() -> object:
        return await asyncio.get_running_loop().getaddrinfo("books.example", 80)

    return asyncio.run(look_up())


def _datagram() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", ("192.0.2.1", 53))


ASKING: dict[str, Callable[[], object]] = {
    "books.example": lambda: socket.getaddrinfo("books.example", 80),
    "name.example": lambda: socket.gethostbyname("name.example"),
    "192.0.2.2": lambda: socket.create_connection(("192.0.2.2", 80), timeout=1),
    "books.example, in a loop": _loop_looks_up,
    "192.0.2.1": _datagram,
}


@pytest.mark.parametrize("host", ASKING)
def test_another_host_is_refused_and_noted(host: str, noted: AskedFor) -> None:
    with pytest.raises(OSError, match="no other host"):
        ASKING[host]()
    assert noted.hosts() == [host.partition(",")[0]]


def test_a_child_process_is_held_to_the_same(noted: AskedFor, tmp_path: Path) -> None:
    code = "import socket; socket.getaddrinfo('child.example', 80)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 1
    assert noted.hosts() == ["child.example"]


def test_this_machine_is_reached(asked_for: AskedFor) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        for host in ("127.0.0.1", "localhost"):
            socket.create_connection((host, server.getsockname()[1]), timeout=5).close()
    assert asked_for.hosts() == []
