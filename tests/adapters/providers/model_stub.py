"""A chat-completions server on loopback that answers by a script, and rejects invalid requests."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_type_hints

from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

KEY = "sk-stub-3f9a17c2d4"
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
_NUMBERED = re.compile(r"^\[(\d+)\] (.*?)(?=^\[|^\(from: |^<|\Z)", re.DOTALL | re.MULTILINE)
_OF_OPENROUTER = {"usage"}  # asks for the price; not a parameter of OpenAI


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted answer: an ordinary stream, unless scripted to misbehave."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None  # JSON in the place of a stream
    end: str | None = "stop"  # the finish_reason; none: the stream is cut before it
    piece: int = 12  # characters in a chunk
    stall_after: int | None = None  # chunks
    tool_calls: Sequence[tuple[str, Mapping[str, object]]] = ()
    error_chunk: Mapping[str, object] | None = None  # in the place of the end
    usage: Mapping[str, object] | None = field(default_factory=lambda: dict(USAGE))
    broken_frame: bool = False  # the connection is cut within a chunk
    hang_up: bool = False  # at once, without a word


Script = Callable[[dict[str, Any]], Answer]


class ModelStub:
    """What the server was asked, and what it answers next; the last answer is given again."""

    def __init__(self) -> None:
        self.answers: list[Answer | Script] = [Answer("NONE")]
        self.requests: list[dict[str, Any]] = []
        self.times: list[float] = []  # of the requests, in seconds
        self.faults: list[str] = []  # of requests
        self.stopped = threading.Event()
        self.port = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def will(self, *answers: Answer | Script) -> None:
        """Script the next answers, and reset the count."""
        with self._lock:
            self.answers = list(answers)
            self.requests.clear()
            self.times.clear()

    def next(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(request)
            self.times.append(time.monotonic())
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Answer) else answer(request)

    def prompt(self, call: int = -1) -> str:
        """All that a call was given to read."""
        return "\n".join(str(m.get("content")) for m in self.requests[call]["messages"])


def answer_text(*lines: tuple[str, Sequence[int]]) -> str:
    """Write lines that end in the numbers of their sentences; none for no line."""
    written = (f"{text} {''.join(f'[{number}]' for number in numbers)}" for text, numbers in lines)
    return "\n".join(written) or "NONE"


def read_sentences(prompt: str) -> dict[int, str]:
    """Read the numbered sentences of a prompt, as a model does."""
    return {int(found[1]): found[2].strip() for found in _NUMBERED.finditer(prompt)}


@contextmanager
def serve_model() -> Iterator[ModelStub]:
    """Serve a scripted model, for the length of a with block."""
    stub = ModelStub()
    server = _QuietServer(("127.0.0.1", 0), type("Answering", (_Answering,), {"stub": stub}))
    stub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield stub
    finally:
        stub.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that hangs up is what some tests are about."""


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    stub: ModelStub

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = _fault(self.path, self.headers, request)
        if fault:
            self.stub.faults.append(fault)
            self._json(Answer(status=400, body={"error": {"message": fault}}))
            return
        answer = self.stub.next(request)
        try:
            if answer.hang_up:
                self.close_connection = True
            elif answer.body is not None or answer.status != 200:
                self._json(answer)
            else:
                self._stream(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough

    def _json(self, answer: Answer) -> None:
        content = json.dumps(answer.body or {}).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(_chunks(answer)):
            if number == answer.stall_after:
                self.stub.stopped.wait(600)
                self.close_connection = True
                return
            self._frame(f"data: {json.dumps(chunk)}\n\n")
        if answer.broken_frame:
            self.wfile.write(b"ffff\r\ndata: {")
            self.close_connection = True
            return
        if answer.error_chunk is not None:
            self._frame(f"data: {json.dumps({'error': answer.error_chunk})}\n\n")
        if answer.end is not None:
            self._frame("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _frame(self, text: str) -> None:
        content = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


def _chunks(answer: Answer) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    for at in range(0, len(answer.text), answer.piece):
        yield _chunk({"content": answer.text[at : at + answer.piece]})
    for index, (name, arguments) in enumerate(answer.tool_calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{time.monotonic_ns()}", "type": "function"}
        yield _chunk({"tool_calls": [call | {"function": function}]})
    if answer.end is not None:
        yield _chunk({}, "tool_calls" if answer.tool_calls else answer.end)
        if answer.usage is not None:
            yield _chunk(None) | {"choices": [], "usage": answer.usage}


def _chunk(delta: Mapping[str, object] | None, end: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "stub",
        "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
    }


def _fault(path: str, headers: Any, request: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a request by the published shape of chat completions."""
    if path != "/v1/chat/completions":
        return f"wrong path {path}"
    if headers.get("Authorization") != f"Bearer {KEY}":
        return "wrong key"
    whole, messages, tools, known = _load_types()
    if strange := set(request) - known:
        return f"unknown parameters {sorted(strange)}"
    try:
        whole.validate_python(request)
        messages.validate_python(request["messages"])
        tools.validate_python(request.get("tools", []))
    except ValidationError as error:
        return f"not in the published shape: {error.errors()[0]['loc']}"
    return _fault_of_ours(request)


@cache
def _load_types() -> tuple[TypeAdapter[Any], TypeAdapter[Any], TypeAdapter[Any], frozenset[str]]:
    """Validate a request with OpenAI's types; items of lists are validated one by one."""
    shape = CompletionCreateParamsStreaming
    return (
        TypeAdapter(shape),
        TypeAdapter(list[ChatCompletionMessageParam]),
        TypeAdapter(list[ChatCompletionToolUnionParam]),
        frozenset(get_type_hints(shape)) | _OF_OPENROUTER,
    )


def _fault_of_ours(request: Mapping[str, Any]) -> str | None:
    """Say where a valid request is none that this product should send."""
    messages = request["messages"]
    if not messages or messages[0]["role"] != "system":
        return "messages must begin with the instructions"
    if any(one.get("content") is None and not one.get("tool_calls") for one in messages):
        return "a message has no content"
    wanted = request.get("response_format")
    if wanted is not None and wanted["json_schema"].get("schema", {}).get("type") != "object":
        return "response_format is no JSON schema"
    return None
