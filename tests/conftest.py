"""What tests share: the sample book ingested once, and a real server on loopback over it."""

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as properties

from bythebook.bootstrap import Core, sample_book
from bythebook.http.app import Service, create_app
from bythebook.http.wire.server import make_server
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from tests.guard import network_guard
from tests.remembering import remember

# A run in the background ignores Ctrl-C, and so would all that it starts and then interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

SAMPLE = "physical-ai"

# No time limit for one example, however slow the machine; nothing kept between runs.
for _profile, _examples in (("usual", 100), ("long", 5000)):
    properties.register_profile(
        _profile,
        deadline=None,
        database=None,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
properties.load_profile("usual")


@pytest.fixture(autouse=True, scope="session")
def _own_environment() -> Iterator[None]:
    """Keep the developer's own settings out of the tests."""
    given = {
        name: os.environ.pop(name) for name in list(os.environ) if name.startswith("BYTHEBOOK_")
    }
    yield
    os.environ.update(given)


class AskedFor:
    """The hosts other than this machine that were asked for, by this process or a child."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def hosts(self) -> list[str]:
        """Give those since they were last forgotten."""
        return self._all()[self._read :]

    def forget(self) -> None:
        self._read = len(self._all())

    def _all(self) -> list[str]:
        return self._path.read_text("utf-8").splitlines() if self._path.exists() else []


@pytest.fixture(autouse=True, scope="session")
def asked_for(tmp_path_factory: pytest.TempPathFactory) -> AskedFor:
    """Keep this process, and the Python processes that it starts, from every other host."""
    path = tmp_path_factory.mktemp("guard") / "asked_for.txt"
    folders = [str(Path(network_guard.__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    os.environ[network_guard.VARIABLE] = str(path)
    network_guard.install(path)
    return AskedFor(path)


@pytest.fixture(autouse=True)
def _only_this_machine(asked_for: AskedFor) -> Iterator[None]:
    """Fail a test in which another host was asked for, even if the refusal was caught."""
    yield
    hosts = asked_for.hosts()
    asked_for.forget()
    assert hosts == [], "a test asked for a host other than this machine"


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """The folder of real books and question sets; never missing in CI."""
    folder = os.environ.get("EVAL_DATA")
    if folder is None or not Path(folder).is_dir():
        if os.environ.get("CI"):
            pytest.fail("EVAL_DATA must name the data folder in CI")
        pytest.skip("EVAL_DATA is not set: no real books to read")
    return Path(folder)


@pytest.fixture(scope="session")
def sample_core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """The real parts over a library that holds the sample book."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("library"),
        port=free_port(),
        limit_ip=0,  # the tests share one server
        limit_session=0,
        max_wait_seconds=60,  # a busy machine is slow, not overloaded
    )
    core = remember(Core(settings))
    asyncio.run(ingest(IngestOrder(str(sample_book()), SAMPLE), core.ingest, lambda _: None))
    yield core
    core.close()


@pytest.fixture(scope="session")
def client(sample_core: Core) -> Iterator[httpx.Client]:
    """A client of a real server that serves the sample book."""
    with serve_core(sample_core) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def serve_core(core: Core) -> "serve":
    """Serve a core, for the length of a with block."""
    return serve(core.service(), core.settings.port)


@dataclass
class serve:  # noqa: N801 - it is called like a function
    """Serve what stands behind the application by uvicorn in a thread, for the length of a with block."""

    service: Service
    port: int = field(default_factory=lambda: free_port())

    def __enter__(self) -> Self:
        app = create_app(self.service)
        self._server = make_server(app, self.service.draining, port=self.port)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 60
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                pytest.fail("the server did not start")
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=60)


def eventually(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def free_port() -> int:
    """Find a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
