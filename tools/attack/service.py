"""A service to attack: the sample book, in a process of its own."""

import contextlib
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNLIMITED = {f"BYTHEBOOK_LIMIT_{name}": "0" for name in ("KEY", "SESSION", "IP")}
BOOK = "physical-ai"
QUESTION = "How do ROS 2 nodes communicate?"


@dataclass(frozen=True, slots=True)
class Check:
    """One attack and how it ended."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def value(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def free_port() -> int:
    """Find a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_command(
    folder: Path, *words: str, given: str = "", settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a `bythebook` command on a data folder."""
    return subprocess.run(
        [sys.executable, "-m", "bythebook", *words],
        env={**os.environ, **(settings or {}), "BYTHEBOOK_DATA_DIR": str(folder)},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


class AttackedService:
    """A running `bythebook serve`."""

    def __init__(
        self, folder: Path, settings: Mapping[str, str] | None = None, files: int | None = None
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.log = folder / f"log-{self.port}.txt"
        environment = {
            **os.environ,
            **UNLIMITED,
            **(settings or {}),
            "BYTHEBOOK_DATA_DIR": str(folder),
        }

        def limit_files() -> None:
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bythebook", "serve", "--port", str(self.port)],
                env=environment,
                stdout=out,
                stderr=out,
                preexec_fn=limit_files,
            )

    def wait_until_ready(self, seconds: float = 120) -> None:
        """Wait until it can answer."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self.send("GET", "/readyz").status in {200, 503}:
                    return
            time.sleep(0.05)
        sys.exit(f"The service did not start:\n{self.log.read_text()[-2000:]}")

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> Reply:
        """Send one request on a connection of its own."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        started = time.monotonic()
        try:
            data = None if body is None else json.dumps(body)
            given = {"Content-Type": "application/json", **(headers or {})}
            line.request(method, path, data, given)
            response = line.getresponse()
            content = response.read()
            taken = time.monotonic() - started
            named = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, named, content, taken)
        finally:
            line.close()

    def connect(self, first: bytes = b"") -> socket.socket:
        """Open a bare connection."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        if first:
            line.sendall(first)
        return line

    def stop(self) -> float:
        """Ask it to end, and give the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return time.monotonic() - started


@contextlib.contextmanager
def serve_attacked(
    folder: Path, settings: Mapping[str, str] | None = None, files: int | None = None
) -> Iterator[AttackedService]:
    """Serve a data folder for a with block."""
    service = AttackedService(folder, settings, files)
    try:
        service.wait_until_ready()
        yield service
    finally:
        if service.process.poll() is None:
            service.process.kill()
            service.process.wait()
