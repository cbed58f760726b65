"""More questions than can be answered: each contract says so in its own shape, and health stays quick."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.contracts.fakes import READER, FakeIndex, FakeKeys, MemoryThreads, fake_service, hits
from tests.contracts.test_chat_stream import HeldJudge
from tests.unit.fakes import Clock, make_chunk

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.cli.serving.command import _keep_for_good
from bythebook.http.app import Service, create_app
from bythebook.http.contracts.health import (
    FRESH_SECONDS,
    MOMENT_SECONDS,
    RECENT_SECONDS,
    Examination,
)
from bythebook.http.wire.paced_log import PacedLog
from bythebook.operate.answer_queue import AnswerQueue
from bythebook.operate.answerer import Answerer

BUSY = "Too many questions are being asked right now. Please try again in a moment."


def service_with_one_turn(judge: HeldJudge) -> Service:
    plain = fake_service(
        index=FakeIndex(hits=hits((make_chunk("One is."), 0.9))),
        judge=judge,
        threads=MemoryThreads(),
    )
    queue = AnswerQueue(1, 0.05, PrometheusMetrics())
    return replace(plain, answerer=Answerer(plain.answerer.ports, plain.answerer.journal, queue))


async def send_while_busy(
    method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> httpx.Response:
    """Send a request while the one turn is taken by another question."""
    judge = HeldJudge()
    transport = httpx.ASGITransport(create_app(service_with_one_turn(judge)))
    async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
        first = asyncio.create_task(client.post("/ask", json={"question": "What is one?"}))
        await judge.asked.wait()
        reply = await client.request(method, path, json=body, headers=headers)
        judge.let_go.set()
        assert (await first).status_code == 200
        return reply


def send(
    method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str
) -> httpx.Response:
    return asyncio.run(send_while_busy(method, path, body, headers))


@pytest.mark.parametrize("path", ["/api/query", "/v1/query"])
def test_contract_a_says_overloaded(path: str) -> None:
    reply = send("POST", path, {"query": "What is one?"})
    assert reply.status_code == 503
    assert reply.json()["error"] == {
        "code": "OVERLOADED",
        "message": BUSY,
        "details": None,
        "retry_after": 1,
    }
    assert reply.headers["Retry-After"] == "1"


def test_contract_b_says_overloaded() -> None:
    reply = send("POST", "/query", {"query": "What is one?"})
    assert reply.status_code == reply.json()["status_code"] == 503
    assert (reply.json()["error_type"], reply.json()["error_message"]) == ("OverloadedError", BUSY)
    assert reply.headers["Retry-After"] == "1"


@pytest.mark.parametrize("path", ["/chat/run", "/chat/stream"])
def test_contract_c_says_overloaded_before_a_stream_starts(path: str) -> None:
    reply = send("POST", path, {"message": "What is one?"})
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "application/json"
    assert (reply.json()["error"], reply.json()["message"]) == ("overloaded", BUSY)
    assert reply.headers["Retry-After"] == "1"


def test_contract_d_says_overloaded() -> None:
    reply = send("POST", "/ask", {"question": "What is one?"})
    assert (reply.status_code, reply.json()) == (503, {"error": "overloaded", "detail": BUSY})
    assert reply.headers["Retry-After"] == "1"


def test_the_page_says_so_and_keeps_the_question() -> None:
    reply = send("GET", "/?q=What+is+one", Accept="text/html")
    assert reply.status_code == 503
    assert BUSY in reply.text
    assert "What is one" in reply.text


@pytest.mark.parametrize("path", ["/livez", "/health", "/metrics", "/", "/search?q=one"])
def test_what_asks_nothing_does_not_wait_for_a_turn(path: str) -> None:
    assert send("GET", path).status_code == 200


def test_a_refused_question_is_counted() -> None:
    async def scenario() -> str:
        judge, metrics = HeldJudge(), PrometheusMetrics()
        plain = service_with_one_turn(judge)
        answerer = Answerer(
            plain.answerer.ports, plain.answerer.journal, AnswerQueue(1, 0.05, metrics)
        )
        transport = httpx.ASGITransport(
            create_app(replace(plain, answerer=answerer, metrics=metrics))
        )
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            first = asyncio.create_task(client.post("/ask", json={"question": "What is one?"}))
            await judge.asked.wait()
            await client.post("/ask", json={"question": "What is one?"})
            judge.let_go.set()
            await first
            return (await client.get("/metrics")).text

    assert "bythebook_overloaded_total 1.0" in asyncio.run(scenario())


def test_messages_of_one_conversation_wait_no_longer_than_any_question() -> None:
    async def scenario() -> httpx.Response:
        judge = HeldJudge()
        transport = httpx.ASGITransport(create_app(service_with_one_turn(judge)))
        message = {
            "message": "What is one?",
            "session_id": "3f0e2c1a-5b0e-4a57-9c1d-0d8b7a3c2e11",
        }
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            first = asyncio.create_task(client.post("/chat/run", json=message))
            await judge.asked.wait()
            second = await client.post("/chat/run", json=message)
            judge.let_go.set()
            assert (await first).status_code == 200
            return second

    reply = asyncio.run(scenario())
    assert (reply.status_code, reply.json()["error"]) == (503, "overloaded")


def test_health_gives_what_it_knew_a_moment_ago_while_a_check_takes_long() -> None:
    async def scenario() -> None:
        slow, runs, clock = asyncio.Event(), 0, Clock()

        async def check() -> None:
            nonlocal runs
            runs += 1
            if runs > 1:
                await slow.wait()

        examination = Examination({"index": check}, clock)
        first = await examination.result()
        assert await examination.result() is first
        assert runs == 1  # so soon after a check there is no other
        clock.now += FRESH_SECONDS
        several = await asyncio.gather(*(examination.result() for _ in range(20)))
        assert all(one is first for one in several)
        assert runs == 2  # all who ask at once share one try
        slow.set()
        assert (await examination.result()) is not first

    asyncio.run(scenario())


def test_health_waits_for_a_check_when_it_knows_nothing_recent() -> None:
    async def scenario() -> None:
        slow, clock = asyncio.Event(), Clock()
        slow.set()
        examination = Examination({"index": slow.wait}, clock)  # type: ignore[dict-item]
        first = await examination.result()
        slow.clear()
        clock.now += RECENT_SECONDS
        asked = asyncio.create_task(examination.result())
        await asyncio.wait({asked}, timeout=2 * MOMENT_SECONDS)
        assert not asked.done()
        slow.set()
        assert await asked is not first

    asyncio.run(scenario())


@asynccontextmanager
async def client_of_slow_answers(
    keys: FakeKeys | None = None,
) -> AsyncIterator[tuple[httpx.AsyncClient, AnswerQueue]]:
    """Serve with the one turn taken, where answers are known to take longer than anybody may wait."""
    plain, clock = fake_service(keys=keys), Clock()
    queue = AnswerQueue(1, 60.0, plain.metrics, clock)
    async with queue.turn("before"):
        clock.now += 120.0
    answerer = Answerer(plain.answerer.ports, plain.answerer.journal, queue)
    transport = httpx.ASGITransport(create_app(replace(plain, answerer=answerer)))
    async with (
        queue.turn("now"),
        httpx.AsyncClient(transport=transport, base_url=READER) as client,
    ):
        yield client, queue


@pytest.mark.parametrize("path", ["/api/query", "/query", "/chat/run", "/chat/stream", "/ask"])
def test_a_foreseeable_wait_is_refused_before_the_body_is_read(path: str) -> None:
    async def scenario() -> httpx.Response:
        async with client_of_slow_answers() as (client, _queue):
            return await client.post(path, content=b"this is no JSON")

    reply = asyncio.run(scenario())
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "120")
    assert BUSY in reply.text


def test_a_wrong_key_is_refused_as_such_even_under_load() -> None:
    keys = FakeKeys()
    right = keys.add()

    async def scenario() -> list[int]:
        async with client_of_slow_answers(keys) as (client, _queue):
            question = {"question": "What is one?"}
            sent = [
                await client.post("/ask", json=question, headers={"X-API-Key": key})
                for key in ("wrong", right)
            ]
            return [reply.status_code for reply in sent]

    assert asyncio.run(scenario()) == [401, 503]


def test_refusals_are_counted_one_by_one_but_share_a_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> str:
        async with client_of_slow_answers() as (client, _queue):
            for _ in range(5):
                await client.post("/ask", json={"question": "What is one?"})
            return (await client.get("/metrics")).text

    with caplog.at_level("INFO", "bythebook.requests"):
        numbers = asyncio.run(scenario())
    assert "bythebook_overloaded_total 5.0" in numbers
    counted = 'bythebook_requests_total{method="POST",route="/ask",status="503"} 5.0'
    assert counted in numbers
    lines = [one for one in caplog.records if "refused" in one.getMessage()]
    assert len(lines) < 5
    assert vars(lines[0])["refused"] == 1


def test_a_log_line_counts_what_came_since_the_last_one() -> None:
    clock, lines = Clock(), list[int]()
    log = PacedLog(lines.append, clock)
    for _ in range(300):
        log.count()
    assert lines == [1]
    clock.now += 1.0
    log.count()
    assert lines == [1, 300]


def test_later_garbage_collections_leave_out_what_the_start_has_made() -> None:
    before = gc.get_freeze_count()
    asyncio.run(_keep_for_good())
    try:
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


class LeavingClient:
    """A client that sends a request and leaves on demand."""

    def __init__(self, method: str, path: str, body: Mapping[str, str] | None) -> None:
        self.left = asyncio.Event()
        self.statuses: list[int] = []
        self._body: bytes | None = json.dumps(body).encode()
        path, _, query = path.partition("?")
        self._scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"host", b"reader.test"), (b"content-type", b"application/json")],
            "client": ("192.0.2.1", 5000),
        }

    async def send_to(self, app: FastAPI) -> None:
        await app(self._scope, self._receive, self._take)

    async def _receive(self) -> dict[str, Any]:
        if self._body is None:
            await self.left.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body}

    async def _take(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/query", {"query": "What is one?"}),
        ("POST", "/query", {"query": "What is one?"}),
        ("POST", "/chat/run", {"message": "What is one?"}),
        ("POST", "/ask", {"question": "What is one?"}),
        ("GET", "/?q=What+is+one", None),
    ],
)
def test_a_client_who_leaves_gives_up_its_place_in_the_queue(
    method: str, path: str, body: Mapping[str, str] | None
) -> None:
    async def scenario() -> list[int]:
        plain = service_with_one_turn(HeldJudge())
        queue = AnswerQueue(1, 60.0, PrometheusMetrics())
        answerer = Answerer(plain.answerer.ports, plain.answerer.journal, queue)
        client = LeavingClient(method, path, body)
        async with asyncio.timeout(60), queue.turn("another"):
            asked = asyncio.create_task(
                client.send_to(create_app(replace(plain, answerer=answerer)))
            )
            while not queue.waiting:  # noqa: ASYNC110 - it is the state of the code under test
                await asyncio.sleep(0.001)
            client.left.set()
            await asked
            assert queue.waiting == 0
        return client.statuses

    assert asyncio.run(scenario()) == [499]
