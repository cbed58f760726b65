"""A service without keys is open to this machine only: not through proxies, not to other sites."""

import contextlib
import http.client
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.conftest import free_port, serve_core
from tests.contracts.access.test_access import (
    FREE,
    GUARDED,
    bearer,
    every_contract,
    require_failure,
    send,
)
from tests.contracts.fakes import (
    BROKEN_BODIES,
    JSON,
    FakeEmbedder,
    FakeIndex,
    FakeKeys,
    fake_service,
)

from bythebook.bootstrap import Core
from bythebook.http.app import Service
from bythebook.http.contracts import health
from bythebook.operate.access.gate import RequestLimits
from bythebook.settings import Settings

THROUGH_A_PROXY = {
    "X-Forwarded-For": "198.51.100.7",
    "X-Forwarded-Host": "ask.example.org",
    "X-Forwarded-Proto": "https",
    "Forwarded": "for=198.51.100.7;host=ask.example.org",
    "X-Real-IP": "198.51.100.7",
    "Via": "1.1 proxy.example.org",
}
MAKE_A_KEY = "`bythebook keys create --scope ask`"
OTHER_SITES = {
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "another port": {"Sec-Fetch-Site": "same-site"},
    "something new": {"Sec-Fetch-Site": "unheard-of"},
    "another site, which sends": {"Origin": "https://elsewhere.example"},
    "another port, which sends": {"Origin": "http://reader.test:3000"},
    "a page without an origin": {"Origin": "null"},
    "a proxy's page": {"Sec-Fetch-Site": "same-origin", "Origin": "https://ask.example.org"},
    "a broken origin": {"Origin": "http://[reader.test"},
}
OWN_PAGES = {
    "a program": {},
    "a page of ours": {"Sec-Fetch-Site": "same-origin"},
    "a page of ours, which sends": {
        "Sec-Fetch-Site": "same-origin",
        "Origin": "http://reader.test",
    },
    "a page of ours in an old browser": {"Origin": "http://READER.test"},
    "a form of ours": {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    "an address that was typed": {"Sec-Fetch-Site": "none"},
}
QUESTION = "What <is> it?"
LINKS = {"/": "Ask", "/read/tales": "Search"}


@pytest.fixture
def keys() -> FakeKeys:
    return FakeKeys()


@pytest.fixture
def service(keys: FakeKeys) -> Service:
    return fake_service(keys=keys)


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    """The real parts over a library without a book."""
    core = Core(Settings(data_dir=tmp_path, port=free_port()))
    yield core
    core.close()


@every_contract
def test_without_keys_nobody_is_answered_through_a_proxy(contract: str, service: Service) -> None:
    for name, value in THROUGH_A_PROXY.items():
        reply = send(service, GUARDED[contract], {"Host": "127.0.0.1:8000", name: value})
        require_failure(contract, reply, 403)
        assert MAKE_A_KEY in reply.text


def test_without_keys_no_route_but_health_is_open_through_a_proxy(service: Service) -> None:
    paths = [path.replace("{book_id}", "tales") for path in FREE]
    for path in (*paths, "/metrics", "/admin/overview", "/nothing"):
        for name, value in THROUGH_A_PROXY.items():
            status = send(service, ("GET", path, None), {name: value}).status_code
            assert status == (200 if path in health.PATHS else 403), path


@pytest.mark.parametrize("path", ["/", "/?q=What", "/read/tales", "/docs", "/admin", "/nothing"])
def test_without_keys_people_behind_a_proxy_see_a_page_that_says_what_to_do(
    path: str, service: Service
) -> None:
    for name, value in THROUGH_A_PROXY.items():
        given = {name: value, "Accept": "text/html,application/xhtml+xml"}
        reply = send(service, ("GET", path, None), given)
        assert reply.status_code == 403
        assert reply.headers["Content-Type"].startswith("text/html")
        assert MAKE_A_KEY in reply.text


def test_without_keys_nothing_of_a_request_through_a_proxy_is_read(service: Service) -> None:
    for body in (*BROKEN_BODIES.values(), b" " * 300_000):
        reply = send(service, GUARDED["A"], {**JSON, "Via": "1.1 proxy"}, body)
        require_failure("A", reply, 403)


@every_contract
def test_with_a_key_a_proxy_is_as_good_as_any_other_way(
    contract: str, keys: FakeKeys, service: Service
) -> None:
    secret = keys.add()
    reply = send(service, GUARDED[contract], {**bearer(secret), **THROUGH_A_PROXY})
    assert reply.status_code not in {401, 403, 429}
    require_failure(contract, send(service, GUARDED[contract], THROUGH_A_PROXY), 401)


def test_without_keys_the_way_nginx_speaks_by_default_is_a_proxys(core: Core) -> None:
    def status(version: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", core.settings.port, timeout=60)
        connection._http_vsn, connection._http_vsn_str = version, f"HTTP/1.{version % 10}"  # type: ignore[attr-defined]
        with contextlib.closing(connection):
            connection.request("GET", "/openapi.json")
            return connection.getresponse().status

    with serve_core(core):
        assert (status(11), status(10)) == (200, 403)


@every_contract
def test_without_keys_no_page_of_another_site_is_answered(contract: str, service: Service) -> None:
    for whose, headers in OTHER_SITES.items():
        reply = send(service, GUARDED[contract], headers)
        assert reply.status_code == 403, whose
        require_failure(contract, reply, 403)
        assert "bythebook keys create --scope ask --origin" in reply.text


@every_contract
def test_without_keys_own_pages_and_programs_are_answered(contract: str, service: Service) -> None:
    for whose, headers in OWN_PAGES.items():
        status = send(service, GUARDED[contract], headers).status_code
        assert status not in {401, 403}, whose


@pytest.mark.parametrize("headers", OTHER_SITES.values(), ids=OTHER_SITES)
@pytest.mark.parametrize("path", LINKS)
def test_a_link_on_another_site_fills_the_field_and_asks_nothing(
    path: str, headers: dict[str, str]
) -> None:
    index, embedder = FakeIndex(), FakeEmbedder()
    service = fake_service(index=index, embedder=embedder, limits=RequestLimits(ip=1))
    asked = f"{path}?q={quote(QUESTION)}"
    for _ in range(3):
        reply = send(service, ("GET", asked, None), headers)
        assert reply.status_code == 200
        assert f'value="{escape(QUESTION)}"' in reply.text
        assert f"Press {LINKS[path]} to go on." in reply.text
        assert reply.headers["Cache-Control"] == "no-store"
    assert (index.calls, embedder.calls) == (0, 0)
    reply = send(service, ("GET", asked, None), {"Sec-Fetch-Site": "same-origin"})
    assert reply.status_code == 200  # what other sites did is not counted
    assert index.calls == 1
    assert "to go on." not in reply.text


@pytest.mark.parametrize("headers", OWN_PAGES.values(), ids=OWN_PAGES)
@pytest.mark.parametrize("path", LINKS)
def test_a_link_that_the_reader_opens_is_asked(path: str, headers: dict[str, str]) -> None:
    index = FakeIndex()
    send(fake_service(index=index), ("GET", f"{path}?q={quote(QUESTION)}", None), headers)
    assert index.calls == 1


def test_without_keys_other_sites_can_still_link_to_pages_and_load_the_widget(
    service: Service,
) -> None:
    for path in ("/", "/read/tales", "/docs", "/widget.js", "/admin"):
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert send(service, ("GET", path, None), headers).status_code == 200


@every_contract
def test_with_keys_other_sites_are_let_in_by_their_key(
    contract: str, keys: FakeKeys, service: Service
) -> None:
    site = {"Sec-Fetch-Site": "cross-site", "Origin": "https://site.example"}
    secret = keys.add(origins=("https://site.example",))
    reply = send(service, GUARDED[contract], bearer(secret, **site))
    assert reply.status_code not in {401, 403}
    assert reply.headers["Access-Control-Allow-Origin"] == "https://site.example"
    require_failure(contract, send(service, GUARDED[contract], site), 401)
