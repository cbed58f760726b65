"""A real web server on loopback that answers as a script tells it."""

import hashlib
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer."""

    body: str | bytes = ""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


Script = Callable[[BaseHTTPRequestHandler], None]


@dataclass(slots=True)
class ScriptedSite:
    """What a server answers, and what it was asked."""

    replies: dict[str, Reply | Script] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def paths(self) -> list[str]:
        """The paths asked for, without those of robots.txt and the sitemap."""
        usual = {"/robots.txt", "/sitemap.xml"}
        return [path for path, _ in self.asked if path not in usual]

    def page(self, path: str, title: str, text: str = "", *links: str) -> None:
        """Script a page with links in its article."""
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        self.replies[path] = Reply(
            f"<html><head><title>{title} | A Site</title></head><body><main><h1>{title}</h1>"
            f"<p>{text or f'All about {title}.'}</p><p>{anchors}</p></main></body></html>"
        )


def _make_handler(site: ScriptedSite) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            site.connections += 1
            super().setup()

        def do_GET(self) -> None:
            site.asked.append((self.path, dict(self.headers.items())))
            reply = site.replies.get(self.path, Reply("nothing here", 404))
            if not isinstance(reply, Reply):
                self.close_connection = True
                reply(self)
                return
            tag = f'"{hashlib.sha256(reply.content).hexdigest()[:12]}"'
            fresh = reply.status == 200 and self.headers.get("If-None-Match") == tag
            self.answer(Reply(b"", 304) if fresh else reply, tag)

        def answer(self, reply: Reply, tag: str) -> None:
            site.answered.append(reply.status)
            self.send_response(reply.status)
            headers = {"Content-Type": reply.type, "ETag": tag}
            if reply.status != 304:
                headers["Content-Length"] = str(len(reply.content))
            for name, value in (headers | dict(reply.headers)).items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, *_: object) -> None:
            pass

    return Answering


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""


@contextmanager
def serve_site(site: ScriptedSite, tls: ssl.SSLContext | None = None) -> Iterator[ScriptedSite]:
    """Serve a script on a free port."""
    server = _Server(("127.0.0.1", 0), _make_handler(site))
    site.port = server.server_address[1]
    if tls:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
