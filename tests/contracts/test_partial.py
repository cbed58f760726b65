"""A question of two parts, of which one is answered, in every contract; and failures, which are none."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.contracts.fakes import (
    FakeEmbedder,
    FakeIndex,
    MemoryThreads,
    call,
    fake_service,
    hits,
)
from tests.unit.fakes import make_chunk

from bythebook.domain.answers import Evidence, Judgement, Passage
from bythebook.errors import EmbedderFailed, StoreFailed
from bythebook.http.app import Service

QUESTION = "What is ROS 2 and who invented it?"
MISSING = "The book does not say: “who invented it”."
TEXT = "ROS 2 is a set of libraries."
WHOLE = f"{MISSING} {TEXT}"
FIELDS = {"/api/query": "query", "/query": "query", "/chat/run": "message", "/ask": "question"}


@dataclass
class FirstPartJudge:
    """Finds an answer to what something is, and to nothing else; fails if asked to."""

    failure: Exception | None = None
    answers: bool = True
    asked: list[str] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        if self.failure is not None:
            raise self.failure
        self.asked.append(question)
        if not self.answers or not question.startswith("What is ROS 2?"):
            return Judgement(0.05, tuple(0.0 for _ in passages), ())
        found = Evidence(passages[0], passages[0].chunk.units[0], 0.9)
        return Judgement(0.9, tuple(0.9 for _ in passages), (found,))


def service(judge: FirstPartJudge | None = None, **parts: Any) -> Service:
    chunk = make_chunk(TEXT, book_id="tales", anchor="ros", section="ROS 2")
    given = {"index": FakeIndex(hits=hits((chunk, 0.95)))} | parts
    return fake_service(judge=judge or FirstPartJudge(), threads=MemoryThreads(), **given)


def ask(path: str, given: Service) -> dict[str, Any]:
    reply = call(given, "POST", path, {FIELDS[path]: QUESTION})
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


def test_contract_a_opens_with_what_is_missing() -> None:
    answer = ask("/api/query", service())["answer"]
    assert (answer["disclaimer"], answer["text"]) == (MISSING, WHOLE)
    assert answer["sentences"] == [TEXT]
    assert [one["sentence"] for one in answer["citations"]] == [0]


@pytest.mark.parametrize("path", ["/query", "/ask"])
def test_contracts_b_and_d_open_with_what_is_missing(path: str) -> None:
    value = ask(path, service())
    assert (value["disclaimer"], value["answer"]) == (MISSING, WHOLE)
    assert value["sources"]


def test_contract_c_opens_with_what_is_missing() -> None:
    value = ask("/chat/run", service())
    assert (value["disclaimer"], value["response"]) == (MISSING, WHOLE)
    assert (value["sentences"], value["should_answer"]) == ([TEXT], True)


def test_a_stream_opens_with_what_is_missing() -> None:
    reply = call(service(), "POST", "/chat/stream", {"message": QUESTION})
    events = [line.partition(": ")[2] for line in reply.text.split("\n") if line[:5] == "data:"]
    first = next(json.loads(event) for event in events if "delta" in event)
    assert f"{MISSING} {TEXT}" in first["delta"]
    assert json.loads(events[-1])["response"] == first["delta"]


@pytest.mark.parametrize("path", FIELDS)
def test_no_part_answered_is_a_refusal_with_the_nearest_section(path: str) -> None:
    value = ask(path, service(FirstPartJudge(answers=False)))
    assert "does not say" not in json.dumps(value, ensure_ascii=False)
    near = value["refusal"] if path == "/api/query" else value
    if path == "/query":
        assert "Walking · ROS 2 (http://reader.test/read/tales/walking#ros)" in value["answer"]
    else:
        assert near["nearest_sections"] == [
            {
                "chapter": "Walking",
                "section": "ROS 2",
                "url": "http://reader.test/read/tales/walking#ros",
            }
        ]


FAILING: dict[str, dict[str, Any]] = {
    "store": {"index": FakeIndex(failure=StoreFailed("gone"))},
    "embedder": {"embedder": FakeEmbedder(failure=EmbedderFailed("gone"))},
    "store by a defect": {"index": FakeIndex(failure=RuntimeError("gone"))},
    "judge": {"judge": FirstPartJudge(failure=RuntimeError("gone"))},
}


@pytest.mark.parametrize("path", FIELDS)
@pytest.mark.parametrize("failing", FAILING)
@pytest.mark.parametrize("question", [QUESTION, "What is ROS 2?"])
def test_a_part_of_the_service_that_fails_is_an_error_and_no_refusal(
    path: str, failing: str, question: str
) -> None:
    reply = call(service(**FAILING[failing]), "POST", path, {FIELDS[path]: question})
    assert reply.status_code == (503 if failing in {"store", "embedder"} else 500)
    value = reply.json()
    assert value.get("status", "error") == "error"
    assert value["error"]
    for word in ("refus", "does not", "not available in", "insufficient", "nearest"):
        told = value["error"] if path == "/api/query" else value
        assert word not in json.dumps(told).replace(QUESTION, "")


def test_the_judge_is_asked_for_each_part() -> None:
    judge = FirstPartJudge()
    ask("/api/query", service(judge))
    first, second, in_context = judge.asked
    assert (first, second) == ("What is ROS 2?", "Who invented it?")
    assert first in in_context
    assert second in in_context
