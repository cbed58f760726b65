import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bythebook.adapters.library.sqlite_vectors import SqliteVectors
from bythebook.errors import StoreFailed
from bythebook.ports import Vector


def vector(seed: int, size: int = 384) -> Vector:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


def test_vectors_come_back_bit_for_bit(path: Path) -> None:
    given = {"a": vector(1), "b": np.array([0.0, -0.0, np.pi, 1e-38], np.float32)}
    SqliteVectors(path).put("model", given)
    found = SqliteVectors(path).get("model", ["a", "b"])
    assert set(found) == {"a", "b"}
    for name, value in given.items():
        assert found[name].dtype == np.float32
        assert found[name].tobytes() == value.tobytes()


def test_what_is_not_known_is_left_out(path: Path) -> None:
    cache = SqliteVectors(path)
    cache.put("model", {"a": vector(1)})
    assert set(cache.get("model", ["a", "b"])) == {"a"}
    assert cache.get("model", []) == {}


def test_a_model_sees_only_its_own_vectors(path: Path) -> None:
    cache = SqliteVectors(path)
    cache.put("one", {"a": vector(1)})
    cache.put("two", {"a": vector(2, size=1024)})
    assert cache.get("one", ["a"])["a"].shape == (384,)
    assert cache.get("two", ["a"])["a"].shape == (1024,)
    assert cache.get("three", ["a"]) == {}


def test_a_vector_put_again_replaces_the_old(path: Path) -> None:
    cache = SqliteVectors(path)
    cache.put("model", {"a": vector(1)})
    cache.put("model", {"a": vector(2)})
    assert np.array_equal(cache.get("model", ["a"])["a"], vector(2))


def test_more_hashes_than_a_statement_takes_are_asked_in_parts(path: Path) -> None:
    cache = SqliteVectors(path)
    cache.put("model", {str(n): vector(n, size=4) for n in range(1201)})
    found = cache.get("model", [str(n) for n in range(2000)])
    assert len(found) == 1201
    assert all(np.array_equal(found[str(n)], vector(n, size=4)) for n in (0, 499, 500, 1200))


def test_asking_an_empty_cache_makes_no_file(path: Path) -> None:
    assert SqliteVectors(path).get("model", ["a"]) == {}
    assert not path.parent.exists()


def test_a_vector_is_safe_once_put_returned(path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; import numpy as np\n"
        "from bythebook.adapters.library.sqlite_vectors import SqliteVectors\n"
        "SqliteVectors(Path(sys.argv[1])).put('model', {'a': np.ones(4, np.float32)})\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], timeout=300, check=False)
    assert done.returncode == -9
    assert np.array_equal(SqliteVectors(path).get("model", ["a"])["a"], np.ones(4, np.float32))


def test_writers_side_by_side_lose_nothing(path: Path) -> None:
    failures: list[BaseException] = []

    def write(worker: int) -> None:
        try:
            for turn in range(15):
                SqliteVectors(path).put("model", {f"{worker}-{turn}": vector(worker, size=4)})
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    names = [f"{worker}-{turn}" for worker in range(4) for turn in range(15)]
    assert len(SqliteVectors(path).get("model", names)) == 60


def test_a_damaged_cache_is_a_failed_store_that_says_what_to_do(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 500)
    for use in (
        lambda: SqliteVectors(path).get("model", ["a"]),
        lambda: SqliteVectors(path).put("model", {"a": vector(1)}),
    ):
        with pytest.raises(StoreFailed, match=r"vectors\.sqlite") as caught:
            use()
        assert "Delete it" in caught.value.help_message


def no_more_pages(connection: sqlite3.Connection) -> None:
    """Have SQLite find its file full, as it finds a disk."""
    connection.execute("PRAGMA max_page_count=1")


def no_longer_files(_connection: sqlite3.Connection) -> None:
    """Have the system refuse what would make a file longer."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))


@pytest.mark.parametrize("fill", [no_more_pages, no_longer_files])
def test_a_full_disk_is_no_reason_to_delete_the_cache(
    path: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[[sqlite3.Connection], None]
) -> None:
    cache = SqliteVectors(path)
    cache.put("model", {"a": vector(1)})
    connect, usual = sqlite3.connect, resource.getrlimit(resource.RLIMIT_FSIZE)

    def connect_to_a_full_disk(*given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*given, **named)
        fill(connection)
        return connection

    many = {str(number): vector(number) for number in range(200)}
    with monkeypatch.context() as full:
        full.setattr(sqlite3, "connect", connect_to_a_full_disk)
        try:
            with pytest.raises(StoreFailed, match=r"vectors\.sqlite") as caught:
                cache.put("model", many)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert "room on the disk" in caught.value.help_message
    assert "elete" not in caught.value.help_message
    assert set(cache.get("model", ["a", *many])) == {"a"}
    cache.put("model", many)  # once there is room


def test_a_cache_that_may_not_be_written_is_no_reason_to_delete_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = SqliteVectors(path)
    cache.put("model", {"a": vector(1)})
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **named: connect(f"file:{path}?mode=ro", uri=True, **named)
    )
    with pytest.raises(StoreFailed) as caught:
        cache.put("model", {"b": vector(2)})
    assert "who may write" in caught.value.help_message


def test_many_at_once_may_open_a_cache_that_is_not_there_yet(tmp_path: Path) -> None:
    """Setting a new file up is the one step in which SQLite itself does not wait for others."""
    for turn in range(20):
        cache = SqliteVectors(tmp_path / str(turn) / "vectors.sqlite")
        together = threading.Barrier(8)

        def put(
            number: int, cache: SqliteVectors = cache, together: threading.Barrier = together
        ) -> None:
            together.wait()
            cache.put("model", {str(number): vector(number)})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(put, range(8)))
        assert len(cache.get("model", [str(number) for number in range(8)])) == 8
