"""Sites that would harm: they are bounded, and never lead into a private network."""

import gzip
import re
import socket
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.adapters.books.site_server import Reply, ScriptedSite, serve_site

from bythebook.adapters.readers.site.limits import SiteLimits
from bythebook.adapters.readers.site.reader import SiteReader
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook

_LIMITS = SiteLimits(total_seconds=20, request_seconds=1, longest_retry_wait=0.05, retries=1)


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with serve_site(ScriptedSite()) as served:
        yield served


@pytest.fixture
def canary() -> Iterator[ScriptedSite]:
    """A server of the same machine that nobody allowed: nothing may come near it."""
    with serve_site(ScriptedSite()) as served:
        served.page("/", "Canary")
        yield served
        assert served.connections == 0
        assert not served.asked


def _reader(cache: Path, *hosts: str, limits: SiteLimits = _LIMITS) -> SiteReader:
    return SiteReader(cache, allowed_hosts=frozenset(hosts), limits=limits)


def _read(site: ScriptedSite, cache: Path, limits: SiteLimits = _LIMITS) -> SourceBook:
    reader = _reader(cache, site.host, limits=limits)
    return reader.read(f"{site.url}/", title=None, base_url=None)


def _reasons(book: SourceBook) -> list[str]:
    return [one.reason for one in book.skipped]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1",
        "017700000001", "127.0.0.1.", "localhost.", "[::1]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "0", "[::]",
        "127.0.0.1%2f", "127。0。0。1", "１２７.0.0.1", "user@127.0.0.1", "user:word@localhost",
        "example.org\\@127.0.0.1", "127.0.0.1\t", "[::1%25lo]",
    ],
)  # fmt: skip
def test_no_spelling_of_this_machine_reaches_it(
    canary: ScriptedSite, tmp_path: Path, host: str
) -> None:
    with pytest.raises(UnreadableBook) as raised:
        _reader(tmp_path).read(f"http://{host}:{canary.port}/", title=None, base_url=None)
    assert raised.value.help_message


def test_the_refusal_says_how_to_allow(canary: ScriptedSite, tmp_path: Path) -> None:
    with pytest.raises(UnreadableBook) as raised:
        _reader(tmp_path).read(f"{canary.url}/", title=None, base_url=None)
    assert (
        raised.value.help_message == f"To allow it, add {canary.host} to BYTHEBOOK_ALLOWED_HOSTS."
    )


def test_the_refusal_of_an_ipv6_address_names_what_is_accepted(tmp_path: Path) -> None:
    with pytest.raises(UnreadableBook) as raised:
        _reader(tmp_path).read("http://[::1]:9/", title=None, base_url=None)
    assert raised.value.help_message == "To allow it, add [::1]:9 to BYTHEBOOK_ALLOWED_HOSTS."
    with pytest.raises(UnreadableBook) as raised:
        _reader(tmp_path, "[::1]:9").read("http://[::1]:9/", title=None, base_url=None)
    assert "private network" not in raised.value.what


@pytest.mark.parametrize("allowed", ["{host}:1", "localhost", "127.0.0.2", "127.0.0", "0.0.1"])
def test_another_allowed_host_is_no_leave(
    canary: ScriptedSite, tmp_path: Path, allowed: str
) -> None:
    reader = _reader(tmp_path, allowed.format(host="127.0.0.1"))
    with pytest.raises(UnreadableBook):
        reader.read(f"{canary.url}/", title=None, base_url=None)


@pytest.mark.parametrize(
    "scheme", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/", "/etc"]
)
def test_only_the_web_is_read(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(UnreadableBook, match="not an http or https address"):
        _reader(tmp_path).read(scheme, title=None, base_url=None)


@pytest.mark.parametrize("all_ports", [False, True])
def test_redirects_sitemaps_links_and_frames_do_not_lead_to_another_port(
    site: ScriptedSite, canary: ScriptedSite, tmp_path: Path, all_ports: bool
) -> None:
    away = f"{canary.url}/"
    site.page("/", "Start", "", "hop", "protocol", "refresh", "base", away, f"//{canary.host}/")
    site.replies["/hop"] = Reply("", 302, headers={"Location": "/hop2"})
    site.replies["/hop2"] = Reply("", 307, headers={"Location": away})
    site.replies["/protocol"] = Reply("", 302, headers={"Location": f"//{canary.host}/"})
    site.replies["/refresh"] = Reply(f'<meta http-equiv="refresh" content="0;url={away}">')
    site.replies["/base"] = Reply(
        f'<base href="{away}"><link rel="canonical" href="{away}"><main><h1>Base</h1>'
        f'<a href="x">x</a></main><nav><iframe src="{away}toc.html"></iframe></nav>'
    )
    site.replies["/robots.txt"] = Reply(
        f"Sitemap: {away}sitemap.xml\nSitemap: {site.url}/map.xml", type="text/plain"
    )
    locations = "".join(
        f"<url><loc>{url}</loc></url>"
        for url in (away, "http://169.254.169.254/latest/", f"{site.url}/", f"{site.url}/base")
    )
    site.replies["/map.xml"] = Reply(
        f"<urlset>{locations}<sitemap><loc>{away}map.xml</loc></sitemap></urlset>", type="text/xml"
    )
    reader = _reader(tmp_path, "127.0.0.1" if all_ports else site.host)
    book = reader.read(f"{site.url}/", title=None, base_url=None)
    assert {one.document_id for one in book.documents} >= {"index", "base"}
    assert len([reason for reason in _reasons(book) if "redirects to another site" in reason]) == 2


def test_a_start_page_that_redirects_to_another_port_is_refused(
    site: ScriptedSite, canary: ScriptedSite, tmp_path: Path
) -> None:
    site.replies["/"] = Reply("", 301, headers={"Location": f"{canary.url}/"})
    with pytest.raises(UnreadableBook, match="redirects to another site"):
        _read(site, tmp_path)


def _script_resolver(
    monkeypatch: pytest.MonkeyPatch, answers: list[list[str]], port: int
) -> list[tuple[str, int]]:
    """Resolve names from a script, one answer per query, and record connections."""
    connected: list[tuple[str, int]] = []

    def resolve(host: str, _port: int, **_: object) -> list[tuple[object, ...]]:
        numbers = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in numbers]

    def connect(address: tuple[str, int], _timeout: float) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    return connected


@pytest.mark.parametrize(
    "numbers",
    [
        ["127.0.0.1"], ["10.1.2.3"], ["93.184.216.34", "192.168.0.1"], ["169.254.169.254"],
        ["100.64.0.1"], ["224.0.0.1"], ["::1"], ["fd00::1"], ["fe80::1%eth0"], ["64:ff9b::a00:1"],
        ["::ffff:10.0.0.1"], ["2002:a00:1::"], ["0.0.0.0"], ["255.255.255.255"], ["192.0.0.170"],
        ["2001:0:a00:1::"], ["ff02::1"],
    ],
)  # fmt: skip
def test_a_name_that_leads_into_a_private_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: list[str]
) -> None:
    connected = _script_resolver(monkeypatch, [numbers], 80)
    with pytest.raises(UnreadableBook, match="private network"):
        _reader(tmp_path).read("http://innocent.example/", title=None, base_url=None)
    assert connected == []


def test_a_name_is_resolved_once_and_the_connection_goes_to_that_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]]
    connected = _script_resolver(monkeypatch, answers, 80)
    with pytest.raises(UnreadableBook, match="cannot be read"):
        _reader(tmp_path).read("http://rebinding.example/", title=None, base_url=None)
    assert set(connected) == {("93.184.216.34", 80)}
    assert len(connected) > 1  # asked again, but the name was not


def test_proxies_of_the_environment_are_not_used(
    site: ScriptedSite, canary: ScriptedSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, canary.url)
    site.page("/", "Start")
    assert len(_read(site, tmp_path).documents) == 1


def test_pages_that_cannot_be_had_are_skipped_with_their_reasons(
    site: ScriptedSite, tmp_path: Path
) -> None:
    site.page("/", "Start", "", "gone", "broken", "big", "picture", "odd", "unknown", "good")
    site.replies["/gone"] = Reply("", 404)
    site.replies["/broken"] = Reply("", 500)
    site.replies["/big"] = Reply("<p>" + "x" * 200_000)
    site.replies["/picture"] = Reply(b"\x89PNG", type="image/png")
    site.replies["/odd"] = Reply(b"x", headers={"Content-Encoding": "br"})
    site.replies["/unknown"] = Reply("<p>x</p>", type="")
    site.page("/good", "Good")
    book = _read(site, tmp_path, replace(_LIMITS, page_bytes=100_000))
    assert [one.document_id for one in book.documents] == ["index", "good"]
    assert _reasons(book) == [
        "The server answered 404.",
        "The server answered 500.",
        "It is larger than 100,000 bytes.",
        "Its type is image/png, not a web page.",
        "Its encoding 'br' cannot be read.",
        "Its type is unknown, not a web page.",
    ]


def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    zeros = b"\0" * 1_000_000
    return b"".join(packer.compress(zeros) for _ in range(size // 1_000_000)) + packer.flush()


def test_a_compressed_bomb_is_cut(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "bomb", "damaged", "half")
    bomb = _bomb(100_000_000)
    site.replies["/bomb"] = Reply(bomb, headers={"Content-Encoding": "gzip"})
    site.replies["/damaged"] = Reply(b"no gzip", headers={"Content-Encoding": "gzip"})
    site.replies["/half"] = Reply(
        gzip.compress(b"<p>" + bytes(range(256)) * 50)[:-20], headers={"Content-Encoding": "gzip"}
    )
    site.replies["/sitemap.xml"] = Reply(bomb, type="application/gzip")
    book = _read(site, tmp_path)
    bombed, *others = _reasons(book)
    assert re.fullmatch(
        r"It is a decompression bomb: [\d,]{4,6} bytes inflate to more than 5,000,000\.", bombed
    )
    assert others == ["Its compression is damaged.", "It came in part only."]


def test_a_large_page_that_is_packed_is_no_bomb(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "large")
    words = "".join(f"<p>{number:x}</p>" for number in range(20_000)).encode()
    packed = gzip.compress(words)
    assert len(words) < 50 * len(packed)
    site.replies["/large"] = Reply(packed, headers={"Content-Encoding": "gzip"})
    book = _read(site, tmp_path, replace(_LIMITS, page_bytes=100_000))
    assert _reasons(book) == ["It is larger than 100,000 bytes."]


def _raw(*pieces: bytes, pause: float = 0.0, times: int = 1) -> object:
    def answer(answering: BaseHTTPRequestHandler) -> None:
        for _ in range(times):
            for piece in pieces:
                answering.wfile.write(piece)
                time.sleep(pause)

    return answer


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("pieces", "times"),
    [
        ((_HEAD + b"Content-Length: 1000\r\n\r\n", *[b"x"] * 600), 1),  # a body by drops
        ((_HEAD, *[b"X: y\r\n"] * 600), 1),  # headers by drops
        ((b"HTTP/1.1 100 Continue\r\n\r\n",), 600),  # no end of promises
        ((b"H", b"T", b"T", b"P", b"/", *[b"1"] * 600), 1),  # a status line by drops
    ],
)
def test_a_server_that_drips_is_cut(
    site: ScriptedSite, tmp_path: Path, pieces: tuple[bytes, ...], times: int
) -> None:
    site.page("/", "Start", "", "slow", "good")
    slow = _raw(*pieces, pause=0.1, times=times)
    assert callable(slow)
    site.replies["/slow"] = slow
    site.page("/good", "Good")
    book = _read(site, tmp_path, replace(_LIMITS, request_seconds=1.5))
    assert [one.document_id for one in book.documents] == ["index", "good"]
    assert _reasons(book) == ["No complete response came within 1.5 seconds."]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"rubbish\r\n\r\n",
        _HEAD + b"Content-Length: 1000\r\n\r\n<p>half",
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n<p>ha\r\nFFF\r\nx",
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        _HEAD + b"Content-Length: -5\r\n" + b"A: b\r\n" * 200 + b"\r\n",
    ],
)
def test_a_cut_connection_is_retried_and_reported(
    site: ScriptedSite, tmp_path: Path, answer: bytes
) -> None:
    site.page("/", "Start", "", "cut")
    cut = _raw(answer)
    assert callable(cut)
    site.replies["/cut"] = cut
    book = _read(site, tmp_path)
    assert [one.document_id for one in book.documents] == ["index"]
    assert _reasons(book) == ["The connection was cut or refused."]
    assert 2 <= site.paths.count("/cut") <= 4


def test_a_server_that_stops_answering_ends_the_run(site: ScriptedSite, tmp_path: Path) -> None:
    silent = _raw(b"", pause=3.0)
    assert callable(silent)
    site.page("/", "Start", "", *(f"p{number}" for number in range(60)))
    for number in range(60):
        site.replies[f"/p{number}"] = silent
    limits = replace(_LIMITS, request_seconds=1.0, failures_in_a_row=4)
    book = _read(site, tmp_path, limits)
    assert book.warnings == (
        "The server did not answer 4 requests in a row. 56 known pages were not read.",
    )


def test_a_run_ends_in_time(site: ScriptedSite, tmp_path: Path) -> None:
    slow = _raw(_HEAD + b"Content-Length: 12\r\n\r\n", b"<p>words</p>", pause=0.1)
    assert callable(slow)
    site.page("/", "Start", "", *(f"p{number}" for number in range(60)))
    for number in range(60):
        site.replies[f"/p{number}"] = slow
    book = _read(site, tmp_path, replace(_LIMITS, total_seconds=3.0))
    assert "The limit of 3 seconds was reached." in book.warnings[0]
    assert len(site.paths) < 60


def test_hostile_rules_and_pages_take_bounded_time(site: ScriptedSite, tmp_path: Path) -> None:
    rules = "".join(f"User-agent: a{number}\n" for number in range(9_000))
    rules += "".join(f"Disallow: /*{'a*' * 9}{number}$\n" for number in range(9_000))
    site.replies["/robots.txt"] = Reply(rules, type="text/plain")
    site.page("/", "Start", "", "deep", "wide", "links", "odd")
    site.replies["/deep"] = Reply("<div class='toc'>" * 200 + "<h2>x</h2>words" * 9_000)
    site.replies["/wide"] = Reply("<nav><aside><a href='x'>x</a>" * 100 + "<li><a href=y>y" * 9_000)
    site.replies["/links"] = Reply(
        "<main><h1>Links</h1>"
        + "".join(
            f"<a href='/links?{number}#{number}'>Edit this page</a>" for number in range(15_000)
        )
    )
    site.replies["/odd"] = Reply(b"\xff\xfe\0\0<<<>>>&#0;&#xFFFFFF;<p id='\0'>" + b"\x80" * 999)
    began = time.process_time()
    book = _read(site, tmp_path, replace(_LIMITS, pages=10))
    read = [_try(document.read) for document in book.documents]
    assert time.process_time() - began < 120  # without bounds it takes hours
    assert len(read) >= 2


def _try(read: object) -> object:
    assert callable(read)
    try:
        return read()
    except UnreadableBook as error:
        return error
