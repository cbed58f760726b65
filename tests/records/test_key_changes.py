"""Keys that are made and revoked while processes serve: all requests at once see the change."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import pytest
from pydantic import SecretStr
from tests.conftest import free_port
from tests.contracts.access.test_access import bearer
from tests.contracts.access.test_limits import processes
from tests.records.conftest import Place

from bythebook.bootstrap import Core
from bythebook.domain.records import IssuedKey, KeyTerms
from bythebook.ports import KeyStore
from bythebook.settings import Settings

SITE, LATER_SITE = "https://site.example", "https://later.example"
AT_ONCE = 20  # requests to each process
PROMISED_SECONDS = 1.0
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}
Send = Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
def urls(place: Place, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The addresses of processes over one database, without a book, which is enough to be let in."""
    core = core_of(place)
    more = {"database_url": place.url} if place.url else {}
    with processes(core, request.param, limit_ip="0", limit_key="0", **more) as urls:
        yield urls
    core.close()


def core_of(place: Place) -> Core:
    return Core(
        Settings(data_dir=place.folder, database_url=SecretStr(place.url), port=free_port())
    )


@asynccontextmanager
async def keys_of(place: Place) -> AsyncIterator[KeyStore]:
    core = core_of(place)
    async with core.keys() as store:
        yield store
    core.close()


@asynccontextmanager
async def clients() -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        yield client


async def at_once(client: httpx.AsyncClient, urls: list[str], send: Send) -> Counter[int]:
    """Send requests to all processes at the same moment, on connections that are open already."""
    places = urls * AT_ONCE
    await asyncio.gather(*(client.get(f"{url}/livez") for url in places))
    replies = await asyncio.gather(*(send(client, url) for url in places))
    return Counter(reply.status_code for reply in replies)


def make_asker(secret: str = "", **more: str) -> Send:
    """Ask nothing, which is 422 for those who are let in."""
    headers = bearer(secret, **more) if secret else {}

    async def ask(client: httpx.AsyncClient, url: str) -> httpx.Response:
        return await client.post(f"{url}/ask", json={"question": ""}, headers=headers)

    return ask


def make_preflight(origin: str) -> Send:
    async def send(client: httpx.AsyncClient, url: str) -> httpx.Response:
        return await client.options(f"{url}/ask", headers=PREFLIGHT | {"Origin": origin})

    return send


async def new_key(store: KeyStore, *origins: str) -> IssuedKey:
    return await store.create(KeyTerms("ask", origins=origins or None), datetime.now(UTC))


def test_a_revoked_key_is_refused_to_all_who_ask_at_once(place: Place, urls: list[str]) -> None:
    async def outcome() -> None:
        total = AT_ONCE * len(urls)
        async with keys_of(place) as store, clients() as client:
            for idle_seconds in (PROMISED_SECONDS, 3.0):
                issued = await new_key(store)
                asked = make_asker(issued.secret)
                assert await at_once(client, urls, asked) == {422: total}
                await store.revoke(issued.key.key_id, datetime.now(UTC))
                await asyncio.sleep(idle_seconds)
                assert await at_once(client, urls, asked) == {401: total}

    asyncio.run(outcome())


def test_a_site_may_ask_as_soon_as_it_has_a_key(place: Place, urls: list[str]) -> None:
    async def outcome() -> None:
        total = AT_ONCE * len(urls)
        async with keys_of(place) as store, clients() as client:
            assert await at_once(client, urls, make_asker()) == {422: total}  # open, and just read
            await new_key(store, SITE)
            assert await at_once(client, urls, make_preflight(SITE)) == {204: total}
            assert await at_once(client, urls, make_preflight(LATER_SITE)) == {403: total}
            issued = await new_key(store, LATER_SITE)
            # Another process may have answered the preflight, or a browser remembers it.
            asked = make_asker(issued.secret, Origin=LATER_SITE)
            replies = await asyncio.gather(*(asked(client, url) for url in urls * AT_ONCE))
            assert {reply.status_code for reply in replies} == {422}
            allowed = {reply.headers.get("Access-Control-Allow-Origin") for reply in replies}
            assert allowed == {LATER_SITE}

    asyncio.run(outcome())
