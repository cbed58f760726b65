"""How often callers are let in, over real HTTP, in one process and in several that share a Redis."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr
from tests.conftest import eventually, free_port, serve_core
from tests.contracts.access.test_access import (
    GUARDED,
    Request,
    bearer,
    every_contract,
    require_failure,
    send,
    wait_for,
)
from tests.contracts.fakes import FakeKeys, fake_service
from tests.redis_server import run_redis

from bythebook.bootstrap import Core
from bythebook.bootstrap.times import ServiceTimes
from bythebook.domain.records import KeyTerms
from bythebook.errors import InputError
from bythebook.http.app import Service
from bythebook.operate.access.gate import RequestLimits
from bythebook.settings import Settings

NOTHING = {"question": ""}  # 422 for those who are let in, at no cost
HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def room(reply: httpx.Response) -> tuple[int, int]:
    """Give limit and what is left, as a response tells them."""
    limit, left, reset = (int(reply.headers[name]) for name in HEADERS)
    assert 0 < reset <= 60
    return limit, left


@every_contract
def test_a_used_up_limit_is_told_in_the_contracts_shape(contract: str) -> None:
    keys = FakeKeys()
    secret = keys.add(limit_per_minute=1)
    service = fake_service(keys=keys, limits=RequestLimits(key=100))
    first = send(service, GUARDED[contract], bearer(secret))
    assert first.status_code != 429
    assert room(first) == (1, 0)
    reply = send(service, GUARDED[contract], bearer(secret))
    require_failure(contract, reply, 429)
    assert room(reply) == (1, 0)
    assert reply.headers["Retry-After"] == reply.headers["X-RateLimit-Reset"]
    if contract.startswith("A"):
        assert reply.json()["error"]["retry_after"] == int(reply.headers["Retry-After"])


def test_a_key_without_a_limit_of_its_own_has_the_default() -> None:
    keys = FakeKeys()
    plain, bound, unbound = keys.add(), keys.add(limit_per_minute=5), keys.add(limit_per_minute=0)
    service = fake_service(keys=keys, limits=RequestLimits(key=3))
    assert room(send(service, GUARDED["D"], bearer(plain))) == (3, 2)
    assert room(send(service, GUARDED["D"], bearer(bound))) == (5, 4)
    free = send(service, GUARDED["D"], bearer(unbound))
    assert not set(HEADERS) & set(free.headers)


def test_one_key_does_not_use_up_anothers_limit() -> None:
    keys = FakeKeys()
    one, other = keys.add(), keys.add()
    service = fake_service(keys=keys, limits=RequestLimits(key=1, ip=1))
    statuses = [send(service, GUARDED["D"], bearer(key)).status_code for key in (one, one, other)]
    assert statuses == [200, 429, 200]


def in_session(contract: str, session: str) -> Request:
    method, path, body = GUARDED[contract]
    return method, path, {**(body or {}), "session_id": session}


@pytest.mark.parametrize("contract", ["A", "A too", "C", "C streamed"])
def test_a_session_has_a_limit_which_is_its_owners_own(contract: str) -> None:
    keys = FakeKeys()
    one, other = keys.add(), keys.add()
    service = fake_service(keys=keys, limits=RequestLimits(key=50, session=1))
    session = str(uuid4())
    first = send(service, in_session(contract, session), bearer(one))
    assert first.status_code != 429
    assert room(first) == (1, 0)  # the window with the least room
    reply = send(service, in_session(contract, session), bearer(one))
    require_failure(contract, reply, 429)
    assert room(reply) == (1, 0)
    assert send(service, in_session(contract, session), bearer(other)).status_code != 429
    assert send(service, in_session(contract, str(uuid4())), bearer(one)).status_code != 429
    assert send(service, GUARDED[contract], bearer(one)).status_code != 429


def test_without_keys_an_address_has_a_limit() -> None:
    service = fake_service(limits=RequestLimits(ip=2))
    peers = ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1")
    statuses = [send(service, GUARDED["D"], peer=peer).status_code for peer in peers]
    assert statuses == [200, 200, 429, 200, 429]


def test_an_ipv6_address_counts_with_its_neighbours() -> None:
    service = fake_service(limits=RequestLimits(ip=1))
    peers = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
    assert [send(service, GUARDED["D"], peer=peer).status_code for peer in peers] == [200, 429, 200]


def test_a_request_that_is_not_valid_counts_too() -> None:
    service = fake_service(limits=RequestLimits(ip=1))
    broken: Request = ("POST", "/ask", dict(NOTHING))
    assert [send(service, broken).status_code for _ in range(2)] == [422, 429]


def test_health_is_never_limited() -> None:
    service = fake_service(limits=RequestLimits(ip=1))
    for path in ("/livez", "/readyz", "/health", "/openapi.json"):
        for _ in range(3):
            reply = send(service, ("GET", path, None))
            assert reply.status_code == 200
            assert not set(HEADERS) & set(reply.headers)


def test_every_refusal_is_counted_by_its_window() -> None:
    keys = FakeKeys()
    secret, session = keys.add(limit_per_minute=3), str(uuid4())
    keyed = fake_service(keys=keys, limits=RequestLimits(session=1))
    for _ in range(4):
        send(keyed, in_session("A", session), bearer(secret))
    by_address = fake_service(limits=RequestLimits(ip=1))
    for _ in range(3):
        send(by_address, GUARDED["D"])
    assert (read_count(keyed, "key"), read_count(keyed, "session")) == (1, 2)
    assert read_count(by_address, "ip") == 2


def read_count(service: Service, window: str) -> float:
    page, _ = service.metrics.write_page(())
    start = f'bythebook_rate_limited_total{{window="{window}"}} '
    lines = page.decode().splitlines()
    return sum(float(line.removeprefix(start)) for line in lines if line.startswith(start))


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    """The real parts over a library without a book: what is counted is who is let in."""
    core = Core(Settings(data_dir=tmp_path, port=free_port()))
    yield core
    core.close()


def new_key(core: Core, limit: int) -> str:
    async def create() -> str:
        async with core.keys() as store:
            terms = KeyTerms("ask", limit_per_minute=limit)
            return (await store.create(terms, datetime.now(UTC))).secret

    return asyncio.run(create())


def knocks(urls: list[str], secret: str, count: int, at_once: int = 50) -> Counter[int]:
    """Knock at all doors in turn, at many at once, and count the statuses."""

    async def all_at_once() -> list[int]:
        limits = httpx.Limits(max_connections=at_once)
        async with httpx.AsyncClient(timeout=60, limits=limits, headers=bearer(secret)) as client:

            async def knock(number: int) -> int:
                url = urls[number % len(urls)]
                return (await client.post(f"{url}/ask", json=NOTHING)).status_code

            return await asyncio.gather(*map(knock, range(count)))

    return Counter(asyncio.run(all_at_once()))


def test_of_200_at_once_exactly_as_many_are_let_in_as_the_limit_says(core: Core) -> None:
    secret = new_key(core, 10)
    with serve_core(core) as server:
        assert knocks([server.url], secret, 200) == {422: 10, 429: 190}


@contextmanager
def processes(core: Core, count: int, **settings: str) -> Iterator[list[str]]:
    """Serve the same data by several processes."""
    environment = os.environ | {
        "BYTHEBOOK_DATA_DIR": str(core.settings.data_dir),
        "BYTHEBOOK_THREADS": "1",
        **{f"BYTHEBOOK_{name.upper()}": value for name, value in settings.items()},
    }
    with ExitStack() as stack:
        urls = []
        for _ in range(count):
            port = free_port()
            process = subprocess.Popen(
                [sys.executable, "-m", "bythebook", "serve", "--port", str(port)],
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait, 60)
            stack.callback(process.send_signal, signal.SIGTERM)
            urls.append(f"http://127.0.0.1:{port}")
        for url in urls:
            with httpx.Client(base_url=url, timeout=60) as client:
                wait_for(client)
        yield urls


def test_processes_that_share_a_redis_share_the_limit(core: Core, tmp_path: Path) -> None:
    secret = new_key(core, 10)
    with run_redis(tmp_path) as redis, processes(core, 2, redis_url=redis.url) as urls:
        # Few at once: a crowd on a slow machine is an outage of Redis to those who wait for it.
        assert knocks(urls, secret, 200, at_once=4) == {422: 10, 429: 190}


def test_an_address_that_a_client_claims_for_itself_is_not_believed(core: Core) -> None:
    new_key(core, 1)
    with processes(core, 1, limit_ip="2") as (url,):
        claims = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in range(3)]
        statuses = [
            httpx.post(f"{url}/ask", json=NOTHING, headers=claim, timeout=60).status_code
            for claim in claims
        ]
    assert statuses == [401, 401, 429]


def test_a_trusted_proxy_is_believed(core: Core) -> None:
    new_key(core, 1)
    with processes(core, 1, limit_ip="1", trusted_proxies="127.0.0.0/8") as (url,):
        claims = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in (1, 2, 1)]
        statuses = [
            httpx.post(f"{url}/ask", json=NOTHING, headers=claim, timeout=60).status_code
            for claim in claims
        ]
    assert statuses == [401, 401, 429]


def test_with_redis_away_the_service_counts_for_itself_and_says_so(tmp_path: Path) -> None:
    with run_redis(tmp_path) as redis:
        settings = Settings(
            data_dir=tmp_path, port=free_port(), limit_ip=5, redis_url=SecretStr(redis.url)
        )
        core = Core(settings, ServiceTimes(redis_seconds=60.0))  # slow is not yet away
        with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=60) as client:
            assert limits_part(client)["status"] == "ok"
            assert client.post("/ask", json=NOTHING).status_code == 422
            redis.stop()
            statuses = [client.post("/ask", json=NOTHING).status_code for _ in range(6)]
            assert statuses == [422] * 5 + [429]
            eventually(lambda: limits_part(client)["status"] == "failed")
            assert "Redis" in str(limits_part(client)["message"])
            redis.start()
            eventually(lambda: client.post("/ask", json=NOTHING).status_code != 429)
            eventually(lambda: limits_part(client)["status"] == "ok")
        core.close()


def limits_part(client: httpx.Client) -> dict[str, object]:
    part: dict[str, object] = client.get("/health").json()["dependencies"]["limits"]
    return part


@pytest.mark.parametrize(
    ("name", "value"),
    [("trusted_proxies", "10.0.0.0/99"), ("redis_url", SecretStr("http://localhost"))],
)
def test_a_wrong_setting_names_its_variable(name: str, value: object, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path).model_copy(update={name: value})
    with pytest.raises(InputError, match=f"BYTHEBOOK_{name.upper()}"):
        Core(settings).service()
