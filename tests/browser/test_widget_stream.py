"""Streams as proxies leave them: cut into bytes, gathered, with other line ends, broken off."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

import pytest
from tests.browser.browser import watch
from tests.browser.widget_pages import (
    ANSWERED,
    PARTIAL,
    answer_text,
    ask,
    ask_and_wait,
    chat,
    host_page,
    script,
)
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

_EVENTS = "text/event-stream"
MOST_SHIFT = 0.02
SENTENCE = ".body :is(.key, .context)"


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to the service, and what it streams in its own way."""

    protocol_version = "HTTP/1.1"
    port: ClassVar[int]
    way: ClassVar[str]
    left: ClassVar[threading.Event]  # set once a reader has gone away in mid-stream

    def do_GET(self) -> None:
        if self.path == "/host":
            shown = host_page("<h1>Page</h1>").replace("</body>", f"{script(book=SAMPLE)}</body>")
            self._whole(200, "text/html", shown.encode())
        else:
            self._whole(*self._pass_on(self.path, b""))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/chat/stream":
            self._whole(*self._pass_on(self.path, body))
        elif self.way == "json":
            self._whole(*self._pass_on("/chat/run", body))
        else:
            self._stream(self._pass_on(self.path, body)[2])

    def _stream(self, sent: bytes) -> None:
        first = sent.index(b"event: content")
        first = sent.index(b"\n\n", first) + 2
        match self.way:
            case "gathered":
                self._whole(200, _EVENTS, sent)
            case "no type":
                self._whole(200, "application/octet-stream", sent)
            case "error page":
                self._whole(200, "text/html", b"<h1>Please log in</h1>")
            case "no last line":
                self._pieces([sent.rstrip(b"\n")])
            case "bytes":
                self._pieces(sent[at : at + 1] for at in range(len(sent)))
            case "crlf":
                marked = sent.replace(b"\n\n", b"\n\n: a sign of life\n\n").replace(b"\n", b"\r\n")
                self._pieces(piece + b"\r" for piece in marked.split(b"\r"))  # between CR and LF
            case "cr":
                self._pieces(
                    [
                        b"\xef\xbb\xbf",
                        *(sent.replace(b"\n", b"\r")[at : at + 7] for at in range(0, len(sent), 7)),
                    ]
                )
            case "broken off":
                self._pieces([sent[:first], sent[first : first + 20]], whole=False)
            case "stalled":
                self._pieces([sent[:first]], whole=False, stall=True)

    def _pieces(
        self, pieces: "Iterator[bytes] | list[bytes]", *, whole: bool = True, stall: bool = False
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", _EVENTS)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in filter(None, pieces):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if not whole:
            time.sleep(0.5)  # a browser drops what it has not read when a connection breaks
        if stall:
            self.connection.settimeout(120)
            if self.rfile.read(1) == b"":
                self.left.set()
        if whole:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _whole(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _pass_on(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        upstream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        kind = {"Content-Type": "application/json"} if body else {}
        upstream.request(self.command, path, body or None, kind)
        reply = upstream.getresponse()
        read = reply.status, reply.headers["Content-Type"], reply.read()
        upstream.close()
        return read

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy(service: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A proxy before the service, of the way that the test names."""
    Proxy.port, Proxy.way = int(service.rpartition(":")[2]), request.param
    Proxy.left = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def open_behind(page: "Page", proxy: str) -> None:
    page.goto(f"{proxy}/host")
    page.wait_for_selector("bythebook-ask", state="attached")
    page.keyboard.press("/")


@pytest.mark.parametrize(
    "proxy",
    ["bytes", "crlf", "cr", "gathered", "no type", "no last line", "json"],
    indirect=True,
)
def test_the_answer_is_the_same_however_the_stream_comes(
    page: "Page", service: str, proxy: str
) -> None:
    seen = watch(page, proxy)
    expected = chat(service, PARTIAL)
    assert not json.dumps(expected["disclaimer"], ensure_ascii=False).isascii()  # “ is three bytes
    open_behind(page, proxy)
    turn = ask_and_wait(page, PARTIAL)
    assert turn.locator(".opening p").inner_text() == expected["disclaimer"]
    assert answer_text(turn) == " ".join(" ".join(expected["sentences"]).split())
    assert turn.locator(".numeral").count() == len(expected["key_sentences"])
    assert turn.locator(".confidence").count() == 1
    seen.clean()


@pytest.mark.parametrize("proxy", ["bytes"], indirect=True)
@pytest.mark.parametrize("width", [375, 1440])
def test_nothing_moves_while_an_answer_grows(page: "Page", proxy: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(one => "
        "{ window.shifts += one.value; })).observe({type: 'layout-shift', buffered: true});"
    )
    open_behind(page, proxy)
    ask_and_wait(page, ANSWERED)
    assert page.evaluate("window.shifts") <= MOST_SHIFT


@pytest.mark.parametrize("proxy", ["error page"], indirect=True)
def test_what_is_no_answer_is_not_shown_as_one(page: "Page", proxy: str) -> None:
    open_behind(page, proxy)
    turn = ask_and_wait(page, ANSWERED)
    assert "connection was cut" in turn.locator(".card.failed").inner_text()
    assert "log in" not in turn.inner_text()


@pytest.mark.parametrize("proxy", ["broken off"], indirect=True)
def test_a_stream_that_breaks_off_keeps_what_was_verified_and_says_so(
    page: "Page", proxy: str
) -> None:
    open_behind(page, proxy)
    turn = ask_and_wait(page, PARTIAL)
    turn.get_by_text("The connection was cut").wait_for()
    assert turn.locator(SENTENCE).count() == 1
    assert turn.locator(".confidence").count() == 0
    turn.get_by_role("button", name="Try again").wait_for()


@pytest.mark.parametrize("proxy", ["stalled"], indirect=True)
def test_stopping_keeps_what_was_verified_and_leaves_the_service(page: "Page", proxy: str) -> None:
    open_behind(page, proxy)
    turn = ask(page, PARTIAL)
    turn.locator(SENTENCE).wait_for()
    assert turn.locator(".confidence").count() == 0
    page.get_by_role("button", name="Stop").click()
    assert "What stands here is verified" in turn.locator(".foot").inner_text()
    assert turn.locator(SENTENCE).count() == 1
    assert Proxy.left.wait(10)
    turn.get_by_role("button", name="Ask again").wait_for()
