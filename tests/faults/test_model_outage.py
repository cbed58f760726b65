"""A model's provider that is down is not called, is reported once, and is found again soon."""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.adapters.providers.model_stub import KEY, Answer, ModelStub, serve_model
from tests.faults.model_service import MODEL_NAME, READY_SECONDS, ask, serve_with_model
from tests.faults.served import HIGH_LIMITS, library_of, serve_folder
from tests.faults.test_model_misbehaviours import GOOD, QUESTION
from tests.unit.fakes import Clock

from bythebook.bootstrap import Core

MOST_A_MINUTE = 10  # calls that reach a provider that is down
RECOVERED_WITHIN = 35  # seconds of its return
DOWN = {
    "hangs up": Answer(hang_up=True),
    "fails": Answer(status=503, body={"error": {"message": "down"}}),
}


@pytest.fixture
def stub() -> Iterator[ModelStub]:
    with serve_model() as stub:
        yield stub
    assert stub.faults == []


@pytest.mark.parametrize("how", DOWN)
def test_few_calls_reach_a_provider_that_is_down_and_it_is_found_again_soon(
    sample_core: Core, stub: ModelStub, tmp_path: Path, how: str
) -> None:
    clock = Clock()
    calls: list[float] = []

    def down(_request: dict[str, Any]) -> Answer:
        calls.append(clock.now)
        return DOWN[how]

    stub.will(down)
    with serve_with_model(sample_core, tmp_path / "data", stub.url, clock=clock) as service:
        for number in range(33):
            outcome = service.ask(("A", "stream", "D")[number % 3], QUESTION)
            assert outcome.verdict == "model_failed"
            clock.now += 4
        busiest = max(sum(begin <= one < begin + 60 for one in calls) for begin in calls)
        assert 5 <= busiest <= MOST_A_MINUTE
        assert len(calls) >= 8  # it was tried again and again

        stub.will(Answer(GOOD))
        returned = clock.now
        while service.ask("A", QUESTION).verdict != "answered":
            clock.now += 5
            assert clock.now - returned <= RECOVERED_WITHIN
        assert service.ask("stream", QUESTION).verdict == "answered"


def test_while_left_alone_it_fails_at_once_and_says_when_to_try_again(
    sample_core: Core, stub: ModelStub, tmp_path: Path
) -> None:
    stub.will(DOWN["fails"])
    with serve_with_model(sample_core, tmp_path / "data", stub.url, clock=Clock()) as service:
        first = [service.ask("A", QUESTION) for _ in range(5)]
        calls = len(stub.requests)
        later = [service.ask(way, QUESTION) for way in ("A", "B", "C", "D", "stream")]
    assert calls == len(stub.requests) == 5
    for outcome in later:
        assert outcome.verdict == "model_failed"
    for outcome in later[:-1]:
        assert 1 <= int(outcome.headers["Retry-After"]) <= 30
    assert later[0].value["error"]["code"] == first[0].value["error"]["code"]
    assert later[0].value["error"]["retry_after"] == int(later[0].headers["Retry-After"])


def test_a_crowd_of_readers_is_no_crowd_at_the_provider(
    sample_core: Core, stub: ModelStub, tmp_path: Path
) -> None:
    def slowly_down(_request: dict[str, Any]) -> Answer:
        time.sleep(0.4)
        return DOWN["fails"]

    stub.will(slowly_down)
    with (
        serve_with_model(sample_core, tmp_path / "data", stub.url, clock=Clock()) as service,
        ThreadPoolExecutor(12) as pool,
    ):
        outcomes = list(pool.map(lambda _: service.ask("A", QUESTION), range(24)))
    assert {one.verdict for one in outcomes} == {"model_failed"}
    # In the half minute that these take by the clock; one trial may follow in the other half.
    assert len(stub.requests) <= MOST_A_MINUTE - 1


def test_an_operator_is_called_once_for_an_incident(
    sample_core: Core, stub: ModelStub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stub.will(DOWN["fails"])
    with (
        listen() as (address, calls),
        caplog.at_level(logging.INFO),
        serve_with_model(
            sample_core, tmp_path / "data", stub.url, alert_webhook=SecretStr(address)
        ) as service,
    ):
        for number in range(12):
            assert service.ask(("A", "stream")[number % 2], QUESTION).verdict == "model_failed"
        deadline = time.monotonic() + 60
        while not calls and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
    of_model = [call for call in calls if call["part"] == "model"]
    assert len(of_model) == len(calls) == 1
    assert KEY not in json.dumps(calls)
    critical = [one for one in caplog.records if one.levelno >= logging.CRITICAL]
    assert len(critical) == 1
    assert KEY not in caplog.text


@contextmanager
def listen() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Listen as an operator does; yields the address and the received calls."""
    calls: list[dict[str, Any]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            calls.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", calls
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.skipif(not os.environ.get("SLOW"), reason="takes two minutes; set SLOW=1")
def test_in_real_time(
    sample_core: Core,
    stub: ModelStub,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """The whole command, down for more than a minute, and back; when, `make soak` tells."""
    settings = {
        **HIGH_LIMITS,
        "BYTHEBOOK_LLM_BASE_URL": stub.url,
        "BYTHEBOOK_LLM_API_KEY": KEY,
        "BYTHEBOOK_LLM_MODEL": MODEL_NAME,
    }
    with serve_folder(
        library_of(sample_core, tmp_path / "data"), settings, READY_SECONDS
    ) as process:
        url = f"http://127.0.0.1:{process.port}"
        stub.will(DOWN["fails"])
        began = time.monotonic()
        while time.monotonic() - began < 65:
            assert ask(url, "A", QUESTION).verdict == "model_failed"
            time.sleep(0.1)
        in_a_minute = sum(one - began < 60 for one in stub.times)
        record_property("calls a minute", in_a_minute)
        assert in_a_minute <= MOST_A_MINUTE
        stub.will(Answer(GOOD))
        returned = time.monotonic()
        while ask(url, "stream", QUESTION).verdict != "answered":
            assert time.monotonic() - returned <= 10 * RECOVERED_WITHIN
            time.sleep(0.1)
        record_property("recovered after seconds", round(time.monotonic() - returned, 1))
