"""Who is let in: keys, scopes, origins, and pages on other sites."""

import asyncio
import ipaddress
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from tests.conftest import free_port, serve_core
from tests.contracts.fakes import (
    BROKEN_BODIES,
    JSON,
    READER,
    FakeIndex,
    FakeKeys,
    NoRecords,
    fake_service,
)
from typer.testing import CliRunner

from bythebook import cli
from bythebook.bootstrap import Core
from bythebook.bootstrap.times import ServiceTimes
from bythebook.domain.records import KeyTerms, Thread
from bythebook.errors import ByTheBookError, RecordsFailed
from bythebook.http.access.client_address import client_address
from bythebook.http.access.gate_routes import AdminRoute, AskRoute
from bythebook.http.app import Service, create_app
from bythebook.operate.access.gate import RequestLimits
from bythebook.operate.access.latest_keys import KeyTimes
from bythebook.settings import Settings

SITE, ELSEWHERE = "https://site.example", "https://elsewhere.example"
FREE = {  # routes that need no key, and why
    "/livez": "probes carry no key",
    "/readyz": "probes carry no key",
    "/health": "probes carry no key",
    "/reader.css": "part of the pages",
    "/icon.svg": "part of the pages",
    "/reader.js": "part of the pages",
    "/widget.js": "loaded by pages of any site; it holds no key",
    "/admin.js": "part of the pages",
    "/admin.css": "part of the pages",
    "/admin": "holds no data; its script asks for that with the key that is typed in",
    "/": "asks by the gate itself, and says on the page that a key is needed",
    "/read/{book_id}": "a link that readers open",
    "/read/{book_id}/{document_id:path}": "a link that readers open",
    "/pictures/{book_id}/{file}": "part of the pages",
    "/llms.txt": "names the books that are listed, and no others",
    "/robots.txt": "the same",
    "/sitemap.xml": "the same",
    "/read/{book_id}/llms.txt": "of a listed book only",
    "/read/{book_id}/sitemap.xml": "of a listed book only",
    "/read/{book_id}/opensearch.xml": "of a listed book that pages may search",
    "/c/{citation_id}": "a link that readers open",
    "/oembed": "of a listed book only",
    "/docs": "describes the contracts",
    "/openapi.json": "describes the contracts",
}
Request = tuple[str, str, dict[str, object] | None]
SESSION = str(uuid4())
GUARDED: dict[str, Request] = {
    "A": ("POST", "/api/query", {"query": "What is it?"}),
    "A too": ("POST", "/v1/query", {"query": "What is it?"}),
    "B": ("POST", "/query", {"query": "What is it?"}),
    "C": ("POST", "/chat/run", {"message": "What is it?"}),
    "C streamed": ("POST", "/chat/stream", {"message": "What is it?"}),
    "C history": ("GET", f"/session/{SESSION}/history", None),
    "C delete": ("DELETE", f"/session/{SESSION}", None),
    "D": ("POST", "/ask", {"question": "What is it?"}),
    "OpenAI": (
        "POST",
        "/v1/chat/completions",
        {"model": "bythebook:library", "messages": [{"role": "user", "content": "What is it?"}]},
    ),
    "OpenAI models": ("GET", "/v1/models", None),
    "OpenAI model": ("GET", "/v1/models/tales", None),
    "MCP": ("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    "search": ("GET", "/search?q=What", None),
    "suggestions": ("GET", "/suggestions", None),
    "feedback": ("POST", "/feedback", {"request_id": SESSION, "helpful": True}),
}
NAMES = {
    "A": ("UNAUTHORIZED", "FORBIDDEN", "RATE_LIMIT_EXCEEDED", "QDRANT_TIMEOUT"),
    "B": ("AuthenticationError", "PermissionError", "RateLimitError", "RetrievalError"),
    "O": ("invalid_api_key", "forbidden", "rate_limit_exceeded", "database_unavailable"),
}
OTHERS = ("unauthorized", "forbidden", "rate_limited", "database_unavailable")
STATUSES = (401, 403, 429, 503)
every_contract = pytest.mark.parametrize("contract", GUARDED)


_APPS: dict[int, tuple[Service, FastAPI]] = {}


def app_of(service: Service) -> FastAPI:
    """Make the application of a service once, since that takes time."""
    if id(service) not in _APPS:
        _APPS[id(service)] = service, create_app(service)
    return _APPS[id(service)][1]


def send(
    service: Service,
    request: Request,
    headers: dict[str, str] | None = None,
    content: bytes | None = None,
    peer: str = "192.0.2.1",
) -> httpx.Response:
    """Send one request to the application, without a network between."""
    method, path, body = request

    async def send_once() -> httpx.Response:
        transport = httpx.ASGITransport(
            app_of(service), raise_app_exceptions=False, client=(peer, 5000)
        )
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            if content is not None:
                return await client.request(method, path, headers=headers, content=content)
            return await client.request(method, path, headers=headers, json=body)

    return asyncio.run(send_once())


def bearer(secret: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}", **more}


def error_name(contract: str, body: dict[str, Any]) -> str:
    """Check a failure's shape, and give its name in the contract."""
    if contract.startswith("A"):
        assert body["status"] == "error"
        assert set(body) == {"status", "answer", "refusal", "error", "metadata"}
        return str(body["error"]["code"])
    if contract == "B":
        assert set(body) == {"error", "error_type", "error_message", "query", "status_code"}
        return str(body["error_type"])
    if contract.startswith("OpenAI"):
        assert set(body) == {"error"}
        assert set(body["error"]) == {"message", "type", "param", "code"}
        return str(body["error"]["code"])
    if contract == "MCP":
        assert set(body) == {"jsonrpc", "id", "error"}
        return str(body["error"]["data"]["error"])
    if contract in {"D", "search", "suggestions"}:
        assert set(body) == {"error", "detail"}
    else:
        assert set(body) == {"error", "message", "details", "timestamp", "request_id"}
    return str(body["error"])


def require_failure(contract: str, reply: httpx.Response, status: int) -> None:
    assert reply.status_code == status, reply.text
    name = NAMES.get(contract[0], OTHERS)[STATUSES.index(status)]
    assert error_name(contract, reply.json()) == name
    assert reply.headers["X-Request-ID"]


@pytest.fixture
def keys() -> FakeKeys:
    return FakeKeys()


@pytest.fixture
def service(keys: FakeKeys) -> Service:
    return fake_service(keys=keys)


@pytest.fixture
def fresh_service(keys: FakeKeys) -> Service:
    """A service whose next request sees keys that were made or went away meanwhile."""
    return fake_service(keys=keys, key_times=KeyTimes(fresh=0.0))


@every_contract
def test_without_a_key_nothing_is_answered(contract: str, keys: FakeKeys, service: Service) -> None:
    keys.add()
    reply = send(service, GUARDED[contract])
    require_failure(contract, reply, 401)
    assert reply.headers["WWW-Authenticate"] == "Bearer"


@every_contract
def test_a_key_of_scope_ask_opens_every_contract(
    contract: str, keys: FakeKeys, service: Service
) -> None:
    for secret in (keys.add("ask"), keys.add("admin")):
        reply = send(service, GUARDED[contract], bearer(secret))
        assert reply.status_code not in {401, 403, 429}, reply.text


@every_contract
def test_while_there_is_no_key_the_service_is_open(contract: str, service: Service) -> None:
    assert send(service, GUARDED[contract]).status_code not in {401, 403, 429}


@pytest.mark.parametrize("kind", ["unknown", "revoked", "expired", "cut", "empty", "odd"])
def test_a_key_that_opens_nothing_is_refused_always_in_the_same_words(
    kind: str, keys: FakeKeys, service: Service
) -> None:
    good = keys.add()
    past = datetime.now(UTC) - timedelta(seconds=1)
    given = {
        "unknown": "btb_" + "x" * 43,
        "revoked": keys.add(),
        "expired": keys.add(expires_at=past),
        "cut": good[:-1],
        "empty": "",
        "odd": "ÿþ\t!",
    }
    revoked = list(keys.keys.values())[1]
    asyncio.run(keys.revoke(revoked.key_id, past))
    assert send(service, GUARDED["D"], bearer(good)).status_code == 200
    reply = send(service, GUARDED["D"], {"X-API-Key": given[kind].encode("latin-1")})  # type: ignore[dict-item]
    require_failure("D", reply, 401)
    expected = "needs a key" if kind == "empty" else "unknown, revoked or expired"
    assert expected in reply.json()["detail"]


@pytest.mark.parametrize("contract", ["A", "B", "C", "C streamed", "D", "feedback"])
def test_a_stranger_learns_nothing_about_bodies(
    contract: str, keys: FakeKeys, service: Service
) -> None:
    keys.add()
    for body in BROKEN_BODIES.values():
        require_failure(contract, send(service, GUARDED[contract], JSON, body), 401)


def test_a_stranger_with_a_large_body_is_a_stranger_first(keys: FakeKeys, service: Service) -> None:
    secret = keys.add()
    large = b" " * 300_000
    require_failure("A", send(service, GUARDED["A"], JSON, large), 401)
    assert send(service, GUARDED["A"], JSON | bearer(secret), large).status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer {key}"}, 200),
        ({"Authorization": "bearer   {key} "}, 200),
        ({"X-API-Key": "{key}"}, 200),
        ({"Authorization": "Bearer {key}", "X-API-Key": "{key}"}, 200),
        ({"Authorization": "Basic dXNlcjpwYXNz", "X-API-Key": "{key}"}, 200),  # a proxy's
        ({"Authorization": "Bearer {key}", "X-API-Key": "{other}"}, 401),  # whose request is it?
        ({"Authorization": "Basic {key}"}, 401),
        ({"Authorization": "{key}"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Cookie": "key={key}"}, 401),
    ],
)
def test_a_key_comes_in_one_of_two_headers(
    headers: dict[str, str], status: int, keys: FakeKeys, service: Service
) -> None:
    key, other = keys.add(), keys.add()
    given = {name: value.format(key=key, other=other) for name, value in headers.items()}
    assert send(service, GUARDED["D"], given).status_code == status


@every_contract
def test_a_key_in_a_page_works_from_its_origins_only(
    contract: str, keys: FakeKeys, service: Service
) -> None:
    secret = keys.add(origins=(SITE,))
    reply = send(service, GUARDED[contract], bearer(secret, Origin=SITE))
    assert reply.status_code not in {401, 403, 429}
    assert reply.headers["Access-Control-Allow-Origin"] == SITE
    for origin in (ELSEWHERE, "null", SITE + ":8443", SITE.upper(), "http://site.example", ""):
        reply = send(service, GUARDED[contract], bearer(secret, Origin=origin))
        require_failure(contract, reply, 403)
        assert "Access-Control-Allow-Origin" not in reply.headers
    require_failure(contract, send(service, GUARDED[contract], bearer(secret)), 403)


def test_a_key_without_origins_works_from_anywhere(keys: FakeKeys, service: Service) -> None:
    secret = keys.add()
    reply = send(service, GUARDED["D"], bearer(secret, Origin=ELSEWHERE))
    assert reply.status_code == 200
    assert "Access-Control-Allow-Origin" not in reply.headers  # but no page can read it


def test_the_numbers_are_for_admins_once_there_are_keys(keys: FakeKeys, service: Service) -> None:
    numbers: Request = ("GET", "/metrics", None)
    admin, ask = keys.add("admin"), keys.add("ask")
    assert send(fake_service(), numbers).status_code == 200
    assert send(service, numbers, bearer(admin)).status_code == 200
    assert send(service, numbers).status_code == 401
    reply = send(service, numbers, bearer(ask))
    assert (reply.status_code, reply.json()["error"]) == (403, "forbidden")


def test_every_route_is_guarded_or_free_for_a_reason(service: Service) -> None:
    free, guarded = set(), {}
    for route in iter_route_contexts(create_app(service).routes):
        kind = type(route.original_route)
        if issubclass(kind, AskRoute):
            guarded[route.path] = kind
        else:
            free.add(route.path)
    assert free == set(FREE)
    of_operators = {path for path, kind in guarded.items() if kind is AdminRoute}
    of_authors = {path for path in guarded if str(path).startswith("/admin/")}
    assert of_operators == {"/metrics"} | of_authors
    covered = {
        path.partition("?")[0].replace(SESSION, "{session_id}").replace("tales", "{model}")
        for _, path, _ in GUARDED.values()
    }
    assert set(guarded) - of_operators == covered


@pytest.mark.parametrize("path", [path for path in FREE if "{" not in path and path != "/oembed"])
def test_free_routes_stay_free(path: str, keys: FakeKeys, service: Service) -> None:
    keys.add()
    assert send(service, ("GET", path, None)).status_code == 200


def test_the_page_does_not_answer_strangers(keys: FakeKeys) -> None:
    keys.add()
    index = FakeIndex()
    service = fake_service(keys=keys, index=index)
    reply = send(service, ("GET", "/?q=What%20is%20it%3F", None))
    assert reply.status_code == 401
    assert reply.headers["Content-Type"].startswith("text/html")
    assert "This service needs a key." in reply.text
    assert index.calls == 0


def test_a_page_that_would_not_be_answered_has_no_form(
    keys: FakeKeys, fresh_service: Service
) -> None:
    paths = ("/", "/read/tales")
    assert all("<form" in send(fresh_service, ("GET", path, None)).text for path in paths)
    keys.add()
    assert not any("<form" in send(fresh_service, ("GET", path, None)).text for path in paths)


def test_strangers_count_by_address_once_there_are_keys(keys: FakeKeys) -> None:
    secret = keys.add()
    service = fake_service(keys=keys, limits=RequestLimits(ip=2))
    given = [{}, bearer("btb_no-such-key"), {}]
    assert [send(service, GUARDED["D"], one).status_code for one in given] == [401, 401, 429]
    assert send(service, GUARDED["D"], bearer(secret)).status_code == 200


def test_questions_on_the_page_count_by_address() -> None:
    service = fake_service(limits=RequestLimits(ip=2))
    asked: Request = ("GET", "/?q=What%20is%20it%3F", None)
    assert [send(service, asked).status_code for _ in range(3)] == [200, 200, 429]
    reply = send(service, asked)
    assert reply.headers["Content-Type"].startswith("text/html")
    assert 0 < int(reply.headers["Retry-After"]) <= 60
    assert "Too many requests" in reply.text
    assert send(service, ("GET", "/", None)).status_code == 200
    assert send(service, asked, peer="192.0.2.2").status_code == 200


@every_contract
def test_with_the_keys_unreadable_from_the_start_nothing_is_open(contract: str) -> None:
    service = fake_service(keys=FakeKeys(RecordsFailed("away")))
    reply = send(service, GUARDED[contract])
    require_failure(contract, reply, 503)
    assert reply.headers["Retry-After"]


def test_with_the_database_away_a_known_key_still_opens(
    keys: FakeKeys, fresh_service: Service
) -> None:
    secret, unused = keys.add(), keys.add()
    assert send(fresh_service, GUARDED["D"], bearer(secret)).status_code == 200
    keys.failure = RecordsFailed("away")
    assert send(fresh_service, GUARDED["D"], bearer(secret)).status_code == 200
    require_failure("D", send(fresh_service, GUARDED["D"], bearer(unused)), 503)
    require_failure("D", send(fresh_service, GUARDED["D"]), 401)


class NoThreads(NoRecords):
    """Conversations, of which there are none yet."""

    async def history(self, owner: str, session_id: UUID) -> Thread | None:
        return None


@pytest.mark.parametrize("words", ["What is it?", "hello"])
def test_a_book_that_a_key_may_not_read_is_as_one_that_does_not_exist(
    words: str, keys: FakeKeys, service: Service
) -> None:
    service = replace(service, threads=NoThreads())
    secret = keys.add(books=("other",))
    ways: dict[str, Callable[[str], dict[str, object]]] = {
        "A": lambda book: {"query": words, "book": book},
        "B": lambda book: {"query": words, "book": book},
        "C": lambda book: {"message": words, "book": book},
        "D": lambda book: {"question": words, "book": book},
    }
    for contract, body in ways.items():
        method, path, _ = GUARDED[contract]
        kept_from, unknown = (
            send(service, (method, path, body(book)), bearer(secret)) for book in ("tales", "none")
        )
        assert kept_from.status_code == unknown.status_code == 422
        assert without_marks(kept_from) == without_marks(unknown)


def test_a_key_whose_books_are_all_gone_is_told_so_and_alarms_nobody(
    keys: FakeKeys, service: Service
) -> None:
    secret = keys.add(books=("removed",))
    reply = send(service, ("POST", "/ask", {"question": "What is it?"}), bearer(secret))
    assert reply.status_code == 422
    assert "There is no such book." in reply.text


@pytest.mark.parametrize("path", ["/ask/", "/chat/run/", "/api/query/"])
def test_nobody_is_sent_to_where_a_host_header_says(
    path: str, keys: FakeKeys, service: Service
) -> None:
    keys.add()
    reply = send(service, ("POST", path, {"question": "What?"}), {"Host": "elsewhere.example"})
    assert reply.status_code == 404
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    "path", ["/", "/read/tales", "/ask", "/docs", "/metrics", "/openapi.json", "/widget.js"]
)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "[", "127.0.0.1.evil.example"]
)
def test_an_open_service_answers_to_no_name_but_its_own(
    host: str, path: str, keys: FakeKeys, fresh_service: Service
) -> None:
    asked: Request = (
        ("POST", path, {"question": "What?"}) if path == "/ask" else ("GET", path, None)
    )
    assert send(fresh_service, asked, {"Host": host}).status_code == 403
    for own in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST", "reader.test"):
        assert send(fresh_service, asked, {"Host": own}).status_code == 200
    assert send(fresh_service, ("GET", "/livez", None), {"Host": host}).status_code == 200
    secret = keys.add("admin")
    assert send(fresh_service, asked, {"Host": host, **bearer(secret)}).status_code == 200


def without_marks(reply: httpx.Response) -> Any:
    """Give a body without what differs from request to request."""

    def clean(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        marks = {"request_id", "timestamp", "processing_time_ms"}
        return {name: clean(part) for name, part in value.items() if name not in marks}

    return clean(reply.json())


def preflight(service: Service, path: str, origin: str, method: str = "POST") -> httpx.Response:
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    return send(service, ("OPTIONS", path, None), asked)


def test_a_preflight_allows_the_origins_of_all_usable_keys(
    keys: FakeKeys, service: Service
) -> None:
    keys.add(origins=(SITE,))
    keys.add(origins=("http://localhost:3000",))
    keys.add(origins=("https://expired.example",), expires_at=datetime.now(UTC))
    for _, path, _ in (*GUARDED.values(), ("GET", "/health", None)):
        for origin in (SITE, "http://localhost:3000"):
            reply = preflight(service, path, origin)
            assert reply.status_code == 204
            assert reply.headers["Access-Control-Allow-Origin"] == origin
            allowed = {
                one.strip() for one in reply.headers["Access-Control-Allow-Methods"].split(",")
            }
            assert allowed >= {"GET", "POST", "DELETE"}
            names = reply.headers["Access-Control-Allow-Headers"].lower()
            for name in ("authorization", "x-api-key", "content-type", "x-request-id"):
                assert name in names
            assert "Origin" in reply.headers["Vary"]
        for origin in (ELSEWHERE, "null", "https://expired.example", SITE + ".evil.example"):
            reply = preflight(service, path, origin)
            assert reply.status_code == 403
            assert not [name for name in reply.headers if name.startswith("access-control")]


def test_an_open_service_lets_no_other_site_in(service: Service) -> None:
    assert preflight(service, "/ask", SITE).status_code == 403
    reply = send(service, GUARDED["D"], {"Origin": SITE})
    assert "Access-Control-Allow-Origin" not in reply.headers
    assert "Origin" in reply.headers["Vary"]


@pytest.mark.parametrize("status", [200, 401, 404, 405, 422, 429, 500])
def test_a_page_can_read_every_answer_its_site_may_have(status: int, keys: FakeKeys) -> None:
    secret = keys.add(origins=(SITE,), limit_per_minute=1)
    broken = FakeIndex(failure=RuntimeError("a defect"))
    service = fake_service(keys=keys, index=broken if status == 500 else FakeIndex())
    given = bearer(secret, Origin=SITE)
    requests: dict[int, tuple[Request, dict[str, str]]] = {
        401: (GUARDED["D"], {"Origin": SITE}),
        404: (("GET", "/nothing", None), given),
        405: (("GET", "/ask", None), given),
        422: (("POST", "/ask", {"question": ""}), given),
    }
    if status == 429:
        send(service, GUARDED["D"], given)
    reply = send(service, *requests.get(status, (GUARDED["D"], given)))
    assert reply.status_code == status
    assert reply.headers.get_list("Access-Control-Allow-Origin") == [SITE]
    assert reply.headers.get_list("Vary") == ["Origin"]
    exposed = reply.headers["Access-Control-Expose-Headers"]
    for name in ("X-Request-ID", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining"):
        assert name in exposed
    stranger = send(service, GUARDED["D"], {"Origin": ELSEWHERE})
    assert "Access-Control-Allow-Origin" not in stranger.headers


PROXIES = [ipaddress.ip_network(name) for name in ("10.0.0.0/8", "2001:db8::/64")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),  # no proxy of ours
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),  # left of it is hearsay
        ("10.0.0.1", ["203.0.113.9", "198.51.100.7, 10.0.0.2"], "198.51.100.7"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        ("10.0.0.1", ["[2001:db8:1::7]:4711"], "2001:db8:1::7"),
        ("10.0.0.1", ["[2001:db8:1::7]"], "2001:db8:1::7"),
        ("10.0.0.1", ["2001:DB8:1:0::7"], "2001:db8:1::7"),
        ("2001:db8::1", ["198.51.100.7"], "198.51.100.7"),
        ("::ffff:10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7, garbage"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7, garbage, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["9" * 10_000], "10.0.0.1"),
        ("10.0.0.1", ["' OR 1=1 --"], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("fe80::1%" + "e" * 100, [], "fe80::1"),
        ("testclient" * 10, [], ("testclient" * 10)[:45]),
        (None, ["198.51.100.7"], None),
    ],
)
def test_the_address_is_that_of_the_nearest_who_is_no_proxy_of_ours(
    peer: str | None, forwarded: list[str], client: str | None
) -> None:
    assert client_address(peer, forwarded, PROXIES) == client


def test_readers_behind_a_trusted_proxy_are_counted_one_by_one() -> None:
    def statuses(service: Service, peer: str) -> list[int]:
        readers = ("198.51.100.1", "198.51.100.2", "198.51.100.1")
        return [
            send(service, GUARDED["D"], {"X-Forwarded-For": reader}, peer=peer).status_code
            for reader in readers
        ]

    keys = FakeKeys()
    keys.add()
    service = replace(fake_service(keys=keys, limits=RequestLimits(ip=1)), proxies=PROXIES)
    assert statuses(service, "10.0.0.1") == [401, 401, 429]
    assert statuses(service, "192.0.2.1") == [401, 429, 429]


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    """The real parts over a library without a book, which is enough to be let in or not."""
    # However slow the machine, its database is no silent one.
    times = ServiceTimes(keys=KeyTimes(patience=60.0))
    core = Core(Settings(data_dir=tmp_path, port=free_port()), times)
    yield core
    core.close()


def knock(client: httpx.Client, secret: str = "") -> int:
    """Ask nothing, which is 422 for those who are let in."""
    headers = bearer(secret) if secret else {}
    return client.post("/ask", json={"question": ""}, headers=headers).status_code


def run(data_dir: Path, *words: str) -> str:
    """Run a command in this process."""
    environment = {"BYTHEBOOK_DATA_DIR": str(data_dir)}
    done = CliRunner().invoke(cli.app, words, env=environment)
    if isinstance(done.exception, ByTheBookError):
        return done.exception.what
    return done.output


def command(data_dir: Path, *words: str, code: int = 0) -> str:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bythebook", *words],
        env=os.environ | {"BYTHEBOOK_DATA_DIR": str(data_dir)},
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_keys_are_made_and_revoked_while_the_service_runs(core: Core) -> None:
    folder = core.settings.data_dir
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        assert knock(client) == 422
        made = json.loads(command(folder, "keys", "create", "--scope", "ask", "--json"))
        assert knock(client, made["key"]) == 422
        assert knock(client) == 401
        assert knock(client, made["key"][:-1]) == 401

        async def revoke() -> None:
            async with core.keys() as store:
                for key in await store.list():
                    await store.revoke(key.key_id, datetime.now(UTC))

        asyncio.run(revoke())
        time.sleep(core.times.keys.fresh)
        assert knock(client, made["key"]) == 401
        assert knock(client) == 401  # it does not open again with the last key gone


def test_the_command_shows_a_key_once_and_never_its_secret_again(tmp_path: Path) -> None:
    assert "There is no key" in run(tmp_path, "keys", "list")
    secret = run(
        tmp_path, "keys", "create", "--scope", "ask", "--origin", SITE, "--limit", "7", "--expires", "30d"
    ).split("\n")[1].strip()  # fmt: skip
    listed = run(tmp_path, "keys", "list")
    assert secret.startswith("btb_")
    assert secret not in listed
    assert secret[:12] in listed
    assert SITE in listed
    (key,) = json.loads(run(tmp_path, "keys", "list", "--json"))
    assert (key["origins"], key["limit"], key["state"]) == ([SITE], 7, "usable")
    assert not [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert "Revoked" in run(tmp_path, "keys", "revoke", secret)
    assert "already" in run(tmp_path, "keys", "revoke", key["prefix"])
    assert "already" in run(tmp_path, "keys", "revoke", key["id"])
    (key,) = json.loads(run(tmp_path, "keys", "list", "--json"))
    assert key["state"] == "revoked"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--origin", "https://site.example/page"], "not an origin"),
        (["--origin", "*"], "not an origin"),
        (["--book", "nothing"], "There is no book 'nothing'"),
        (["--expires", "2020-01-01"], "not in the future"),
        (["--expires", "soon"], "no time for a key to end"),
        (["--limit", "-1"], "--limit"),
    ],
)
def test_a_wrong_term_makes_no_key(words: list[str], message: str, tmp_path: Path) -> None:
    assert message in run(tmp_path, "keys", "create", "--scope", "ask", *words)
    assert json.loads(run(tmp_path, "keys", "list", "--json")) == []


def test_only_with_a_usable_key_does_the_service_listen_for_other_machines(core: Core) -> None:
    folder, port = core.settings.data_dir, core.settings.port
    listen = ["serve", "--host", "0.0.0.0", "--port", str(port)]
    assert "Make a key first" in command(folder, *listen, code=2)

    async def create(expires_at: datetime | None) -> str:
        async with core.keys() as store:
            return (
                await store.create(KeyTerms("ask", expires_at=expires_at), datetime.now(UTC))
            ).secret

    asyncio.run(create(datetime.now(UTC)))
    assert "Make a key first" in command(folder, *listen, code=2)
    secret = asyncio.run(create(None))
    process = subprocess.Popen(
        [sys.executable, "-m", "bythebook", *listen],
        env=os.environ | {"BYTHEBOOK_DATA_DIR": str(folder)},
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_for(client)
            assert (knock(client), knock(client, secret)) == (401, 422)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_for(client: httpx.Client) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            client.get("/livez")
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
