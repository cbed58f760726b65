"""The service as a process of its own over the sample book, and readers who ask it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest
from tests.conftest import free_port

from bythebook.bootstrap import Core

# Limits far above what a test reaches, rather than none: counting is part of what is tested.
HIGH_LIMITS = {
    **{f"BYTHEBOOK_LIMIT_{name}": "1000000" for name in ("KEY", "SESSION", "IP")},
    "BYTHEBOOK_MAX_WAIT_SECONDS": "60",
}


def library_of(core: Core, folder: Path) -> Path:
    """Make a data folder with a library's books, but with records of its own."""
    folder.mkdir()
    (folder / "books").symlink_to(core.settings.data_dir / "books", target_is_directory=True)
    return folder


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    body: bytes

    @property
    def value(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Reader:
    """One reader on one kept connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def send(self, method: str, path: str, body: object = None) -> Reply:
        """Send a request; a body of bytes goes as it is, any other as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        self._connection.request(method, path, data, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        return Reply(response.status, response.read())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process holds."""

    megabytes: float
    files: int
    threads: int


class Served:
    """A running `bythebook serve`."""

    def __init__(self, folder: Path, settings: Mapping[str, str], *options: str) -> None:
        self.port = free_port()
        self.said = folder / "said.txt"
        command = [sys.executable, "-m", "bythebook", "serve", "--port", str(self.port), *options]
        environment = {**os.environ, **settings, "BYTHEBOOK_DATA_DIR": str(folder)}
        with self.said.open("ab") as out:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)

    def wait_until_ready(self, seconds: float = 240) -> None:
        """Wait until it can answer."""
        deadline = time.monotonic() + seconds
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.fail("the service did not become ready")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz").status == 200
        except OSError:
            return False

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        """Send one request on a connection of its own."""
        with Reader(self.port) as reader:
            return reader.send(method, path, body)

    def kill(self) -> None:
        """Kill it where it stands."""
        os.kill(self.process.pid, signal.SIGKILL)
        assert self.process.wait(60) == -signal.SIGKILL

    def stop(self) -> None:
        """Ask it to end, and see that it ends well."""
        self.process.terminate()
        assert self.process.wait(120) in {0, -signal.SIGTERM}

    def connections(self) -> int:
        """Count those that are open to it, or not yet closed by it."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        own = f":{self.port:04X}"
        return sum(row[1].endswith(own) and row[3] in {"01", "08"} for row in rows)

    def footprint(self) -> Footprint:
        """Read what it holds."""
        home = Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":\t", 1) for line in (home / "status").read_text().splitlines())
        return Footprint(
            int(status["VmRSS"].split()[0]) / 1024,
            len(list((home / "fd").iterdir())),
            int(status["Threads"]),
        )

    def fail(self, what: str) -> NoReturn:
        """Fail the test with what the service said."""
        pytest.fail(f"{what}:\n{self.said.read_text('utf-8', 'replace')[-2000:]}")


@contextmanager
def serve_folder(
    folder: Path,
    settings: Mapping[str, str] = HIGH_LIMITS,
    ready_seconds: float = 240,
    options: Sequence[str] = (),
) -> Iterator[Served]:
    """Serve a data folder, for the length of a with block."""
    service = Served(folder, settings, *options)
    try:
        service.wait_until_ready(ready_seconds)
        yield service
        if service.process.poll() is None:
            service.stop()
    finally:
        if service.process.poll() is None:
            service.kill()
