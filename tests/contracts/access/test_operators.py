"""What operators see: numbers, lines of the log, sums over the questions, health without a database."""

import asyncio
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import free_port
from tests.contracts.fakes import (
    BOOK,
    READER,
    FakeEmbedder,
    FakeIndex,
    FakeKeys,
    FakeLibrary,
    call,
    fake_service,
    hits,
)

from bythebook.adapters.operations.json_logs import log_handler
from bythebook.bootstrap import Core
from bythebook.domain.books import Book, Chunk, Unit
from bythebook.errors import EmbedderFailed, StoreFailed
from bythebook.http.app import Service, create_app
from bythebook.operate.access.gate import RequestLimits

HERON = "The grey heron stands still in shallow water."
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


def numbers(service: Service) -> dict[str, float]:
    reply = call(service, "GET", "/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    found = SAMPLE.findall(reply.text)
    return {
        f"{name}{{{labels}}}" if labels else name: float(value) for name, labels, value in found
    }


def make_service() -> Service:
    unit, end = Unit("sentence", 0, len(HERON)), len(HERON)
    url = "https://book.test/birds"
    chunk = Chunk(
        "tales", "birds", 0, HERON, "Birds", "Herons", ("Birds",), "", url, 0, end, 9, (unit,)
    )
    return fake_service(index=FakeIndex(hits=hits((chunk, 0.9))))


# Numbers


def test_what_can_be_counted_is_there_at_zero() -> None:
    found = numbers(fake_service())
    expected = [
        *(f'refusals_total{{type="{kind}"}}' for kind in ("empty_retrieval", "low_relevance")),
        'refusals_total{type="insufficient_grounding"}',
        'refusals_total{type="selected_text_missing"}',
        *(
            f'questions_total{{contract="{contract}",verdict="{verdict}"}}'
            for contract in ("query", "rag", "chat", "ask")
            for verdict in ("success", "refused", "error")
        ),
        'sentence_faults_total{fault="altered_quote",outcome="dropped"}',
        'sentence_faults_total{fault="misattributed",outcome="corrected"}',
        *(f'rate_limited_total{{window="{window}"}}' for window in ("key", "session", "ip")),
        *(f'part_failures_total{{part="{part}"}}' for part in ("store", "embedder", "database")),
        *(f'stage_seconds_count{{stage="{stage}"}}' for stage in ("retrieve", "judge", "compose")),
        "tokens_total",
        "entries_lost_total",
    ]
    assert {name: found.get(f"bythebook_{name}") for name in expected} == dict.fromkeys(expected, 0)


def test_requests_are_counted_by_route_and_never_by_what_a_stranger_writes() -> None:
    service = fake_service()
    for number in range(5):
        call(service, "GET", f"/nowhere/{number}")
        call(service, "GET", f"/read/tales/{number}")
        call(service, f"MADE{number}", "/ask")
    call(service, "GET", "/openapi.json")
    found = numbers(service)
    counted = {name: count for name, count in found.items() if "requests_total" in name}
    assert counted == {
        'bythebook_requests_total{method="GET",route="unmatched",status="404"}': 5,
        'bythebook_requests_total{method="GET",route="/read/{book_id}/{document_id:path}",status="404"}': 5,
        'bythebook_requests_total{method="other",route="/ask",status="405"}': 5,
        'bythebook_requests_total{method="GET",route="/openapi.json",status="200"}': 1,
    }
    assert found['bythebook_request_seconds_count{route="unmatched"}'] == 5


def test_questions_are_counted_by_contract_verdict_and_stage() -> None:
    service = make_service()
    call(service, "POST", "/api/query", {"query": "What does the heron do?"})
    call(service, "POST", "/ask", {"question": "What does the heron do?"})
    found = numbers(service)
    assert found['bythebook_questions_total{contract="query",verdict="success"}'] == 1
    assert found['bythebook_questions_total{contract="ask",verdict="success"}'] == 1
    assert found['bythebook_stage_seconds_count{stage="judge"}'] == 2
    assert found['bythebook_index_chunks{book="tales"}'] == BOOK.chunks
    assert found['bythebook_index_documents{book="tales"}'] == BOOK.documents


def test_refusals_are_counted_by_type() -> None:
    service = fake_service()
    call(service, "POST", "/query", {"query": "What does the heron do?"})
    found = numbers(service)
    assert found['bythebook_questions_total{contract="rag",verdict="refused"}'] == 1
    assert found['bythebook_refusals_total{type="empty_retrieval"}'] == 1


@pytest.mark.parametrize(
    ("broken", "part"),
    [
        (fake_service(embedder=FakeEmbedder(EmbedderFailed("no"))), "embedder"),
        (fake_service(index=FakeIndex(failure=StoreFailed("no"))), "store"),
    ],
    ids=["embedder", "store"],
)
def test_a_failure_of_a_part_is_counted(broken: Service, part: str) -> None:
    assert call(broken, "POST", "/ask", {"question": "What does it do?"}).status_code == 503
    found = numbers(broken)
    assert found[f'bythebook_part_failures_total{{part="{part}"}}'] == 1
    assert found['bythebook_questions_total{contract="ask",verdict="error"}'] == 1
    assert found['bythebook_requests_total{method="POST",route="/ask",status="503"}'] == 1


def test_requests_over_a_limit_are_counted_by_window() -> None:
    service = fake_service(limits=RequestLimits(ip=1))

    async def scenario() -> list[int]:
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            body = {"question": "What does it do?"}
            return [(await client.post("/ask", json=body)).status_code for _ in range(3)]

    assert asyncio.run(scenario()) == [200, 429, 429]
    page = service.metrics.write_page([])[0].decode()
    assert 'bythebook_rate_limited_total{window="ip"} 2.0' in page
    assert 'route="/ask",status="429"} 2.0' in page


def test_the_numbers_are_given_also_while_the_books_cannot_be_read() -> None:
    class Broken(FakeLibrary):
        def books(self) -> list[Book]:
            raise StoreFailed("gone")

    found = numbers(fake_service(library=Broken()))
    assert "bythebook_tokens_total" in found
    assert not [name for name in found if "index_chunks" in name]


def test_with_keys_the_numbers_are_for_operators() -> None:
    keys = FakeKeys()
    ask, admin = keys.add(), keys.add("admin")
    service = fake_service(keys=keys)

    async def get(**headers: str) -> int:
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            return (await client.get("/metrics", headers=headers)).status_code

    assert asyncio.run(get()) == 401
    assert asyncio.run(get(Authorization=f"Bearer {ask}")) == 403
    assert asyncio.run(get(Authorization=f"Bearer {admin}")) == 200


# Lines of the log


@dataclass
class Log:
    """What was logged while a test ran."""

    stream: io.StringIO = field(default_factory=io.StringIO)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in found if event in {"", line["event"]}]


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    handler = log_handler(log.stream, as_json=True)
    logger = logging.getLogger("bythebook")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield log
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def test_an_answer_leaves_two_lines_that_tell_how_it_went_and_not_what_was_said(log: Log) -> None:
    body: dict[str, object] = {"query": "What does the heron do?", "session_id": str(uuid.uuid4())}
    reply = call(make_service(), "POST", "/api/query?key=letmein", body)
    assert reply.json()["status"] == "success"
    question, request = log.lines()
    assert question["request_id"] == request["request_id"] == reply.headers["x-request-id"]
    assert question["session_id"] == request["session_id"] == body["session_id"]
    assert (question["verdict"], question["contract"]) == ("success", "query")
    assert set(question["timings_ms"]) == {"retrieve", "judge", "compose"}
    assert 0 < question["cosine"] <= 1
    assert question["score"] > 0
    assert {name: request[name] for name in ("method", "route", "status", "level")} == {
        "method": "POST",
        "route": "/api/query",
        "status": 200,
        "level": "info",
    }
    assert request["ms"] >= 0
    assert not [word for word in ("heron", "shallow", "letmein", "127.0.0.1") if word in log.text]


def test_a_selection_and_a_question_on_a_page_are_not_told(log: Log) -> None:
    selected: dict[str, object] = {"query": "Where does it stand?", "selected_text": HERON}
    call(make_service(), "POST", "/api/query", selected)
    call(make_service(), "GET", "/?q=Where+does+the+heron+stand")
    call(make_service(), "POST", "/api/query", {"query": "heron", "surprise": "heron"})
    assert len(log.lines("request")) == 3
    assert "heron" not in log.text


def test_health_routes_are_told_in_debug_only(log: Log) -> None:
    for path in ("/livez", "/readyz", "/health", "/metrics"):
        call(fake_service(), "GET", path)
    assert [line["level"] for line in log.lines("request")] == ["debug"] * 4


def test_every_line_of_a_failing_request_names_it(log: Log) -> None:
    broken = fake_service(index=FakeIndex(failure=StoreFailed("The index is gone.")))
    reply = call(broken, "POST", "/ask", {"question": "What does it do?"})
    found = log.lines()
    assert {line["event"] for line in found} >= {"question", "request"}
    assert {line["request_id"] for line in found} == {reply.headers["x-request-id"]}
    (question,) = log.lines("question")
    assert (question["verdict"], question["error"]) == ("error", "StoreFailed")


def test_a_defect_is_counted_and_told_as_500(log: Log) -> None:
    broken = fake_service(index=FakeIndex(failure=ZeroDivisionError("letmein")))
    assert call(broken, "POST", "/ask", {"question": "What does it do?"}).status_code == 500
    (request,) = log.lines("request")
    assert (request["status"], request["level"]) == (500, "warning")
    assert numbers(broken)['bythebook_requests_total{method="POST",route="/ask",status="500"}'] == 1


# A process that serves


class Served:
    """`bythebook serve` over the sample book, with its log in a file."""

    def __init__(self, data: Path, home: Path, **variables: str) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.home = home
        given = {name: value for name, value in os.environ.items() if "BYTHEBOOK" not in name}
        self.environment = given | {"BYTHEBOOK_DATA_DIR": str(data), **variables}
        command = [sys.executable, "-W", "error", "-m", "bythebook", "serve", "--port", str(port)]
        with (home / "log").open("w") as log:
            self.process = subprocess.Popen(command, env=self.environment, cwd=home, stderr=log)
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 120
        while True:
            try:
                httpx.get(f"{self.url}/livez", timeout=60)
            except httpx.TransportError:
                assert self.process.poll() is None, self.log
                assert time.monotonic() < deadline
                time.sleep(0.1)
            else:
                return

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def stats(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-m", "bythebook", "stats", *words]
        return subprocess.run(
            command, env=self.environment | {"COLUMNS": "100"}, capture_output=True, text=True
        )

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


@pytest.fixture(scope="module")
def served(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    data = home / "data"
    data.mkdir()
    for name in ("books", "generations", "cache"):
        source = sample_core.settings.data_dir / name
        if source.exists():
            (data / name).symlink_to(source)
    server = Served(data, home, BYTHEBOOK_LOG_LEVEL="debug")
    yield server
    server.stop()


QUESTIONS = (
    "How do ROS 2 nodes communicate?",
    "how do ROS 2 nodes communicate",
    "Who won in 1998?",
)


def test_a_serving_process_logs_json_and_its_stats_tell_of_the_questions(served: Served) -> None:
    for question in QUESTIONS:
        headers = {"Authorization": "Bearer btb_" + "x" * 43}
        reply = httpx.post(
            f"{served.url}/api/query", json={"query": question}, headers=headers, timeout=60
        )
        word: dict[str, object] = {
            "request_id": reply.headers["x-request-id"],
            "helpful": False,
            "reason": "Too [short].",
        }
        assert httpx.post(f"{served.url}/feedback", json=word, timeout=60).status_code == 204
    lines = [json.loads(line) for line in served.log.splitlines()]
    assert {"uvicorn.error", "bythebook.requests", "bythebook.questions"} <= {
        line["logger"] for line in lines
    }
    assert "btb_" not in served.log
    assert "nodes" not in served.log

    found = json.loads(served.stats("--json").stdout)
    assert found["questions"] == 3
    assert found["by_status"] == {"success": 2, "refused": 1}
    assert found["most_asked"][0]["times"] == 2
    assert (found["helpful"], found["not_helpful"]) == (0, 3)
    shown = served.stats()
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in ("Questions per day", "█", "Most asked", "Most cited chapters", "Who won in 1998?"):
        assert part in shown.stdout
    assert "Feedback: 0 helpful, 3 not" in shown.stdout
    assert "Too [short]." in shown.stdout
