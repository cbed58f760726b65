"""The Python client, against a real server and against one that says what the test wants."""

import asyncio
import json
import subprocess
import sys
import threading
import time
import types
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import SAMPLE, free_port

import bythebook.client
from bythebook.client import (
    ApiError,
    AsyncClient,
    ChatEvent,
    Client,
    ClientError,
    ConnectionFailed,
    Content,
    Done,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Retrieval,
    ServerFailed,
    Unauthorized,
    Unavailable,
    UnexpectedResponse,
)
from bythebook.client.events import EventParser, ServerEvent

QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
SECRET = "btb_this-is-the-secret-part"
T = TypeVar("T")
M = TypeVar("M", Client, AsyncClient)


def url_of(client: httpx.Client) -> str:
    return str(client.base_url)


def run_async(url: str, use: Callable[[AsyncClient], Awaitable[T]], **options: Any) -> T:
    async def run() -> T:
        async with AsyncClient(url, **options) as book:
            return await use(book)

    return asyncio.run(run())


def both(url: str, method: str, *args: object, **kwargs: object) -> tuple[Any, Any]:
    """Make a call by the client that blocks and by the one that awaits."""
    with Client(url) as book:
        blocking = getattr(book, method)(*args, **kwargs)
    return blocking, run_async(url, lambda book: getattr(book, method)(*args, **kwargs))


# The package


def test_importing_the_client_loads_nothing_of_the_service() -> None:
    code = "import sys, bythebook.client; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("bythebook.")} == {
        "bythebook.client",
        *(
            f"bythebook.client.{part}"
            for part in "calls clients events failures results streams".split()
        ),
    }
    assert not loaded & {"fastapi", "starlette", "numpy", "onnxruntime", "sqlalchemy", "typer"}


def test_the_public_names_of_the_client_are_what_it_exports() -> None:
    exported = [
        name
        for name, value in vars(bythebook.client).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    ]
    assert sorted(exported) == sorted(bythebook.client.__all__)


# Every method, against the service


def test_a_question_is_answered_by_contract_a(client: httpx.Client) -> None:
    session, request = uuid.uuid4(), uuid.uuid4()
    for result in both(
        url_of(client),
        "query",
        QUESTION,
        top_k=3,
        session_id=session,
        book=SAMPLE,
        request_id=request,
    ):
        assert result.refusal is None
        assert result.answer.sentences[0] == result.answer.citations[0].referenced_text
        assert result.metadata.chunks_retrieved == 3
        assert (result.metadata.session_id, result.metadata.request_id) == (session, request)


def test_a_refusal_is_a_value(client: httpx.Client) -> None:
    for result in both(url_of(client), "query", FOREIGN):
        assert (result.status, result.answer) == ("refused", None)
        assert result.refusal.refusal_type in {"low_relevance", "insufficient_grounding"}
    for result in both(url_of(client), "rag", FOREIGN):
        assert result.sources == ()
    for result in both(url_of(client), "ask", FOREIGN):
        assert not result.grounded
        assert result.answer == "This information is not available in the book."
    for result in both(url_of(client), "chat", FOREIGN):
        assert not result.should_answer


def test_a_selected_text_is_asked_alone(client: httpx.Client) -> None:
    question = "What is the capital of Iceland?"
    for method in ("query", "ask", "chat"):
        for result in both(url_of(client), method, question, selected_text=SELECTION):
            assert "Reykjavik" in result.model_dump_json()


def test_contracts_b_and_d_answer_with_their_sources(client: httpx.Client) -> None:
    for result in both(url_of(client), "rag", QUESTION, model="gpt-4"):
        assert (result.query, result.model_used) == (QUESTION, "bythebook-extractive")
        assert result.sources[0].url.startswith("http")
    for result in both(url_of(client), "ask", QUESTION, book=SAMPLE):
        assert result.sources == tuple(chunk.chunk_id for chunk in result.matched_chunks)
        assert result.matched_chunks[0].evidence[0] in result.matched_chunks[0].text


def test_a_conversation_is_kept_read_and_deleted(client: httpx.Client) -> None:
    session = uuid.uuid4()
    with Client(url_of(client)) as book:
        first = book.chat(QUESTION, session_id=session)
        second = book.chat("Which of them is best for a long task?", session_id=str(session))
        assert first.should_answer
        assert (first.session_id, second.session_id) == (session, session)
        thread = book.history(session)
        assert [message.role for message in thread.messages] == ["user", "assistant"] * 2
        assert thread.messages[1].content == first.response
        assert thread.messages[1].citations
        assert book.delete_session(session) is None
        with pytest.raises(NotFound) as caught:
            book.history(session)
        assert (caught.value.status, caught.value.kind) == (404, "not_found")
        with pytest.raises(NotFound):
            book.delete_session(session)


def test_a_stream_tells_what_the_whole_answer_tells(client: httpx.Client) -> None:
    with Client(url_of(client)) as book:
        whole = book.chat(QUESTION)
        events = list(book.chat_stream(QUESTION))
    assert events[:-1] == run_async(url_of(client), collect_events)[:-1]
    assert isinstance(events[0], Retrieval)
    assert isinstance(events[-1], Done)
    assert events[0].num_chunks == 5
    contents = [event for event in events if isinstance(event, Content)]
    assert len(contents) == len(events) - 2 > 0
    assert "".join(event.delta for event in contents) == events[-1].result.response
    assert events[-1].result.response == whole.response
    assert sum((event.citations for event in contents), ()) == whole.citations


async def collect_events(book: AsyncClient) -> list[ChatEvent]:
    async with book.chat_stream(QUESTION) as events:
        return [event async for event in events]


def test_feedback_is_given_on_an_earlier_request(client: httpx.Client) -> None:
    with Client(url_of(client)) as book:
        request = book.query(QUESTION).metadata.request_id
        assert book.feedback(request, helpful=True, reason="It did.") is None
        with pytest.raises(NotFound):
            book.feedback(uuid.uuid4(), helpful=False)


def test_the_nearest_sections_are_found_in_all_words_and_signs(client: httpx.Client) -> None:
    for result in both(url_of(client), "search", QUESTION, book=SAMPLE, limit=3):
        assert len(result.sections) == 3
        assert QUESTION in {found.section for found in result.sections}
        assert all(found.text and found.reader_url.startswith("http") for found in result.sections)
    for result in both(url_of(client), "search", "nodes & topics #1 = 50 % größer?\n+"):
        assert result.sections
    with Client(url_of(client)) as book, pytest.raises(InvalidRequest, match="limit"):
        book.search(QUESTION, limit=21)


def test_the_health_of_each_part_is_told(client: httpx.Client) -> None:
    for result in both(url_of(client), "health"):
        assert result.status == "ok"
        assert result.dependencies["index"].status == "ok"


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("query", "VALIDATION_FAILED"),
        ("rag", "ValidationError"),
        ("chat", "validation_failed"),
        ("ask", "validation_failed"),
    ],
)
def test_every_contracts_error_is_raised_as_one_kind(
    client: httpx.Client, method: str, kind: str
) -> None:
    request = uuid.uuid4()
    with Client(url_of(client)) as book, pytest.raises(InvalidRequest, match="book") as caught:
        getattr(book, method)(QUESTION, book="no-such-book", request_id=request)
    error = caught.value
    assert (error.status, error.kind, error.request_id) == (422, kind, str(request))
    assert isinstance(error, ApiError)
    with pytest.raises(InvalidRequest):
        run_async(url_of(client), lambda book: getattr(book, method)("?", book="no-such-book"))


def test_a_stream_that_cannot_begin_raises_its_http_error(client: httpx.Client) -> None:
    with Client(url_of(client)) as book, pytest.raises(InvalidRequest):
        next(book.chat_stream("?", book="no-such-book"))


# A server that says what the test wants


@dataclass
class Reply:
    """A response, and whether to go on sending signs of life after it."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False
    delay: float = 0.0


class Script:
    """Gives the replies in turn, and keeps what was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.left = threading.Event()
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                script.answer(self)

            do_GET = do_POST  # noqa: N815 - the name is the method

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append((handler.path, headers, body))
        reply = self.replies.pop(0)
        time.sleep(reply.delay)
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(reply.body)
        try:
            while reply.endless:
                handler.wfile.write(b": heartbeat\n\n")
                handler.wfile.flush()
                time.sleep(0.01)
        except OSError:
            self.left.set()


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()
    yield script
    script.server.shutdown()
    script.server.server_close()


HEALTH = Reply(body=b'{"status": "ok", "dependencies": {}, "mood": "fine"}')
RETRIEVAL = b'event: retrieval\ndata: {"num_chunks": 1, "average_score": 0.9, "new": [1]}\n\n'


def test_fields_that_a_newer_service_adds_are_passed_over(script: Script) -> None:
    script.replies = [HEALTH]
    assert Client(script.url).health().status == "ok"


def test_the_key_is_sent_as_bearer_and_shown_nowhere(script: Script) -> None:
    script.replies = [HEALTH, Reply(401, b'{"error": "unauthorized", "message": "no"}')]
    with Client(script.url + "/", key=SECRET) as book:
        book.health(request_id="0b7e2f7e-58a5-4a3b-9a53-4f3c0f5d2a11")
        with pytest.raises(Unauthorized) as caught:
            book.health()
        assert SECRET not in f"{book!r} {book} {vars(book)} {caught.value!r} {caught.value}"
    path, headers, _ = script.seen[0]
    assert (path, headers["authorization"]) == ("/health", f"Bearer {SECRET}")
    assert headers["x-request-id"] == "0b7e2f7e-58a5-4a3b-9a53-4f3c0f5d2a11"
    assert repr(AsyncClient("http://b", key=SECRET)) == "AsyncClient('http://b')"


@pytest.mark.parametrize("key", ["", "sécret", "sec\nret"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ValueError, match="key must be printable ASCII") as caught:
        Client("http://b", key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error_type": "AuthenticationError", "error_message": "m"}, Unauthorized),
        (403, {"error": "forbidden", "detail": "m"}, Forbidden),
        (404, {"error": "not_found", "message": "m"}, NotFound),
        (405, {"error": "method_not_allowed", "message": "m"}, ApiError),
        (413, {"error": "payload_too_large", "message": "m"}, InvalidRequest),
        (429, {"error": {"code": "RATE_LIMIT_EXCEEDED", "message": "m"}}, RateLimited),
        (500, {"error": "internal", "detail": "m"}, ServerFailed),
        (502, {"error_type": "GenerationError", "error_message": "m"}, Unavailable),
        (503, {"error": {"code": "QDRANT_TIMEOUT", "message": "m", "details": None}}, Unavailable),
        (504, {"error": "model_timeout", "message": "m", "details": None}, Unavailable),
    ],
)
def test_each_status_and_shape_is_raised_by_its_class(
    script: Script, status: int, body: dict[str, Any], expected: type[ApiError]
) -> None:
    headers = {"Retry-After": "7", "X-Request-ID": "r"}
    script.replies = [Reply(status, json.dumps(body).encode(), headers)]
    with pytest.raises(ApiError) as caught:
        Client(script.url).ask("?")
    error = caught.value
    assert type(error) is expected
    assert (error.status, error.message) == (status, "m")
    assert error.kind in json.dumps(body)
    assert (error.request_id, error.retry_after) == ("r", 7)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(502, b"<html>Bad gateway</html>"),
        Reply(500, b"\xff"),
        Reply(200, b"<html>Welcome</html>"),
        Reply(200, b'{"answer": 5}'),
        Reply(302, b"", {"Location": "/login"}),
    ],
)
def test_what_speaks_another_language_is_an_unexpected_response(
    script: Script, reply: Reply
) -> None:
    script.replies = [reply, reply]
    with pytest.raises(UnexpectedResponse):
        Client(script.url).ask("?")
    with pytest.raises(UnexpectedResponse):
        run_async(script.url, lambda book: book.ask("?"))


def test_a_call_is_tried_again_when_the_service_says_when(script: Script) -> None:
    limited = Reply(429, b'{"error": "rate_limited", "message": "m"}', {"Retry-After": "0"})
    script.replies = [limited, limited, HEALTH] * 2
    assert Client(script.url, retries=2).health().status == "ok"
    assert run_async(script.url, lambda book: book.health(), retries=2).status == "ok"
    assert len(script.seen) == 6


@pytest.mark.parametrize(
    ("retries", "status", "headers"),
    [
        (0, 429, {"Retry-After": "0"}),
        (1, 429, {"Retry-After": "61"}),
        (1, 503, {}),
        (1, 422, {"Retry-After": "0"}),
    ],
)
def test_other_failures_are_not_tried_again(
    script: Script, retries: int, status: int, headers: Mapping[str, str]
) -> None:
    script.replies = [Reply(status, b'{"error": "e", "message": "m"}', headers)]
    with pytest.raises(ApiError):
        Client(script.url, retries=retries).health()
    assert len(script.seen) == 1


def test_a_pause_before_another_try_is_as_long_as_asked(script: Script) -> None:
    script.replies = [Reply(503, b'{"error": "e", "message": "m"}', {"Retry-After": "1"}), HEALTH]
    started = time.monotonic()
    Client(script.url, retries=1).health()
    assert 1 <= time.monotonic() - started < 60


def test_a_service_that_is_not_there_is_a_failed_connection() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ConnectionFailed):
        Client(url).health()
    with pytest.raises(ConnectionFailed):
        run_async(url, lambda book: book.health())
    with pytest.raises(ConnectionFailed):
        next(Client(url).chat_stream("?"))


def test_a_service_that_does_not_answer_in_time_is_a_failed_connection(script: Script) -> None:
    script.replies = [Reply(delay=0.5)]
    with pytest.raises(ConnectionFailed, match="in time"):
        Client(script.url, timeout=0.1).health()


def test_an_own_http_client_is_used_and_left_open(script: Script) -> None:
    script.replies = [HEALTH, HEALTH]
    with httpx.Client(headers={"X-Own": "yes"}, timeout=60) as own:
        with Client(script.url, http=own) as book:
            book.health()
        assert not own.is_closed
    assert script.seen[0][1]["x-own"] == "yes"


# Streams


def collect(script: Script, body: bytes) -> tuple[list[ChatEvent], list[ChatEvent]]:
    """Read a stream by both clients, up to its end or its error."""
    script.replies = [Reply(body=body)] * 2
    blocking: list[ChatEvent] = []
    awaiting: list[ChatEvent] = []

    async def read(book: AsyncClient) -> None:
        async for event in book.chat_stream("?"):
            awaiting.append(event)  # noqa: PERF401 - what came before an error is kept

    errors: list[ClientError] = []
    try:
        for event in Client(script.url).chat_stream("?"):
            blocking.append(event)  # noqa: PERF402
    except ClientError as error:
        errors.append(error)
    if not errors:
        run_async(script.url, read)
        return blocking, awaiting
    with pytest.raises(type(errors[0])):
        run_async(script.url, read)
    assert blocking == awaiting
    raise errors[0]


@pytest.mark.parametrize(
    ("kind", "expected", "status"),
    [
        ("model_failed", Unavailable, 502),
        ("store_unavailable", Unavailable, 503),
        ("internal", ServerFailed, 500),
        ("a_new_kind", ServerFailed, 500),
    ],
)
def test_an_error_event_is_raised(
    script: Script, kind: str, expected: type[ApiError], status: int
) -> None:
    body = RETRIEVAL + f'event: error\ndata: {{"error": "{kind}", "message": "m"}}\n\n'.encode()
    with pytest.raises(expected) as caught:
        collect(script, body)
    assert (caught.value.kind, caught.value.status, caught.value.message) == (kind, status, "m")


@pytest.mark.parametrize("body", [b"", RETRIEVAL, RETRIEVAL + b"event: done\ndata: {"])
def test_a_stream_that_breaks_off_is_a_failed_connection(script: Script, body: bytes) -> None:
    with pytest.raises(ConnectionFailed, match="ended before"):
        collect(script, body)


def test_an_event_of_another_shape_is_an_unexpected_response(script: Script) -> None:
    with pytest.raises(UnexpectedResponse):
        collect(script, b'event: content\ndata: {"delta": 5}\n\n')


def test_a_stream_that_began_is_not_tried_again(script: Script) -> None:
    script.replies = [Reply(body=RETRIEVAL), Reply(body=RETRIEVAL)]
    with pytest.raises(ConnectionFailed):
        list(Client(script.url, retries=3).chat_stream("?"))
    assert len(script.seen) == 1


def test_a_stream_is_asked_for_at_its_own_address(script: Script) -> None:
    script.replies = [Reply(body=RETRIEVAL)]
    with Client(script.url).chat_stream("?", top_k=2, metadata={"tags": ["a"]}) as events:
        next(events)
    path, headers, body = script.seen[0]
    assert (path, headers["accept"]) == ("/chat/stream", "text/event-stream")
    assert json.loads(body) == {"message": "?", "top_k": 2, "metadata": {"tags": ["a"]}}


def test_leaving_a_stream_early_closes_the_connection(script: Script) -> None:
    script.replies = [Reply(body=RETRIEVAL, endless=True)] * 2
    seen: list[httpx.Response] = []
    with httpx.Client(event_hooks={"response": [seen.append]}, timeout=60) as own:
        book = Client(script.url, http=own)
        with book.chat_stream("?") as events:
            next(events)
            assert [response.is_closed for response in seen] == [False]
        assert [response.is_closed for response in seen] == [True]
        assert script.left.wait(60)
        for event in book.chat_stream("?"):
            assert isinstance(event, Retrieval)
            break
        assert seen[1].is_closed


def test_leaving_an_awaited_stream_early_closes_the_connection(script: Script) -> None:
    script.replies = [Reply(body=RETRIEVAL, endless=True)]
    seen: list[httpx.Response] = []

    async def note(response: httpx.Response) -> None:
        seen.append(response)

    async def leave() -> None:
        async with httpx.AsyncClient(event_hooks={"response": [note]}, timeout=60) as own:
            async with AsyncClient(script.url, http=own).chat_stream("?") as events:
                await anext(events)
            assert seen[0].is_closed
            assert await asyncio.to_thread(script.left.wait, 5)

    asyncio.run(leave())


# The wire format

EVENTS = st.lists(
    st.builds(
        ServerEvent,
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1).filter(
            lambda name: not name.startswith(" ")
        ),
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), min_size=1).map(
            "\n".join
        ),
    ),
    max_size=4,
)


def write_stream(events: list[ServerEvent], end: str) -> bytes:
    lines: list[str] = [": a sign of life", ""]
    for event in events:
        lines += [f"event: {event.name}", "id: 7", "retry", ": between"]
        lines += [f"data: {line}" for line in event.data.split("\n")] + [""]
    return "".join(line + end for line in lines).encode()


@given(EVENTS, st.sampled_from(["\n", "\r\n"]), st.data(), st.booleans())
def test_events_are_the_same_however_the_stream_is_cut(
    events: list[ServerEvent], end: str, data: st.DataObject, marked: bool
) -> None:
    stream = (b"\xef\xbb\xbf" if marked else b"") + write_stream(events, end)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=20)))
    parser = EventParser()
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [event for piece in pieces for event in parser.feed(piece)] == events


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_byte_by_byte(end: str) -> None:
    events = [ServerEvent("content", "Où?\n\n 🤖 "), ServerEvent("message", "a:b")]
    stream = write_stream(events[:1], end) + f"data:a:b{end}{end}:{end}".encode()
    parser = EventParser()
    parsed = [event for byte in stream for event in parser.feed(bytes([byte]))]
    assert parsed == events


def test_an_event_without_data_is_none() -> None:
    assert list(EventParser().feed(b"event: ping\n\n\n\ndata\n\n")) == [ServerEvent("message", "")]
