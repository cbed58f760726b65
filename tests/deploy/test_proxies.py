"""The recipes for Caddy and nginx, by the real programs: streams are passed on as they come."""

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.conftest import eventually, free_port

DEPLOY = Path(__file__).parents[2] / "deploy"


class Upstream(BaseHTTPRequestHandler):
    """Sends an event, and the next one only once the first has arrived."""

    arrived: threading.Event
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say that it is ready, and who asks."""
        body = self.headers.get("X-Forwarded-For", "").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Stream two events."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._write(b"event: status\ndata: {}\n\n")
        if self.arrived.wait(60):
            self._write(b"event: done\ndata: {}\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@contextmanager
def serve_upstream() -> Iterator[tuple[int, threading.Event]]:
    arrived = threading.Event()
    handler = type("Handler", (Upstream,), {"arrived": arrived})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1], arrived
    finally:
        arrived.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def run_caddy(upstreams: list[int], folder: Path) -> Iterator[str]:
    port = free_port()
    environment = os.environ | {
        "SITE": f"http://127.0.0.1:{port}",
        "UPSTREAMS": " ".join(f"127.0.0.1:{one}" for one in upstreams),
        "CADDY_ADMIN": f"127.0.0.1:{free_port()}",
        "HOME": str(folder),
    }
    config = str(DEPLOY / "caddy" / "Caddyfile")
    command = [require("caddy"), "run", "--config", config, "--adapter", "caddyfile"]
    with run(command, port, environment):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def run_nginx(upstreams: list[int], folder: Path) -> Iterator[str]:
    port = free_port()
    recipe = (DEPLOY / "nginx" / "bythebook.conf").read_text("utf-8")
    recipe = re.sub(r"^\s*ssl_.*\n", "", recipe, flags=re.MULTILINE)
    recipe = recipe.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    servers = "".join(f"server 127.0.0.1:{one} max_fails=2 fail_timeout=2s;\n" for one in upstreams)
    recipe = re.sub(r"^\s*server 127\.0\.0\.1:8000.*\n", servers, recipe, flags=re.MULTILINE)
    places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    temporary = "".join(f"{name}_temp_path {folder / name};\n" for name in places)
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder / 'pid'}; error_log stderr;\nevents {{}}\n"
        f"http {{ access_log off;\n{temporary}{recipe}}}\n"
    )
    with run([require("nginx"), "-p", str(folder), "-c", str(config)], port, dict(os.environ)):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def run(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: accepts(port) or process.poll() is not None)
        assert process.poll() is None, "the proxy did not start with the recipe"
        yield
    finally:
        process.terminate()
        process.wait(60)


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def require(program: str) -> str:
    place = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if place is None:
        if os.environ.get("CI"):
            pytest.fail(f"{program} must be there in CI: run tools/install_test_packages.sh")
        pytest.skip(f"{program} is not installed: run tools/install_test_packages.sh as root")
    return place


RunProxy = Callable[[list[int], Path], AbstractContextManager[str]]
PROXIES = pytest.mark.parametrize("run_proxy", [run_caddy, run_nginx], ids=["caddy", "nginx"])


@PROXIES
def test_a_stream_is_passed_on_as_it_comes(run_proxy: RunProxy, tmp_path: Path) -> None:
    with (
        serve_upstream() as (port, arrived),
        run_proxy([port], tmp_path) as url,
        httpx.stream("POST", f"{url}/chat/stream", json={"message": "Hi?"}, timeout=60) as reply,
    ):
        lines = reply.iter_lines()
        assert next(lines) == "event: status"  # though the upstream still waits
        arrived.set()
        assert "event: done" in list(lines)


@PROXIES
def test_the_readers_address_is_forwarded(run_proxy: RunProxy, tmp_path: Path) -> None:
    with serve_upstream() as (port, _), run_proxy([port], tmp_path) as url:
        assert httpx.get(f"{url}/", timeout=60).text == "127.0.0.1"
        forged = httpx.get(f"{url}/", headers={"X-Forwarded-For": "203.0.113.9"}, timeout=60)
        assert forged.text == "127.0.0.1"


@PROXIES
def test_a_process_that_is_away_costs_no_request(run_proxy: RunProxy, tmp_path: Path) -> None:
    with serve_upstream() as (port, arrived), run_proxy([free_port(), port], tmp_path) as url:
        arrived.set()
        for _ in range(10):
            reply = httpx.post(f"{url}/chat/run", json={"message": "Hi?"}, timeout=60)
            assert reply.status_code == 200
