"""Twelve ways in which a model misbehaves, each met with one right end by every contract."""

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.adapters.providers.model_stub import KEY, Answer, ModelStub, answer_text, serve_model
from tests.faults.model_service import (
    MODEL_NAME,
    PATIENT,
    READY_SECONDS,
    SHORT_GAP,
    WAYS,
    ModelService,
    ServiceReply,
    ask,
    serve_with_model,
)
from tests.faults.served import HIGH_LIMITS, Served, library_of, serve_folder

from bythebook.adapters.providers.resilience import MODEL
from bythebook.bootstrap import Core

QUESTION = "How do ROS 2 nodes communicate?"
QUOTE = (
    "ROS 2 nodes communicate in three main ways: by publishing messages on topics, by calling "
    "services, and by sending goals to actions."
)
GOOD = answer_text((QUOTE, [1]))
ALTERED = QUOTE.replace("three", "five").replace("services", "pigeons")
STATUSES = {  # of failures, by contract; a stream that has begun is a 200
    "model_failed": {"A": 502, "B": 502, "C": 502, "D": 502, "stream": 200},
    "model_timeout": {"A": 504, "B": 504, "C": 503, "D": 503, "stream": 200},
}


@dataclass(frozen=True)
class Misbehaviour:
    """What a model does, and what becomes of it: a failure, the book's excerpt, or the sentences cited."""

    answer: Answer
    verdict: str = "model_failed"


MISBEHAVIOURS = {
    "a 200 with an error body": Misbehaviour(
        Answer(body={"error": {"message": f"no capacity for {KEY}", "code": 502}})
    ),
    "finish_reason error": Misbehaviour(Answer(GOOD, end="error")),
    "a stream cut mid-sentence": Misbehaviour(Answer(GOOD[:70], end=None)),
    "an empty answer": Misbehaviour(Answer(""), "excerpt"),
    "garbage for lines": Misbehaviour(Answer('{"sentences": [{"text" "ROS 2 nod%%% ]'), "excerpt"),
    "lines that cite nothing": Misbehaviour(Answer("Here it is:\nBy smoke."), "excerpt"),
    "citations of unknown sentences": Misbehaviour(
        Answer(answer_text(("Nodes talk by smoke signals.", [770]))), "excerpt"
    ),
    "altered sentences": Misbehaviour(Answer(answer_text((ALTERED, [1]))), "answered"),
    "a stall after two tokens": Misbehaviour(Answer(GOOD, stall_after=3), "model_timeout"),
    "a 429 with Retry-After": Misbehaviour(
        Answer(status=429, headers={"Retry-After": "17"}, body={"error": {"message": KEY}})
    ),
    "a 500": Misbehaviour(Answer(status=500, body={"error": {"message": f"at /srv for {KEY}"}})),
    "an answer of 10 MB": Misbehaviour(Answer(GOOD + "x" * 10_000_000, piece=4096)),
}


@pytest.fixture(scope="module")
def stub() -> Iterator[ModelStub]:
    with serve_model() as stub:
        yield stub
    assert stub.faults == []  # every request was in the published shape


@pytest.fixture(scope="module")
def service(
    stub: ModelStub, sample_core: Core, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModelService]:
    folder = tmp_path_factory.mktemp("misbehaviours") / "data"
    with serve_with_model(sample_core, folder, stub.url, PATIENT) as service:
        service.ask("A", QUESTION)  # whatever is loaded late is loaded now
        yield service


@pytest.fixture(scope="module")
def forgiving(
    stub: ModelStub, sample_core: Core, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModelService]:
    folder = tmp_path_factory.mktemp("fallback") / "data"
    with serve_with_model(sample_core, folder, stub.url, PATIENT, llm_fallback=True) as service:
        yield service


def check_end(outcome: ServiceReply, verdict: str) -> None:
    """See that a reply is the one right end, in the contract's own terms, and gives nothing away."""
    assert outcome.terminals == 1
    if verdict == "excerpt":
        verdict = "answered"
        assert QUOTE in outcome.body
        if outcome.way == "B":
            assert outcome.value["model_used"] == "bythebook-extractive"
    assert outcome.verdict == verdict, outcome.body
    expected = STATUSES[verdict][outcome.way] if verdict in STATUSES else 200
    assert outcome.status == expected, outcome.body
    assert KEY not in outcome.body
    assert "/srv" not in outcome.body


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_behaves_is_heard_by_every_contract(
    service: ModelService, stub: ModelStub, way: str
) -> None:
    service.fresh()
    stub.will(Answer(GOOD))
    outcome = service.ask(way, QUESTION)
    check_end(outcome, "answered")
    assert QUOTE in outcome.body
    assert way != "B" or outcome.value["model_used"] == MODEL_NAME
    assert len(stub.requests) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_ends_in_one_right_result(
    service: ModelService, stub: ModelStub, name: str, way: str
) -> None:
    one = MISBEHAVIOURS[name]
    service.fresh(SHORT_GAP if one.verdict == "model_timeout" else PATIENT)
    stub.will(one.answer)
    outcome = service.ask(way, QUESTION)
    check_end(outcome, one.verdict)
    assert len(stub.requests) == 1
    assert "smoke" not in outcome.body
    assert "pigeons" not in outcome.body


@pytest.mark.parametrize("way", ["A", "B", "C", "D"])
def test_how_long_to_wait_is_passed_on_and_held_to(
    service: ModelService, stub: ModelStub, way: str
) -> None:
    service.fresh()
    stub.will(MISBEHAVIOURS["a 429 with Retry-After"].answer)
    first, second = service.ask(way, QUESTION), service.ask(way, QUESTION)
    for outcome in (first, second):
        check_end(outcome, "model_failed")
        assert 1 <= int(outcome.headers["Retry-After"]) <= 17
    assert len(stub.requests) == 1


def test_sentences_shown_before_a_cut_do_not_make_it_a_success(
    service: ModelService, stub: ModelStub
) -> None:
    service.fresh()
    stub.will(Answer(f"{GOOD}\nAnd by", end=None))
    outcome = service.ask("stream", QUESTION)
    assert QUOTE in outcome.body  # it was verified, and sent as soon as it was
    check_end(outcome, "model_failed")
    session = outcome.body.partition('"session_id":"')[2][:36]
    assert session == ""  # only `done` names the thread


def test_a_failed_exchange_leaves_no_answer_in_the_conversation(
    service: ModelService, stub: ModelStub
) -> None:
    service.fresh()
    stub.will(Answer(GOOD))
    session = service.ask("C", QUESTION).value["session_id"]
    stub.will(Answer(GOOD[:70], end=None))
    failed = service.ask("C", "What are the topics of a node?", session_id=session)
    check_end(failed, "model_failed")
    stub.will(Answer(GOOD))
    after = service.ask("C", QUESTION, session_id=session)
    check_end(after, "answered")
    thread = httpx.get(f"{service.url}/session/{session}/history", timeout=60).json()
    assert [one["role"] for one in thread["messages"]] == ["user", "assistant"] * 2


FAILING = [name for name, one in MISBEHAVIOURS.items() if one.verdict in STATUSES]


@pytest.mark.parametrize(("name", "way"), list(zip(FAILING, itertools.cycle(WAYS), strict=False)))
def test_where_it_is_configured_the_book_answers_in_place_of_a_failing_model(
    forgiving: ModelService, stub: ModelStub, name: str, way: str
) -> None:
    one = MISBEHAVIOURS[name]
    forgiving.fresh(SHORT_GAP if one.verdict == "model_timeout" else PATIENT)
    stub.will(one.answer)
    outcome = forgiving.ask(way, QUESTION)
    check_end(outcome, "answered")
    assert QUOTE in outcome.body
    if way in {"A", "C", "stream"}:
        shown = outcome.value["answer"] if way == "A" else outcome.value
        assert shown["fallback"] is True


# The same with the real command in a process of its own, whose memory and deadlines are its own.


@pytest.fixture(scope="module")
def process(
    stub: ModelStub, sample_core: Core, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = library_of(sample_core, tmp_path_factory.mktemp("process") / "data")
    settings = {
        **HIGH_LIMITS,
        "BYTHEBOOK_LLM_BASE_URL": stub.url,
        "BYTHEBOOK_LLM_API_KEY": KEY,
        "BYTHEBOOK_LLM_MODEL": MODEL_NAME,
    }
    with serve_folder(folder, settings, READY_SECONDS) as process:
        yield process


def test_an_answer_of_10_mb_does_not_fill_the_memory(process: Served, stub: ModelStub) -> None:
    url = f"http://127.0.0.1:{process.port}"
    stub.will(Answer(GOOD))
    check_end(ask(url, "A", QUESTION), "answered")
    before = process.footprint().megabytes
    for text, piece in ((" " * 10_000_000, 4096), ("x" * 10_000_000, 10_000_000)):
        stub.will(Answer(GOOD + text, piece=piece))
        check_end(ask(url, "A", QUESTION), "model_failed")
    assert peak(process) - before < 60
    stub.will(Answer(GOOD))
    check_end(ask(url, "stream", QUESTION), "answered")


@pytest.mark.skipif(not os.environ.get("SLOW"), reason="waits out the real deadline; set SLOW=1")
def test_a_stalled_model_is_given_up_at_the_real_deadline(
    process: Served, stub: ModelStub, record_property: Callable[[str, object], None]
) -> None:
    """How soon, `make soak` tells: within a second on a machine that is not busy."""
    stub.will(Answer(GOOD, stall_after=3))
    outcome = ask(f"http://127.0.0.1:{process.port}", "stream", QUESTION)
    check_end(outcome, "model_timeout")
    assert MODEL.gap is not None
    assert outcome.seconds > MODEL.gap - 1
    record_property(
        "given up after seconds, of which silent", f"{outcome.seconds:.1f}, {MODEL.gap}"
    )


def peak(process: Served) -> float:
    """Read the most megabytes that a process ever held."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
