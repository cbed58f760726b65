"""Providers on loopback: they read requests as strictly as the real ones, and can misbehave.

    with provider_stub() as stub:
        stub.script("/v2/embed", Reply(429, headers={"Retry-After": "7"}))
        ... # point an SDK at stub.url; the scripted replies come first, then good answers
        assert stub.violations == []

A reply may be a function of the request. What is not scripted and has no good answer of its own is
answered with 404. Other kinds of requests are taught by `stub.answers[path] = function`.
"""

import hashlib
import json
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import numpy as np

End = Literal["whole", "cut", "stall"]


@dataclass(frozen=True)
class Seen:
    """A request as it came over the socket."""

    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any
    port: int = 0  # of the client: the same for requests over one connection
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Reply:
    """An answer: JSON, raw bytes, or pieces with pauses before them; whole or broken off."""

    status: int = 200
    body: Any = None  # bytes go as they are, anything else as JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Sequence[tuple[float, bytes]] | None = None  # (seconds to wait, what is sent)
    end: End = "whole"  # cut: the connection breaks in the middle; stall: nothing more comes
    delay: float = 0.0  # seconds before the first byte


Answer = Callable[[Seen], Reply]


class ProviderStub:
    """One server on loopback for all providers, distinguished by their paths."""

    def __init__(self, *, dimensions: Mapping[str, int] | None = None) -> None:
        self.dimensions = {
            "embed-english-v3.0": 1024,
            "embed-multilingual-v3.0": 1024,
            "text-embedding-3-small": 1536,
            **(dimensions or {}),
        }
        self.requests: list[Seen] = []
        self.violations: list[str] = []
        self.answers: dict[str, Answer] = {
            "/v2/embed": self._cohere,
            "/v1/embeddings": self._openai,
        }
        self.closing = threading.Event()
        self._scripts: dict[str, deque[Reply | Answer]] = defaultdict(deque)
        self._always: dict[str, Reply | Answer] = {}
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._port}"

    def script(self, path: str, *replies: Reply | Answer) -> None:
        """Answer the next requests so, in this order."""
        self._scripts[path].extend(replies)

    def always(self, path: str, reply: Reply | Answer | None) -> None:
        """Answer every request so, once the script is at its end; None: well again."""
        self._always.pop(path, None)
        if reply is not None:
            self._always[path] = reply

    def requests_to(self, path: str) -> list[Seen]:
        """Give the requests to a path."""
        return [request for request in self.requests if request.path == path]

    def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        stub = self

        class Handler(_Handler):
            provider = stub

        self._server = _Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Listen no longer: connections are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, request: Seen) -> Reply:
        """Choose the reply, and note the request."""
        self.requests.append(request)
        script = self._scripts[request.path]
        chosen = script.popleft() if script else self._always.get(request.path)
        if chosen is None or not isinstance(chosen, Reply):
            chosen = chosen or self.answers.get(request.path)
            return chosen(request) if chosen else Reply(404, {"message": "no such path"})
        self._require_shape(request)  # a provider that misbehaves still gets good requests
        return chosen

    def vectors(self, texts: Sequence[str], model: str) -> list[list[float]]:
        """Give the vectors of texts: the same text, the same vector."""
        return [stub_vector(text, self.dimensions[model]) for text in texts]

    def _require_shape(self, request: Seen) -> str | None:
        check = {"/v2/embed": cohere_embed_fault, "/v1/embeddings": openai_embed_fault}
        fault = check[request.path](request) if request.path in check else None
        if fault:
            self.violations.append(fault)
        return fault

    def _cohere(self, request: Seen) -> Reply:
        if fault := self._require_shape(request):
            return Reply(400, {"id": "stub", "message": f"invalid request: {fault}"})
        asked = request.body
        if asked["model"] not in self.dimensions:
            return Reply(404, {"id": "stub", "message": f"model '{asked['model']}' not found"})
        return Reply(body=cohere_body(asked["texts"], self.vectors(asked["texts"], asked["model"])))

    def _openai(self, request: Seen) -> Reply:
        if fault := self._require_shape(request):
            return Reply(400, _openai_error("invalid_request_error", fault))
        asked = request.body
        if asked["model"] not in self.dimensions:
            return Reply(404, _openai_error("model_not_found", "The model does not exist"))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        vectors = self.vectors(texts, asked["model"])
        return Reply(body=openai_body([row[: asked.get("dimensions")] for row in vectors]))


@contextmanager
def provider_stub(**more: Any) -> Iterator[ProviderStub]:
    """Run a stub for the length of a with block."""
    stub = ProviderStub(**more)
    stub.start()
    try:
        yield stub
    finally:
        stub.closing.set()
        stub.stop()


def stub_vector(text: str, dimension: int) -> list[float]:
    """Give a vector of a text, far from those of other texts."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    numbers: list[float] = np.random.default_rng(seed).normal(size=dimension).round(6).tolist()
    return numbers


def cohere_body(texts: Sequence[str], vectors: Any) -> dict[str, Any]:
    """Write an answer of /v2/embed."""
    return {
        "id": "stub",
        "response_type": "embeddings_by_type",
        "embeddings": {"float": vectors},
        "texts": list(texts),
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}},
    }


def openai_body(vectors: Sequence[Any], places: Sequence[int] | None = None) -> dict[str, Any]:
    """Write an answer of /v1/embeddings."""
    order = range(len(vectors)) if places is None else places
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in zip(order, vectors, strict=True)
        ],
        "model": "stub",
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def cohere_embed_fault(request: Seen) -> str | None:
    """Say what Cohere's reference for POST /v2/embed would not take."""
    body = request.body
    if fault := _sender_fault(request):
        return fault
    known = {
        "model", "input_type", "texts", "images", "inputs", "max_tokens", "output_dimension",
        "embedding_types", "truncate", "priority",
    }  # fmt: skip
    if not isinstance(body, dict) or set(body) - known:
        return "unknown fields"
    if not isinstance(body.get("model"), str):
        return "model is required"
    kinds = {"search_document", "search_query", "classification", "clustering", "image"}
    if body.get("input_type") not in kinds:
        return "input_type is not valid"
    if not _are_texts(body.get("texts"), most=96):
        return "texts must be 1 to 96 strings"
    types = body.get("embedding_types", ["float"])
    if not isinstance(types, list) or set(types) - {
        "float", "int8", "uint8", "binary", "ubinary", "base64",
    }:  # fmt: skip
        return "embedding_types is not valid"
    if body.get("truncate", "END") not in {"NONE", "START", "END"}:
        return "truncate is not valid"
    return None


def openai_embed_fault(request: Seen) -> str | None:
    """Say what OpenAI's reference for POST /v1/embeddings would not take."""
    body = request.body
    if fault := _sender_fault(request):
        return fault
    known = {"model", "input", "encoding_format", "dimensions", "user"}
    if not isinstance(body, dict) or set(body) - known:
        return "unknown fields"
    if not isinstance(body.get("model"), str):
        return "model is required"
    given = body.get("input")
    if not _are_texts([given] if isinstance(given, str) else given, most=2048):
        return "input must be a string or 1 to 2048 strings, none of them empty"
    if body.get("encoding_format", "float") not in {"float", "base64"}:
        return "encoding_format is not valid"
    dimensions = body.get("dimensions", 1)
    if type(dimensions) is not int or dimensions < 1:
        return "dimensions is not valid"
    return None


def _sender_fault(request: Seen) -> str | None:
    if request.method != "POST":
        return "the method must be POST"
    if not request.headers.get("authorization", "").startswith("Bearer "):
        return "no bearer token"
    if not request.headers.get("content-type", "").startswith("application/json"):
        return "the content type must be application/json"
    return None


def _are_texts(value: object, *, most: int) -> bool:
    return (
        isinstance(value, list)
        and 1 <= len(value) <= most
        and all(isinstance(text, str) and text for text in value)
    )


def _openai_error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients of tests leave when they like."""


class _Handler(BaseHTTPRequestHandler):
    provider: ProviderStub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._reply(self.provider.answer(self._read_request(raw)))

    def do_GET(self) -> None:
        self._reply(self.provider.answer(self._read_request(b"")))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _read_request(self, raw: bytes) -> Seen:
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = raw
        return Seen(
            self.command, self.path.partition("?")[0], headers, body, self.client_address[1]
        )

    def _reply(self, reply: Reply) -> None:
        if self._waits(reply.delay):
            return
        if reply.pieces is None:
            raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self._send(
                reply, [(0.0, raw if reply.end == "whole" else raw[: len(raw) // 2])], len(raw)
            )
        else:
            self._send(reply, reply.pieces, None)

    def _send(
        self, reply: Reply, pieces: Sequence[tuple[float, bytes]], length: int | None
    ) -> None:
        self.send_response(reply.status)
        kind = "text/event-stream" if length is None else "application/json"
        headers = {"Content-Type": kind, **reply.headers}
        if length is None:
            headers["Transfer-Encoding"] = "chunked"
        else:
            headers["Content-Length"] = str(length)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for seconds, piece in pieces:
            if self._waits(seconds):
                return
            self.wfile.write(piece if length is not None else _chunk(piece))
            self.wfile.flush()
        self._finish(reply.end, is_chunked=length is None)

    def _finish(self, end: End, *, is_chunked: bool) -> None:
        if end == "stall":
            self.provider.closing.wait(600)
        if end != "whole":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _waits(self, seconds: float) -> bool:
        """Wait, and say whether the stub closed meanwhile."""
        if seconds and self.provider.closing.wait(seconds):
            self.close_connection = True
            return True
        return False


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
