"""More questions than can be answered: each contract says so in its own shape, and health stays quick."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.contracts.fakes import READER, FakeIndex, MemoryThreads, fake_service, hits
from tests.contracts.test_chat_stream import HeldJudge
from tests.unit.fakes import make_chunk

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.http.app import Service, create_app
from bythebook.http.contracts.health import MOMENT_SECONDS, Examination
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


def sent(
    method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str
) -> httpx.Response:
    return asyncio.run(send_while_busy(method, path, body, headers))


@pytest.mark.parametrize("path", ["/api/query", "/v1/query"])
def test_contract_a_says_overloaded(path: str) -> None:
    reply = sent("POST", path, {"query": "What is one?"})
    assert reply.status_code == 503
    assert reply.json()["error"] == {
        "code": "OVERLOADED",
        "message": BUSY,
        "details": None,
        "retry_after": 1,
    }
    assert reply.headers["Retry-After"] == "1"


def test_contract_b_says_overloaded() -> None:
    reply = sent("POST", "/query", {"query": "What is one?"})
    assert reply.status_code == reply.json()["status_code"] == 503
    assert (reply.json()["error_type"], reply.json()["error_message"]) == ("OverloadedError", BUSY)
    assert reply.headers["Retry-After"] == "1"


@pytest.mark.parametrize("path", ["/chat/run", "/chat/stream"])
def test_contract_c_says_overloaded_before_a_stream_starts(path: str) -> None:
    reply = sent("POST", path, {"message": "What is one?"})
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "application/json"
    assert (reply.json()["error"], reply.json()["message"]) == ("overloaded", BUSY)
    assert reply.headers["Retry-After"] == "1"


def test_contract_d_says_overloaded() -> None:
    reply = sent("POST", "/ask", {"question": "What is one?"})
    assert (reply.status_code, reply.json()) == (503, {"error": "overloaded", "detail": BUSY})
    assert reply.headers["Retry-After"] == "1"


def test_the_page_says_so_and_keeps_the_question() -> None:
    reply = sent("GET", "/?q=What+is+one", Accept="text/html")
    assert reply.status_code == 503
    assert BUSY in reply.text
    assert "What is one" in reply.text


@pytest.mark.parametrize("path", ["/livez", "/health", "/metrics", "/", "/search?q=one"])
def test_what_asks_nothing_does_not_wait_for_a_turn(path: str) -> None:
    assert sent("GET", path).status_code == 200


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
        slow, runs = asyncio.Event(), 0

        async def check() -> None:
            nonlocal runs
            runs += 1
            if runs > 1:
                await slow.wait()

        examination = Examination({"index": check})
        first = await examination.result()
        began = time.monotonic()
        several = await asyncio.gather(*(examination.result() for _ in range(20)))
        assert time.monotonic() - began >= MOMENT_SECONDS
        assert all(one is first for one in several)
        assert runs == 2  # all who ask at once share one try
        slow.set()
        assert (await examination.result()).status == "ok"

    asyncio.run(scenario())


def test_health_waits_for_a_check_when_it_knows_nothing_recent() -> None:
    async def scenario() -> None:
        slow = asyncio.Event()
        examination = Examination({"index": slow.wait})  # type: ignore[dict-item]
        asked = asyncio.create_task(examination.result())
        await asyncio.sleep(2 * MOMENT_SECONDS)
        assert not asked.done()
        slow.set()
        assert (await asked).status == "ok"

    asyncio.run(scenario())
