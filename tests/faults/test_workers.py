"""Several processes behind one socket."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import eventually
from tests.faults.served import Served, library_of, serve_folder
from tests.redis_server import run_redis

from bythebook.bootstrap import Core

LIMIT = 40
SEARCH = "/search?q=nodes"


@pytest.fixture(scope="module")
def service(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("workers")
    with run_redis(home) as redis:
        settings = {
            "BYTHEBOOK_REDIS_URL": redis.url,
            "BYTHEBOOK_LIMIT_IP": str(LIMIT),
            "BYTHEBOOK_MAX_WAIT_SECONDS": "60",
        }
        folder = library_of(sample_core, home / "data")
        with serve_folder(folder, settings, options=("--workers", "2")) as service:
            eventually(lambda: len(workers_of(service)) == 2)
            yield service


def workers_of(service: Served) -> set[int]:
    """Find the processes that the first one started."""
    tasks = Path(f"/proc/{service.process.pid}/task").glob("*/children")
    return {int(pid) for path in tasks for pid in path.read_text().split()}


def test_requests_are_counted_over_all_workers(service: Served) -> None:
    statuses = [service.ask("GET", SEARCH).status for _ in range(LIMIT + 20)]
    assert statuses.count(200) == LIMIT
    assert statuses.count(429) == 20


def test_a_worker_that_is_killed_is_replaced_and_the_others_go_on(service: Served) -> None:
    before = workers_of(service)
    os.kill(min(before), signal.SIGKILL)
    assert service.ask("GET", "/livez").status == 200
    eventually(lambda: len(workers_of(service)) == 2 and workers_of(service) != before)
    assert service.process.poll() is None


def test_all_workers_are_replaced_without_a_failed_request(service: Served) -> None:
    before = workers_of(service)
    statuses: list[int] = []
    done = threading.Event()

    def keep_asking() -> None:
        while not done.is_set():
            statuses.append(service.ask("GET", "/livez").status)

    asking = threading.Thread(target=keep_asking)
    asking.start()
    service.process.send_signal(signal.SIGHUP)
    try:
        eventually(
            lambda: len(workers_of(service)) == 2 and not workers_of(service) & before, seconds=240
        )
    finally:
        done.set()
        asking.join()
    assert set(statuses) == {200}


def test_a_signal_ends_all_of_them(service: Served) -> None:
    workers = workers_of(service)
    service.stop()
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_workers_that_would_each_count_for_themselves_are_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bythebook", "serve", "--workers", "2"],
        env=os.environ | {"BYTHEBOOK_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert "BYTHEBOOK_REDIS_URL" in done.stderr


def test_workers_that_cannot_start_end_the_service(tmp_path: Path) -> None:
    settings = {f"BYTHEBOOK_LIMIT_{name}": "0" for name in ("KEY", "SESSION", "IP")}
    (tmp_path / "records.sqlite").write_bytes(b"no database" * 500)
    service = Served(tmp_path, settings, "--workers", "2")
    assert service.process.wait(300) == 2
    assert "before they are ready" in service.said.read_text("utf-8")
