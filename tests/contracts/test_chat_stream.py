"""Contract C's streams over a real server, and over parts that are slow or fail midway."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.contracts.fakes import (
    FakeIndex,
    FakeJudge,
    MemoryThreads,
    RankingJudge,
    SentenceJudge,
    call,
    fake_service,
    hits,
)
from tests.contracts.test_chat import check_response, error_of, history
from tests.unit.fakes import make_chunk, wide_queue

from bythebook.ask.show.wording import DISCLAIMER
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.errors import RecordsFailed, StoreFailed
from bythebook.http.app import Service, create_app
from bythebook.http.contracts.chat_models import RetrievalEvent
from bythebook.http.wire.draining import STOPPING, Draining
from bythebook.http.wire.streaming import EventStream, StreamError, StreamEvent
from bythebook.operate.answerer import Answerer
from bythebook.ports import Generator

STREAM = "/chat/stream"
QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
Events = list[tuple[str, dict[str, Any]]]


def parse_events(text: str) -> Events:
    """Read a stream as a browser would; a comment is no event."""
    assert text.endswith("\n\n")
    events: Events = []
    for block in text.split("\n\n")[:-1]:
        if block.startswith(":"):
            continue
        name, data = block.split("\n")
        assert name.startswith("event: ")
        assert data.startswith("data: ")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


def require_end(events: Events) -> dict[str, Any]:
    """Check that a stream has one end, and give it."""
    names = [name for name, _ in events]
    assert [name for name in names if name in {"done", "error"}] == names[-1:]
    return events[-1][1]


def stream(client: httpx.Client, message: str, **more: object) -> Events:
    reply = client.post(STREAM, json={"message": message, **more})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("text/event-stream")
    return parse_events(reply.text)


def read_stream(service: Service, message: str = "What is a gait?") -> Events:
    reply = call(service, "POST", STREAM, {"message": message})
    assert reply.status_code == 200, reply.text
    return parse_events(reply.text)


def with_threads(service: Service) -> Service:
    return replace(service, threads=MemoryThreads())


# What a stream says


def test_a_stream_tells_what_was_found_then_the_sentences_then_the_whole(
    client: httpx.Client,
) -> None:
    events = stream(client, QUESTION)
    names = [name for name, _ in events]
    assert names[0] == "retrieval"
    assert set(names[1:-1]) == {"content"}
    assert names[-1] == "done"
    found = events[0][1]
    assert set(found) == {"num_chunks", "average_score", "sections"}
    assert found["num_chunks"] == 5
    assert 0 <= found["average_score"] <= 1
    assert found["sections"]
    response = check_response(require_end(events))
    contents = [content for name, content in events if name == "content"]
    assert all(set(content) == {"delta", "citations"} for content in contents)
    assert "".join(content["delta"] for content in contents) == response["response"]
    citations = [citation for content in contents for citation in content["citations"]]
    assert citations == response["citations"]


def test_a_stream_and_a_plain_answer_say_the_same(client: httpx.Client) -> None:
    plain = client.post("/chat/run", json={"message": QUESTION}).json()
    done = require_end(stream(client, QUESTION))
    for value in (plain, done):
        value.pop("session_id")
        value.pop("timestamp")
    assert done == plain


def test_a_refusal_has_no_content(client: httpx.Client) -> None:
    events = stream(client, FOREIGN)
    assert [name for name, _ in events] == ["retrieval", "done"]
    assert check_response(require_end(events))["should_answer"] is False


def test_the_plain_route_streams_where_it_is_asked_to(client: httpx.Client) -> None:
    reply = client.post("/chat/run", json={"message": QUESTION, "stream": True})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert check_response(require_end(parse_events(reply.text)))["should_answer"] is True


def test_the_stream_route_streams_also_where_it_is_not(client: httpx.Client) -> None:
    assert require_end(stream(client, QUESTION, stream=False))["should_answer"] is True


def test_nothing_may_hold_a_stream_back(client: httpx.Client) -> None:
    headers = client.post(STREAM, json={"message": QUESTION}).headers
    assert headers["cache-control"] == "no-cache"
    assert headers["x-accel-buffering"] == "no"


def test_a_stream_of_a_selection_finds_the_selection(client: httpx.Client) -> None:
    text = "The capital of Iceland is Reykjavik. Herons fish at the river."
    events = stream(client, "What is the capital of Iceland?", selected_text=text)
    assert events[0][1] == {"num_chunks": 1, "average_score": 1.0, "sections": ["Selected text"]}
    assert require_end(events)["sources"][0]["section"] == "Selected text"


def test_a_stream_is_a_turn_of_its_thread(client: httpx.Client) -> None:
    session = require_end(stream(client, "What is URDF?"))["session_id"]
    follow_up = require_end(stream(client, "What does it describe?", session_id=session))
    assert "URDF" in follow_up["response"]
    messages = history(client, session)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2
    assert messages[3]["content"] == follow_up["response"]


def test_the_disclaimer_opens_the_first_content_and_has_no_citation_of_its_own() -> None:
    chunk = make_chunk("One is.", "Two is.")
    judge = SentenceJudge("One", answerable=0.4)
    service = with_threads(fake_service(index=FakeIndex(hits=hits((chunk, 0.9))), judge=judge))
    events = read_stream(service)
    deltas = [content["delta"] for name, content in events if name == "content"]
    assert deltas == [f"{DISCLAIMER} One is.", "\n\nTwo is."]
    keys = [c["citations"][0]["key"] for name, c in events if name == "content"]
    assert keys == [True, False]
    response = require_end(events)
    assert response["response"] == f"{DISCLAIMER} One is.\n\nTwo is."
    assert response["disclaimer"] == DISCLAIMER
    indexes = [c["citations"][0]["sentence"] for name, c in events if name == "content"]
    assert indexes == [0, 1]


def test_items_of_a_list_are_set_off_in_a_stream_as_in_the_whole() -> None:
    chunk = make_chunk("The gaits are:", ("item", "walk"), ("item", "trot"))
    judge = RankingJudge({"The gaits are:": 0.9, "walk": 0.1, "trot": 0.1})
    service = with_threads(fake_service(index=FakeIndex(hits=hits((chunk, 0.9))), judge=judge))
    events = read_stream(service, "What are the gaits?")
    deltas = [content["delta"] for name, content in events if name == "content"]
    assert "".join(deltas) == require_end(events)["response"]
    assert deltas[1].startswith("\n")


# Failures midway


@dataclass
class BrokenGenerator:
    """Says one sentence and breaks."""

    failure: Exception

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        evidence = judgement.evidence[0]
        yield Draft(evidence.quote, ((evidence.passage, evidence.quote),))
        raise self.failure


def service_generating_by(generator: Generator) -> Service:
    found = hits((make_chunk("One is."), 0.9))
    service = fake_service(index=FakeIndex(hits=found))
    ports = replace(service.answerer.ports, generator=generator)
    return replace(
        service,
        answerer=Answerer(ports, service.answerer.journal, wide_queue()),
        threads=MemoryThreads(),
    )


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (StoreFailed("/srv/secret"), "store_unavailable"),
        (RuntimeError("secret at /srv/secret.py"), "internal"),
    ],
)
def test_a_failure_after_the_start_is_the_last_event_and_keeps_nothing(
    failure: Exception, kind: str
) -> None:
    service = service_generating_by(BrokenGenerator(failure))
    events = read_stream(service)
    assert [name for name, _ in events] == ["retrieval", "content", "error"]
    error = require_end(events)
    assert set(error) == {"error", "message"}
    assert error["error"] == kind
    assert "secret" not in json.dumps(events)
    assert isinstance(service.threads, MemoryThreads)
    assert service.threads.threads == {}


def test_an_answer_that_cannot_be_kept_ends_in_an_error() -> None:
    service = fake_service(index=FakeIndex(hits=hits((make_chunk("One is."), 0.9))))
    service = replace(service, threads=MemoryThreads(failure=RecordsFailed("full")))
    events = read_stream(service)
    assert require_end(events)["error"] == "database_unavailable"
    assert "done" not in [name for name, _ in events]


@pytest.mark.parametrize("path", ["/chat/run", STREAM])
def test_what_fails_before_the_first_event_is_an_http_error(path: str) -> None:
    service = with_threads(fake_service(index=FakeIndex(failure=StoreFailed("gone"))))
    reply = call(service, "POST", path, {"message": "Anything?", "stream": True})
    error_of(reply, 503, "store_unavailable")
    reply = call(service, "POST", path, {"message": "Anything?", "stream": True, "book": "none"})
    error_of(reply, 422, "validation_failed")


# Slow answers, slow readers, and the end of the service


@dataclass
class HeldJudge(FakeJudge):
    """Judges once it is let go; tells when it was asked and when it was called off."""

    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    called_off: asyncio.Event = field(default_factory=asyncio.Event)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.asked.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.called_off.set()
            raise
        return await super().judge(question, passages)


def service_judged_by(judge: HeldJudge) -> Service:
    found = hits((make_chunk("One is."), 0.9))
    return with_threads(fake_service(index=FakeIndex(hits=found), judge=judge))


@dataclass
class Exchange:
    """A request to an application in this process whose client may leave."""

    app: FastAPI
    session: str | None = None
    reads: asyncio.Event = field(default_factory=asyncio.Event)  # set: as fast as it is sent
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reads.set()

    async def run(self) -> None:
        body = {"message": "What is a gait?", "session_id": self.session}
        bodies: Iterator[bytes] = iter((json.dumps(body).encode(),))

        async def receive() -> dict[str, Any]:
            for body in bodies:
                return {"type": "http.request", "body": body, "more_body": False}
            await self.leave.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            await self.reads.wait()
            self.sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "POST",
            "path": STREAM,
            "raw_path": STREAM.encode(),
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"host", b"reader.test")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "scheme": "http",
            "http_version": "1.1",
            "state": {},
        }
        await self.app(scope, receive, send)

    @property
    def body(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()


@asynccontextmanager
async def open_stream(
    app: FastAPI, session: str | None = None
) -> AsyncIterator[tuple[Exchange, asyncio.Task[None]]]:
    """Have a stream under way for the length of a with block, and see that nothing is left of it."""
    async with asyncio.timeout(60):
        exchange = Exchange(app, session)
        before = asyncio.all_tasks()
        task = asyncio.create_task(exchange.run())
        yield exchange, task
        await task
        assert asyncio.all_tasks() <= before


def test_a_slow_answer_is_kept_alive_by_comments() -> None:
    every, beats = 0.02, list[float]()

    async def events() -> AsyncGenerator[StreamEvent]:
        yield StreamEvent("retrieval", RetrievalEvent(num_chunks=0, average_score=0, sections=[]))
        while len(beats) < 5:  # noqa: ASYNC110 - a slow answer, however slow the machine
            await asyncio.sleep(0.001)
        yield StreamEvent("error", StreamError(error="internal", message="Enough."))

    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if sent[-1] == b": heartbeat\n\n":
            beats.append(time.monotonic())

    async def receive() -> Any:
        await asyncio.Event().wait()

    asyncio.run(EventStream(events(), Draining(), every)({}, receive, send))
    body = b"".join(sent).decode()
    assert beats[4] - beats[0] > 3 * every  # of which there are four between them
    assert body.index("event: retrieval") < body.index(": heartbeat") < body.index("event: error")
    assert require_end(parse_events(body))["message"] == "Enough."


def test_a_client_that_leaves_stops_the_work_at_once_and_nothing_is_kept() -> None:
    async def leave_early() -> None:
        judge = HeldJudge()
        service = service_judged_by(judge)
        async with open_stream(create_app(service)) as (exchange, _):
            await judge.asked.wait()
            exchange.leave.set()
            async with asyncio.timeout(60):
                await judge.called_off.wait()
        assert service.draining.under_way == 0
        assert isinstance(service.threads, MemoryThreads)
        assert service.threads.threads == {}

    asyncio.run(leave_early())


class Slowed(FakeIndex):
    """Finds nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__(hits=hits((make_chunk("One is."), 0.9)))
        self.asked, self.called_off = asyncio.Event(), asyncio.Event()

    async def search(self, *given: Any, **more: Any) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.called_off.set()
            raise


def test_a_client_that_leaves_while_the_book_is_searched_gets_nothing() -> None:
    async def leave_early() -> None:
        index = Slowed()
        app = create_app(with_threads(fake_service(index=index)))
        async with open_stream(app) as (exchange, _):
            await index.asked.wait()
            exchange.leave.set()
            async with asyncio.timeout(60):
                await index.called_off.wait()
        assert exchange.sent == []

    asyncio.run(leave_early())


def test_a_client_that_leaves_in_the_moment_of_an_event_is_noticed() -> None:
    leave = asyncio.Event()

    async def events() -> AsyncGenerator[StreamEvent]:
        found = RetrievalEvent(num_chunks=0, average_score=0, sections=[])
        yield StreamEvent("retrieval", found)
        await asyncio.sleep(0.01)
        leave.set()
        await asyncio.sleep(0)  # by now it is known that the client left
        yield StreamEvent("retrieval", found)
        await asyncio.Event().wait()

    async def send(_message: Any) -> None:
        pass

    async def receive() -> Any:
        await leave.wait()
        return {"type": "http.disconnect"}

    async def leave_early() -> None:
        async with asyncio.timeout(60):
            await EventStream(events(), Draining())({}, receive, send)

    asyncio.run(leave_early())


def test_a_stream_whose_work_is_cut_off_from_within_still_ends() -> None:
    sent: list[bytes] = []

    async def events() -> AsyncGenerator[StreamEvent]:
        found = RetrievalEvent(num_chunks=0, average_score=0.0, sections=[])
        yield StreamEvent("retrieval", found)
        raise asyncio.CancelledError

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def read() -> None:
        async with asyncio.timeout(60):
            await EventStream(events(), Draining())({}, receive, send)

    asyncio.run(read())
    assert require_end(parse_events(b"".join(sent).decode()))["error"] == "internal"


def test_a_plain_answer_that_the_service_cannot_wait_for_is_a_503_in_the_contracts_shape() -> None:
    async def stop() -> httpx.Response:
        judge = HeldJudge()
        service = service_judged_by(judge)
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://reader.test") as client:
            body = {"message": "What is a gait?"}
            asking = asyncio.create_task(client.post("/chat/run", json=body))
            await judge.asked.wait()
            service.draining.begin(0.05)
            return await asking

    reply = asyncio.run(stop())
    assert reply.status_code == 503
    assert reply.headers["retry-after"]
    assert reply.json()["message"] == STOPPING


def test_a_service_that_stops_waits_for_a_stream_and_then_ends_it_with_an_error() -> None:
    async def stop() -> tuple[str, Service]:
        judge = HeldJudge()
        service = service_judged_by(judge)
        async with open_stream(create_app(service)) as (exchange, task):
            await judge.asked.wait()
            service.draining.begin(1)
            for _ in range(5):
                await asyncio.sleep(0)
            assert not task.done()
        return exchange.body, service

    body, service = asyncio.run(stop())
    assert require_end(parse_events(body)) == {"error": "store_unavailable", "message": STOPPING}
    assert isinstance(service.threads, MemoryThreads)
    assert service.threads.threads == {}


def test_a_stream_that_ends_in_time_ends_as_if_the_service_did_not_stop() -> None:
    async def stop() -> str:
        judge = HeldJudge()
        service = service_judged_by(judge)
        async with open_stream(create_app(service)) as (exchange, _):
            await judge.asked.wait()
            service.draining.begin(60)
            judge.let_go.set()
        return exchange.body

    assert check_response(require_end(parse_events(asyncio.run(stop()))))["should_answer"] is True


def test_a_stream_that_would_begin_after_the_end_is_an_http_error() -> None:
    async def late() -> int:
        index = Slowed()
        service = with_threads(fake_service(index=index))
        service.draining.begin(0)
        await asyncio.sleep(0.01)
        async with open_stream(create_app(service)) as (exchange, _):
            pass
        return int(exchange.sent[0]["status"])

    assert asyncio.run(late()) == 503


def test_a_slow_reader_holds_up_no_other_turn_of_its_thread() -> None:
    async def slowly() -> None:
        judge = HeldJudge()
        judge.let_go.set()
        app, session = create_app(service_judged_by(judge)), str(uuid.uuid4())
        async with open_stream(app, session) as (first, _):
            first.reads.clear()
            await judge.asked.wait()
            async with open_stream(app, session) as (second, _):
                pass
            assert first.sent == []
            first.reads.set()
        for exchange in (first, second):
            assert check_response(require_end(parse_events(exchange.body)))["session_id"] == session

    asyncio.run(slowly())
