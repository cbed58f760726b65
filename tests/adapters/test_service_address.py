"""The address of a running service, as other processes find it."""

import subprocess
import sys
from pathlib import Path

from bythebook.adapters.operations.service_address import ServiceAddress

CHILD = """
import sys
from pathlib import Path
from bythebook.adapters.operations.service_address import ServiceAddress

with ServiceAddress(Path(sys.argv[1])).announce(sys.argv[2]):
    print("announced", flush=True)
    sys.stdin.read()
"""


def start(data_dir: Path, url: str) -> subprocess.Popen[str]:
    """Start another process that announces an address until its input ends."""
    command = [sys.executable, "-c", CHILD, str(data_dir), url]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "announced\n"
    return process


def test_nothing_is_found_and_nothing_written_where_nobody_serves(tmp_path: Path) -> None:
    assert ServiceAddress(tmp_path / "data").find() is None
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_found_for_as_long_as_its_service_runs(tmp_path: Path) -> None:
    process = start(tmp_path, "http://127.0.0.1:9000")
    assert ServiceAddress(tmp_path).find() == "http://127.0.0.1:9000"
    process.communicate(timeout=60)
    assert ServiceAddress(tmp_path).find() is None


def test_the_address_of_a_killed_service_is_forgotten(tmp_path: Path) -> None:
    process = start(tmp_path, "http://127.0.0.1:9000")
    process.kill()
    process.communicate(timeout=60)
    assert len(list((tmp_path / "serving").iterdir())) == 1
    assert ServiceAddress(tmp_path).find() is None
    assert list((tmp_path / "serving").iterdir()) == []


def test_of_two_services_the_later_is_named_and_then_the_one_that_is_left(tmp_path: Path) -> None:
    first = start(tmp_path, "http://127.0.0.1:9002")
    second = start(tmp_path, "http://127.0.0.1:9001")
    assert ServiceAddress(tmp_path).find() == "http://127.0.0.1:9001"
    second.communicate(timeout=60)
    assert ServiceAddress(tmp_path).find() == "http://127.0.0.1:9002"
    first.communicate(timeout=60)
