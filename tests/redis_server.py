"""A real Redis that a test can stop and start."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import free_port


class RedisServer:
    """A server on loopback that keeps nothing on disk."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        options = (
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        )
        self._process = subprocess.Popen(
            ["redis-server", *options], cwd=self._folder, stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                pytest.fail("redis-server did not start")
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop it, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@contextmanager
def run_redis(folder: Path) -> Iterator[RedisServer]:
    """Run a server for the length of a with block; never missing in CI."""
    if shutil.which("redis-server") is None:
        if os.environ.get("CI"):
            pytest.fail("redis-server must be installed in CI: tools/install_test_packages.sh")
        pytest.skip("redis-server is not installed: tools/install_test_packages.sh")
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
