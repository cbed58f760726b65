"""The moving windows, in memory and in a real Redis: one suite; and what an outage of Redis does."""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from tests.conftest import free_port
from tests.redis_server import RedisServer, run_redis

from bythebook.adapters.operations.limits_windows import MemoryWindows, RedisWindows
from bythebook.bootstrap.times import ServiceTimes
from bythebook.domain.access import Allowance, Window
from bythebook.errors import InputError, PartFailed

pytestmark = pytest.mark.anyio
Windows = MemoryWindows | RedisWindows


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """One that a test may stop."""
    with run_redis(tmp_path) as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
async def windows(request: pytest.FixtureRequest) -> AsyncIterator[Windows]:
    if request.param == "memory":
        yield MemoryWindows()
        return
    async with open_windows(request.getfixturevalue("redis").url) as shared:
        yield shared


@asynccontextmanager
async def open_windows(url: str, *, patience_seconds: float = 60.0) -> AsyncIterator[RedisWindows]:
    """Open windows in Redis; by default so patient that a slow machine is no outage."""
    windows = RedisWindows(url, patience_seconds=patience_seconds)
    try:
        yield windows
    finally:
        await windows.close()


@pytest.fixture
def holder(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


async def test_exactly_as_many_are_let_in_as_the_limit_says(windows: Windows, holder: str) -> None:
    taken = await asyncio.gather(*(windows.take(Window("key", holder, 10)) for _ in range(200)))
    assert sum(one.allowed for one in taken) == 10


async def test_what_is_left_counts_down_and_never_below_zero(windows: Windows, holder: str) -> None:
    taken = [await windows.take(Window("key", holder, 3)) for _ in range(5)]
    assert [one.allowed for one in taken] == [True, True, True, False, False]
    assert [one.remaining for one in taken] == [2, 1, 0, 0, 0]
    assert {(one.limit, one.window) for one in taken} == {(3, "key")}
    assert all(50 < one.retry_after <= 60 for one in taken)


async def test_windows_of_other_holders_and_kinds_are_apart(windows: Windows, holder: str) -> None:
    assert (await windows.take(Window("key", holder, 1))).allowed
    assert not (await windows.take(Window("key", holder, 1))).allowed
    assert (await windows.take(Window("key", holder + "2", 1))).allowed
    assert (await windows.take(Window("ip", holder, 1))).allowed


async def test_room_comes_back_as_the_window_moves() -> None:
    now = 1000.0
    windows = MemoryWindows(lambda: now)
    assert (await windows.take(Window("ip", "a", 2))).allowed
    now += 40
    assert (await windows.take(Window("ip", "a", 2))).allowed
    refused = await windows.take(Window("ip", "a", 2))
    assert (refused.allowed, refused.retry_after) == (False, 20)
    now += 20.1
    assert (await windows.take(Window("ip", "a", 2))).allowed
    assert not (await windows.take(Window("ip", "a", 2))).allowed  # the second still counts


async def test_windows_in_memory_are_forgotten_once_they_are_empty() -> None:
    now = 1000.0
    windows = MemoryWindows(lambda: now)
    for number in range(5000):
        await windows.take(Window("ip", str(number), 60))
    assert len(windows) == 5000
    now += 61
    await windows.take(Window("ip", "another", 60))
    assert len(windows) == 1


async def test_room_comes_back_in_redis_too(
    redis: RedisServer, holder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    async with open_windows(redis.url) as windows:
        assert (await windows.take(Window("key", holder, 1))).allowed
        assert not (await windows.take(Window("key", holder, 1))).allowed
        monkeypatch.setattr(time, "time", lambda: real() + 60.5)
        assert (await windows.take(Window("key", holder, 1))).allowed


async def test_processes_that_share_a_redis_share_its_windows(
    redis: RedisServer, holder: str
) -> None:
    async with open_windows(redis.url) as one, open_windows(redis.url) as other:
        calls = [each.take(Window("key", holder, 10)) for each in (one, other) for _ in range(100)]
        taken = await asyncio.gather(*calls)
    assert sum(each.allowed for each in taken) == 10


async def test_redis_forgets_windows_by_itself(redis: RedisServer, holder: str) -> None:
    async with open_windows(redis.url) as windows:
        await windows.take(Window("key", holder, 10))
    with Redis.from_url(redis.url) as client:
        keys = list(client.scan_iter(f"bythebook*{holder}*"))
        assert keys
        assert all(0 < client.ttl(key) <= 60 for key in keys)


async def test_while_redis_is_away_this_process_counts_and_then_redis_again(
    own_redis: RedisServer, holder: str, caplog: pytest.LogCaptureFixture
) -> None:
    window = Window("key", holder, 10)
    async with open_windows(own_redis.url) as windows:
        assert (await windows.take(window)).remaining == 9
        await windows.check()
        own_redis.stop()
        taken = await asyncio.gather(*(windows.take(window) for _ in range(200)))
        assert sum(one.allowed for one in taken) == 10
        assert not at_once(windows.take(window)).allowed  # nobody waits for what is away
        with pytest.raises(PartFailed, match="cannot be reached"):
            await windows.check()

        own_redis.start()
        await until(lambda: not windows.away)
        assert (await windows.take(window)).remaining == 9  # of the new server, which has no counts
        assert not windows.away
        await windows.check()
    assert [one.name for one in caplog.records if one.levelno >= logging.WARNING] == [
        "bythebook.limits"
    ]


async def test_a_restart_of_redis_between_requests_is_no_outage(
    own_redis: RedisServer, holder: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_windows(own_redis.url) as windows:
        await asyncio.gather(*(windows.take(Window("key", holder, 100)) for _ in range(20)))
        own_redis.stop()
        own_redis.start()
        taken = await asyncio.gather(*(windows.take(Window("key", holder, 100)) for _ in range(20)))
        assert min(one.remaining for one in taken) == 80  # all of them were counted there
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


async def test_a_silent_redis_costs_half_a_second_at_most_and_only_once(holder: str) -> None:
    patience = ServiceTimes().redis_seconds
    assert patience < 0.5
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        async with open_windows(url, patience_seconds=patience) as windows:
            async with asyncio.timeout(60):  # it would be silent for ever
                assert (await windows.take(Window("key", holder, 10))).allowed
            assert at_once(windows.take(Window("key", holder, 10))).allowed


async def test_the_password_of_redis_is_in_no_message() -> None:
    async with open_windows(f"redis://:hunter2@127.0.0.1:{free_port()}/0") as windows:
        with pytest.raises(PartFailed) as failed:
            await windows.check()
    assert "hunter2" not in failed.value.what + failed.value.help_message
    assert "127.0.0.1" in failed.value.what


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://host:port", "x"])
async def test_a_wrong_address_names_its_variable(url: str) -> None:
    with pytest.raises(InputError, match="BYTHEBOOK_REDIS_URL"):
        RedisWindows(url, patience_seconds=60.0)


def at_once(taking: Coroutine[Any, Any, Allowance]) -> Allowance:
    """Return the reply to a request that waits for nothing, not even for its turn."""
    try:
        taking.send(None)
    except StopIteration as done:
        taken: Allowance = done.value
        return taken
    taking.close()
    pytest.fail("the request had to wait")


async def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
