"""Contract C's conversations over a real server, and over parts that fail."""

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.conftest import SAMPLE, free_port, serve_core
from tests.contracts.fakes import (
    BROKEN_BODIES,
    CITATION,
    JSON,
    FakeEmbedder,
    FakeIndex,
    FakeKeys,
    FakeLibrary,
    MemoryThreads,
    RankingJudge,
    SentenceJudge,
    bare_request,
    call,
    fake_service,
    hits,
)
from tests.unit.fakes import make_chunk

from bythebook.ask.read.verdict import CLEAR_FROM, SURE_FROM
from bythebook.ask.show.wording import DISCLAIMER
from bythebook.bootstrap import Core
from bythebook.errors import EmbedderFailed, NoBooks, RecordsFailed, StoreFailed
from bythebook.http.app import Service
from bythebook.http.contracts import chat as contract_chat
from bythebook.http.contracts.chat_replies import excerpt
from bythebook.http.wire.problems import STATUS, Problem, ProblemKind
from bythebook.operate.conversation import OF_SELECTION

RUN = "/chat/run"
SESSION = "550e8400-e29b-41d4-a716-446655440000"
QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
REFUSAL = "I don't have sufficient information in the textbook to answer that question."
RECORDED = (
    "A URDF file records four kinds of information: how the parts are connected, how each joint may "
    "move, what the parts look like, and how mass is distributed in them."
)
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
RESPONSE = {
    "response",
    "confidence",
    "sources",
    "session_id",
    "timestamp",
    "confidence_level",
    "should_answer",
    "sentences",
    "key_sentences",
    "citations",
    "confidence_metrics",
    "nearest_sections",
    "disclaimer",
    "fallback",
}
SOURCE = {"chunk_text", "similarity_score", "chapter", "section", "url", "chunk_index"}
METRICS = {
    "average_similarity",
    "min_similarity",
    "max_similarity",
    "num_chunks",
    "chunk_diversity",
    "confidence_level",
    "should_answer",
}
ERROR = {"error", "message", "details", "timestamp", "request_id"}


def say(client: httpx.Client, message: str, **more: object) -> dict[str, Any]:
    reply = client.post(RUN, json={"message": message, **more})
    assert reply.status_code == 200, reply.text
    return check_response(reply.json())


def chat(service: Service, message: str = "What is a gait?", **more: object) -> dict[str, Any]:
    service = replace(service, threads=MemoryThreads())
    reply = call(service, "POST", RUN, {"message": message, **more})
    assert reply.status_code == 200, reply.text
    return check_response(reply.json())


def check_response(value: dict[str, Any]) -> dict[str, Any]:
    """Check what holds for every response."""
    assert set(value) == RESPONSE
    metrics = value["confidence_metrics"]
    assert set(metrics) == METRICS
    assert metrics["min_similarity"] <= metrics["average_similarity"] <= metrics["max_similarity"]
    assert 0 <= metrics["chunk_diversity"] <= 1
    assert value["confidence"] == metrics["average_similarity"]
    assert value["confidence_level"] == metrics["confidence_level"]
    assert value["should_answer"] is metrics["should_answer"]
    assert uuid.UUID(value["session_id"]).version == 4
    assert datetime.fromisoformat(value["timestamp"]).utcoffset() == timedelta(0)
    for source in value["sources"]:
        assert set(source) == SOURCE
        assert len(source["chunk_text"]) <= 500
        assert 0 <= source["similarity_score"] <= 1
    for citation in value["citations"]:
        assert set(citation) == CITATION
    if value["should_answer"]:
        _check_answer(value)
    else:
        assert value["response"] == REFUSAL
        assert value["confidence_level"] == "insufficient"
        assert value["sources"] == value["citations"] == value["sentences"] == []
        assert value["disclaimer"] is None
    return value


# What may stand next to sentences: space, an item's mark, a fence, the rule below a head row.
MARKS = r"\s*(?:(?:-|\d+\)|`{3,}\w*|---(?: \| ---)*)\s*)*"


def _check_answer(value: dict[str, Any]) -> None:
    assert value["sources"]
    assert value["nearest_sections"] == []
    cited = {citation["sentence"] for citation in value["citations"]}
    assert cited == set(range(len(value["sentences"])))
    text = value["response"]
    assert value["disclaimer"] == (DISCLAIMER if value["confidence_level"] == "low" else None)
    text = text.removeprefix(f"{value['disclaimer']} ")
    for sentence in value["sentences"]:
        before, found, text = text.partition(sentence)
        assert found
        assert re.fullmatch(MARKS, before)
    assert re.fullmatch(MARKS, text)


def error_of(reply: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert reply.status_code == status, reply.text
    value: dict[str, Any] = reply.json()
    assert set(value) == ERROR
    assert value["error"] == kind
    assert value["request_id"] == reply.headers["x-request-id"]
    assert datetime.fromisoformat(value["timestamp"]).utcoffset() == timedelta(0)
    return value


def history(client: httpx.Client, session: str) -> dict[str, Any]:
    reply = client.get(f"/session/{session}/history")
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


# Answers


def test_the_example_of_the_contract_is_answered(client: httpx.Client) -> None:
    value = say(
        client, QUESTION, session_id=SESSION, stream=False, top_k=5, similarity_threshold=0.7
    )
    assert value["session_id"] == SESSION
    assert value["should_answer"] is True
    assert value["sources"][0]["section"]
    assert value["sources"][0]["url"].startswith("http")
    assert value["citations"][0]["referenced_text"] in value["response"]
    client.delete(f"/session/{SESSION}")


def test_defaults_are_those_of_the_contract(client: httpx.Client) -> None:
    value = say(client, QUESTION)
    assert value["confidence_metrics"]["num_chunks"] == 5
    assert all(source["similarity_score"] >= 0.7 for source in value["sources"])


def test_without_a_session_a_new_one_begins_each_time(client: httpx.Client) -> None:
    first, second = say(client, QUESTION), say(client, QUESTION)
    assert first["session_id"] != second["session_id"]
    assert len(history(client, first["session_id"])["messages"]) == 2


def test_a_foreign_question_is_refused_with_the_fixed_sentence(client: httpx.Client) -> None:
    value = say(client, FOREIGN)
    assert value["should_answer"] is False
    assert value["nearest_sections"]
    assert value["confidence_metrics"]["num_chunks"] == 5


def test_a_message_is_trimmed_and_kept_trimmed(client: httpx.Client) -> None:
    session = say(client, f"  {QUESTION}\n")["session_id"]
    assert history(client, session)["messages"][0]["content"] == QUESTION


def test_as_many_chunks_count_as_were_asked_for(client: httpx.Client) -> None:
    for top_k in (1, 3, 10):
        value = say(client, QUESTION, top_k=top_k)
        assert value["confidence_metrics"]["num_chunks"] == top_k


def test_the_book_may_be_named(client: httpx.Client) -> None:
    assert say(client, QUESTION, book=SAMPLE)["should_answer"] is True
    reply = client.post(RUN, json={"message": QUESTION, "book": "no-such-book"})
    assert error_of(reply, 422, "validation_failed")["message"].startswith("book: ")


def test_every_quote_stands_in_the_plain_text_at_its_place(client: httpx.Client) -> None:
    for citation in say(client, QUESTION)["citations"]:
        text = client.get(f"/read/{SAMPLE}/{citation['document_id']}.txt").text
        assert text[citation["char_start"] : citation["char_end"]] == citation["referenced_text"]


# Confidence

ONE, TWO, THREE, FOUR, FIVE = (
    make_chunk(f"Fact {n} is here.", document_id=f"d{n}") for n in range(5)
)


@pytest.mark.parametrize(
    ("chance", "level"),
    [(CLEAR_FROM, "high"), (SURE_FROM, "medium"), (SURE_FROM - 0.01, "low")],
)
@pytest.mark.parametrize("relevance", [0.55, 0.9])
def test_the_level_follows_the_judge_and_low_answers_with_a_disclaimer(
    relevance: float, chance: float, level: str
) -> None:
    found = FakeIndex(hits=hits((ONE, relevance), (TWO, relevance)))
    value = chat(fake_service(index=found, judge=SentenceJudge("Fact", answerable=chance)))
    assert value["confidence_level"] == level
    assert (value["disclaimer"] is not None) is (level == "low")


def test_diversity_is_that_of_the_chunks_own_vectors() -> None:
    found = hits((ONE, 0.9), (TWO, 0.9), (THREE, 0.9))
    value = chat(fake_service(index=FakeIndex(hits=found)))  # its vectors are all at right angles
    assert value["confidence_metrics"]["chunk_diversity"] == 1.0
    value = chat(fake_service(index=FakeIndex(hits=found[:1])))
    assert value["confidence_metrics"]["chunk_diversity"] == 0.0


# The threshold

JUDGE = RankingJudge({f"Fact {n} is here.": 0.5 for n in range(5)})


def similarities_of(value: dict[str, Any]) -> list[float]:
    return [source["similarity_score"] for source in value["sources"]]


def test_the_default_threshold_filters_what_is_listed_and_never_what_is_cited() -> None:
    found = hits((ONE, 0.7), (TWO, 0.45), (THREE, 0.3))
    judge = RankingJudge({"Fact 0 is here.": 0.1, "Fact 1 is here.": 0.7, "Fact 2 is here.": 0.1})
    value = chat(fake_service(index=FakeIndex(hits=found), judge=judge))
    quotes = {citation["referenced_text"] for citation in value["citations"]}
    assert "Fact 1 is here." in quotes
    listed = {source["chunk_text"]: source["similarity_score"] for source in value["sources"]}
    assert listed["Fact 1 is here."] < 0.7
    assert all(score >= 0.7 or text in quotes for text, score in listed.items())
    assert value["confidence_metrics"]["num_chunks"] == 3


def test_a_threshold_that_is_given_filters_before_the_judge() -> None:
    found = hits((ONE, 0.9), (TWO, 0.6), (THREE, 0.3))
    service = fake_service(index=FakeIndex(hits=found), judge=JUDGE)
    for threshold, count in ((0.0, 3), (0.7, 2), (0.8, 1)):
        value = chat(service, similarity_threshold=threshold)
        assert value["confidence_metrics"]["num_chunks"] == count
        assert value["confidence_metrics"]["min_similarity"] >= threshold
    value = chat(service, similarity_threshold=1.0)
    assert (value["should_answer"], value["confidence"]) == (False, 0.0)


def test_one_text_in_two_places_is_one_source() -> None:
    same = make_chunk("Fact 0 is here.", book_id="other", document_id="elsewhere")
    service = fake_service(
        index=FakeIndex(hits=hits((ONE, 0.9), (same, 0.8), (TWO, 0.9))), judge=JUDGE
    )
    value = chat(service)
    texts = [source["chunk_text"] for source in value["sources"]]
    assert len(texts) == len(set(texts))
    assert value["confidence_metrics"]["num_chunks"] == 2


def test_a_long_chunk_is_cut_at_the_end_of_a_sentence() -> None:
    sentence = "This sentence is as long as many others are."
    text = " ".join([sentence] * 20)
    shown = excerpt(text)
    assert 400 < len(shown) <= 500
    assert shown.endswith("are.…")
    assert text.startswith(shown[:-1])
    assert excerpt("x" * 600) == "x" * 499 + "…"
    assert excerpt("word " * 200).endswith("word…")
    assert excerpt("short") == "short"


# Selections


def test_a_selection_is_the_one_source(client: httpx.Client) -> None:
    for more in ({}, {"scope": "selection"}):
        value = say(client, "What is the capital of Iceland?", selected_text=SELECTION, **more)
        assert value["should_answer"] is True
        assert value["sources"] == [
            {
                "chunk_text": SELECTION,
                "similarity_score": 1.0,
                "chapter": "",
                "section": "Selected text",
                "url": "",
                "chunk_index": 0,
            }
        ]
        assert value["confidence_level"] in {"high", "medium"}
        assert {one["chunk_id"] for one in value["citations"]} == {"selected_text"}


def test_a_selection_that_does_not_say_is_refused(client: httpx.Client) -> None:
    value = say(client, QUESTION, selected_text=SELECTION)
    assert value["should_answer"] is False


def test_a_selection_touches_neither_index_nor_embedder() -> None:
    index = FakeIndex(failure=AssertionError("the index was touched"))
    embedder = FakeEmbedder(AssertionError("the embedder was touched"))
    service = fake_service(index=index, embedder=embedder)
    value = chat(service, "What is the capital of Iceland?", selected_text=SELECTION)
    assert value["should_answer"] is True


def test_the_section_of_a_selection_answers_and_no_other(client: httpx.Client) -> None:
    value = say(client, "What is URDF?", selected_text=RECORDED, scope="section")
    assert {source["section"] for source in value["sources"]} == {"What is URDF?"}
    value = say(client, QUESTION, selected_text=RECORDED, scope="section")
    assert value["should_answer"] is False
    assert say(client, QUESTION, selected_text=RECORDED, scope="book")["should_answer"] is True


def test_the_scope_of_the_book_is_that_of_no_selection(client: httpx.Client) -> None:
    plain, selected = (
        say(client, QUESTION),
        say(client, QUESTION, selected_text=RECORDED, scope="book"),
    )
    assert selected["citations"] == plain["citations"]
    assert say(client, QUESTION, scope="book")["citations"] == plain["citations"]


def test_a_selection_that_stands_nowhere_has_no_section(client: httpx.Client) -> None:
    body = {"message": QUESTION, "selected_text": SELECTION, "scope": "section"}
    error = error_of(client.post(RUN, json=body), 422, "validation_failed")
    assert "selected_text" in error["message"]


def test_what_was_selected_is_not_kept(client: httpx.Client) -> None:
    value = say(client, "What is the capital of Iceland?", selected_text=SELECTION)
    assert value["sentences"][0] in SELECTION
    reply = client.get(f"/session/{value['session_id']}/history")
    for sentence in SELECTION.split(". "):
        assert sentence not in reply.text
    assert reply.json()["messages"][1]["content"] == OF_SELECTION
    citations = reply.json()["messages"][1]["citations"]
    assert citations
    assert {citation["referenced_text"] for citation in citations} == {None}


# Conversations


def test_a_follow_up_is_understood_and_kept_as_written(client: httpx.Client) -> None:
    session = say(client, "What is URDF?")["session_id"]
    value = say(client, "What does it describe?", session_id=session)
    assert value["should_answer"] is True
    assert "URDF" in value["response"]
    assert say(client, "What does it describe?")["response"] != value["response"]
    messages = history(client, session)["messages"]
    assert [one["content"] for one in messages][::2] == ["What is URDF?", "What does it describe?"]


@pytest.mark.parametrize(
    "message",
    [FOREIGN, "Who is its favourite football team?", "Does it describe recipes for apple pie?"],
)
def test_a_foreign_follow_up_is_refused(client: httpx.Client, message: str) -> None:
    session = say(client, "What is URDF?")["session_id"]
    assert say(client, message, session_id=session)["should_answer"] is False
    assert say(client, "What does URDF describe?", session_id=session)["should_answer"] is True


def test_a_thread_has_the_fields_of_the_contract(client: httpx.Client) -> None:
    metadata = {"user_id": "user123", "tags": ["ros2", "urdf", "robotics"]}
    first = say(client, "What is URDF?", metadata=metadata)
    say(client, FOREIGN, session_id=first["session_id"])
    value = history(client, first["session_id"])
    assert set(value) == {
        "thread_id",
        "messages",
        "created_at",
        "updated_at",
        "topic_summary",
        "metadata",
    }
    assert value["thread_id"] == first["session_id"]
    assert value["metadata"] == metadata
    assert value["topic_summary"] is None
    messages = value["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant"] * 2
    assert all(set(one) == {"role", "content", "timestamp"} for one in messages[::2])
    for one in messages[1::2]:
        assert set(one) == {"role", "content", "timestamp", "confidence", "citations"}
        assert 0 <= one["confidence"] <= 1
    assert messages[1]["citations"] == first["citations"]
    assert (messages[3]["content"], messages[3]["citations"]) == (REFUSAL, [])
    times = [datetime.fromisoformat(one["timestamp"]) for one in messages]
    assert times == sorted(times)
    assert all(time.utcoffset() == timedelta(0) for time in times)
    assert value["created_at"] == messages[0]["timestamp"]
    assert value["updated_at"] == messages[-1]["timestamp"]


def test_metadata_is_measured_as_it_may_be_sent(client: httpx.Client) -> None:
    fits = {str(number): "x" for number in range(210)}
    sent = json.dumps(fits, separators=(",", ":"))
    assert 1900 < len(sent) <= 2048 < len(json.dumps(fits))
    assert client.post("/chat/run", json={"message": QUESTION, "metadata": fits}).status_code == 200
    wide = {**fits, "more": "x" * (2048 - len(sent))}
    assert client.post("/chat/run", json={"message": QUESTION, "metadata": wide}).status_code == 422


def test_metadata_that_is_not_given_again_stays(client: httpx.Client) -> None:
    session = say(client, QUESTION, metadata={"user_id": "a"})["session_id"]
    say(client, QUESTION, session_id=session)
    assert history(client, session)["metadata"] == {"user_id": "a"}
    say(client, QUESTION, session_id=session, metadata={})
    assert history(client, session)["metadata"] == {}


def test_the_fifth_exchange_brings_a_summary(client: httpx.Client) -> None:
    session = str(uuid.uuid4())
    for number in range(5):
        assert number == 0 or history(client, session)["topic_summary"] is None
        say(client, "What is URDF?", session_id=session)
    summary = history(client, session)["topic_summary"]
    assert "URDF" in summary
    assert len(summary) <= 200


def test_fifty_messages_live(client: httpx.Client) -> None:
    session = str(uuid.uuid4())
    for number in range(27):
        say(client, f"What is the capital {number}?", session_id=session, selected_text=SELECTION)
    messages = history(client, session)["messages"]
    assert len(messages) == 50
    assert messages[0]["content"] == "What is the capital 2?"
    assert messages[-2]["content"] == "What is the capital 26?"


def test_twenty_messages_at_once_are_all_kept_in_turns(client: httpx.Client) -> None:
    session = str(uuid.uuid4())
    messages = [f"What is URDF {number}?" for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda text: say(client, text, session_id=session), messages))
    kept = history(client, session)["messages"]
    assert [one["role"] for one in kept] == ["user", "assistant"] * 20
    assert {one["content"] for one in kept[::2]} == set(messages)
    told = {text: reply["response"] for text, reply in zip(messages, replies, strict=True)}
    assert all(
        told[one["content"]] == two["content"]
        for one, two in zip(kept[::2], kept[1::2], strict=True)
    )


def test_a_thread_outlives_the_service(sample_core: Core, client: httpx.Client) -> None:
    session = say(client, "What is URDF?")["session_id"]
    before = history(client, session)
    settings = sample_core.settings.model_copy(update={"port": free_port()})
    other = Core(settings)
    with serve_core(other) as server, httpx.Client(base_url=server.url, timeout=120) as again:
        assert history(again, session) == before
        assert "URDF" in say(again, "What does it describe?", session_id=session)["response"]
    other.close()
    assert len(history(client, session)["messages"]) == 4


def test_a_deleted_thread_is_gone_and_may_begin_anew(client: httpx.Client) -> None:
    session = say(client, "What is URDF?")["session_id"]
    reply = client.delete(f"/session/{session}")
    assert (reply.status_code, reply.content) == (204, b"")
    error_of(client.get(f"/session/{session}/history"), 404, "not_found")
    error_of(client.delete(f"/session/{session}"), 404, "not_found")
    say(client, "What is URDF?", session_id=session)
    assert len(history(client, session)["messages"]) == 2


# Owners


def test_anothers_thread_is_as_unknown_as_none() -> None:
    keys = FakeKeys()
    mine, theirs = keys.add(), keys.add()
    service = replace(fake_service(keys=keys), threads=MemoryThreads())
    say_mine = call(service, "POST", RUN, {"message": "Mine?", "session_id": SESSION}, key=mine)
    assert say_mine.status_code == 200, say_mine.text
    stranger = str(uuid.uuid4())
    for method, path in (("GET", "/session/{}/history"), ("DELETE", "/session/{}")):
        of_mine = call(service, method, path.format(SESSION), key=theirs)
        of_none = call(service, method, path.format(stranger), key=theirs)
        bodies = [error_of(reply, 404, "not_found") for reply in (of_mine, of_none)]
        for body in bodies:
            body.pop("timestamp")
            body.pop("request_id")
        assert bodies[0] == bodies[1]
    call(service, "POST", RUN, {"message": "Theirs?", "session_id": SESSION}, key=theirs)
    for key, content in ((mine, "Mine?"), (theirs, "Theirs?")):
        messages = call(service, "GET", f"/session/{SESSION}/history", key=key).json()["messages"]
        assert [message["content"] for message in messages[::2]] == [content]
    assert call(service, "DELETE", f"/session/{SESSION}", key=theirs).status_code == 204
    assert call(service, "GET", f"/session/{SESSION}/history", key=mine).status_code == 200


def test_without_a_key_nothing_of_contract_c_opens_once_there_is_one() -> None:
    keys = FakeKeys()
    keys.add()
    service = fake_service(keys=keys)
    for method, path in (
        ("POST", RUN),
        ("POST", "/chat/stream"),
        ("GET", f"/session/{SESSION}/history"),
        ("DELETE", f"/session/{SESSION}"),
    ):
        error_of(call(service, method, path), 401, "unauthorized")


# Bad input

BAD_FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "no message": ({}, "message"),
    "null message": ({"message": None}, "message"),
    "empty message": ({"message": ""}, "message"),
    "blank message": ({"message": " \t\n "}, "message"),
    "message of 1001 characters": ({"message": "secret" + "x" * 995}, "message"),
    "message of 1001 with blanks around": ({"message": " " * 10 + "x" * 991}, "message"),
    "message that is a number": ({"message": 5}, "message"),
    "NUL in message": ({"message": "secret\0"}, "message"),
    "lone surrogate in message": ({"message": "secret \ud800"}, "message"),
    "session that is no UUID": ({"message": "x", "session_id": "secret"}, "session_id"),
    "empty session": ({"message": "x", "session_id": ""}, "session_id"),
    "session of version 1": (
        {"message": "x", "session_id": "c232ab00-9414-11ec-b3c8-9f6bdeced846"},
        "session_id",
    ),
    "session that is a number": ({"message": "x", "session_id": 5}, "session_id"),
    "stream as text": ({"message": "x", "stream": "true"}, "stream"),
    "stream as number": ({"message": "x", "stream": 1}, "stream"),
    "stream null": ({"message": "x", "stream": None}, "stream"),
    "top_k 0": ({"message": "x", "top_k": 0}, "top_k"),
    "top_k 11": ({"message": "x", "top_k": 11}, "top_k"),
    "top_k as text": ({"message": "x", "top_k": "5"}, "top_k"),
    "top_k true": ({"message": "x", "top_k": True}, "top_k"),
    "top_k 5.0": ({"message": "x", "top_k": 5.0}, "top_k"),
    "threshold -0.1": ({"message": "x", "similarity_threshold": -0.1}, "similarity_threshold"),
    "threshold 1.1": ({"message": "x", "similarity_threshold": 1.1}, "similarity_threshold"),
    "threshold as text": ({"message": "x", "similarity_threshold": "0"}, "similarity_threshold"),
    "threshold NaN": (
        {"message": "x", "similarity_threshold": float("nan")},
        "similarity_threshold",
    ),
    "threshold true": ({"message": "x", "similarity_threshold": True}, "similarity_threshold"),
    "threshold null": ({"message": "x", "similarity_threshold": None}, "similarity_threshold"),
    "selection of 9 characters": ({"message": "x", "selected_text": "secret 89"}, "selected_text"),
    "selection of 5001": ({"message": "x", "selected_text": "y" * 5001}, "selected_text"),
    "blank selection": ({"message": "x", "selected_text": " " * 20}, "selected_text"),
    "NUL in selection": ({"message": "x", "selected_text": "secret text\0"}, "selected_text"),
    "unknown scope": (
        {"message": "x", "selected_text": "y" * 20, "scope": "chapter"},
        "scope",
    ),
    "scope of a selection without one": ({"message": "x", "scope": "selection"}, "scope"),
    "scope of a section without a selection": ({"message": "x", "scope": "section"}, "scope"),
    "metadata that is a list": ({"message": "x", "metadata": ["secret"]}, "metadata"),
    "metadata over 2 KB": ({"message": "x", "metadata": {"a": "é" * 1030}}, "metadata"),
    "NUL in metadata": ({"message": "x", "metadata": {"a": ["secret\0"]}}, "metadata"),
    "NUL in a name of metadata": ({"message": "x", "metadata": {"a\0": 1}}, "metadata"),
    "NaN in metadata": ({"message": "x", "metadata": {"a": float("nan")}}, "metadata"),
    "lone surrogate in metadata": ({"message": "x", "metadata": {"a": "\ud800"}}, "metadata"),
    "a tower in metadata": (
        {"message": "x", "metadata": {"a": json.loads("[" * 500 + "]" * 500)}},
        "metadata",
    ),
    "unknown book": ({"message": "x", "book": "secret"}, "book"),
    "book that is a path": ({"message": "x", "book": "../secret"}, "book"),
    "unknown field": ({"message": "x", "topk": "secret"}, "topk"),
    "a field of another contract": ({"message": "x", "query": "secret"}, "query"),
}


@pytest.mark.parametrize("path", [RUN, "/chat/stream"])
@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_bad_field_is_named_and_its_value_is_not(
    client: httpx.Client, path: str, name: str
) -> None:
    body, place = BAD_FIELDS[name]
    reply = client.post(path, content=json.dumps(body), headers=JSON)
    error = error_of(reply, 422, "validation_failed")
    assert re.match(rf"{place}[:.]", error["message"]), error["message"]
    assert "secret" not in reply.text


@pytest.mark.parametrize("path", [RUN, "/chat/stream"])
@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_is_no_json_object_is_refused(
    client: httpx.Client, path: str, name: str
) -> None:
    reply = client.post(path, content=BROKEN_BODIES[name], headers=JSON)
    error_of(reply, 422, "validation_failed")
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    "body",
    [
        {"message": "🤖" * 1000},
        {"message": "x", "selected_text": "y" * 5000},
        {"message": "x", "selected_text": "y" * 10},
        {"message": "x", "top_k": 1, "similarity_threshold": 0},
        {"message": "x", "top_k": 10, "similarity_threshold": 1},
        {
            "message": "x",
            "session_id": None,
            "metadata": None,
            "selected_text": None,
            "scope": None,
        },
        {"message": "x", "metadata": {"a": "é" * 1000, "b": "\\u0000"}},
    ],
)
def test_what_is_just_within_the_limits_is_taken(
    client: httpx.Client, body: dict[str, object]
) -> None:
    assert client.post(RUN, json=body).status_code == 200


@pytest.mark.parametrize("session", ["secret", "1", "c232ab00-9414-11ec-b3c8-9f6bdeced846", "%00"])
def test_an_id_that_no_thread_can_have_is_not_valid(client: httpx.Client, session: str) -> None:
    for reply in (
        client.get(f"/session/{session}/history"),
        client.delete(f"/session/{session}"),
    ):
        error = error_of(reply, 422, "validation_failed")
        assert error["message"].startswith("session_id: ")
        assert "secret" not in reply.text


def test_a_body_over_256_kib_is_too_large(client: httpx.Client) -> None:
    body = b'{"message": "x", "more": "' + b"y" * 256 * 1024 + b'"}'
    for path in (RUN, "/chat/stream"):
        error_of(client.post(path, content=body, headers=JSON), 413, "payload_too_large")


def test_unknown_paths_below_sessions_are_told_in_the_contracts_shape(client: httpx.Client) -> None:
    for path in ("/session/x/y", f"/session/{SESSION}/messages", "/session/"):
        error_of(client.get(path), 404, "not_found")


def test_another_method_is_not_allowed_and_told_which_is(client: httpx.Client) -> None:
    for path, method in (
        (RUN, "POST"),
        ("/chat/stream", "POST"),
        (f"/session/{SESSION}", "DELETE"),
    ):
        reply = client.put(path)
        assert reply.status_code == 405
        assert reply.headers["allow"] == method
        assert reply.json()["error"] == "method_not_allowed"


# Parts that fail


@pytest.mark.parametrize("path", [RUN, "/chat/stream"])
@pytest.mark.parametrize(
    ("service", "kind", "again"),
    [
        (
            fake_service(index=FakeIndex(failure=StoreFailed("/srv/secret"))),
            "store_unavailable",
            True,
        ),
        (
            fake_service(embedder=FakeEmbedder(EmbedderFailed("/srv/secret"))),
            "embedder_unavailable",
            True,
        ),
        (fake_service(index=FakeIndex(failure=NoBooks("No book."))), "store_unavailable", False),
        (fake_service(library=FakeLibrary({})), "store_unavailable", False),
    ],
)
def test_a_failing_part_is_503_and_never_an_answer(
    service: Service, kind: str, again: bool, path: str
) -> None:
    service = replace(service, threads=MemoryThreads())
    reply = call(service, "POST", path, {"message": "Anything?"})
    error_of(reply, 503, kind)
    assert ("retry-after" in reply.headers) is again
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", RUN),
        ("POST", "/chat/stream"),
        ("GET", f"/session/{SESSION}/history"),
        ("DELETE", f"/session/{SESSION}"),
    ],
)
def test_without_records_there_are_no_conversations(method: str, path: str) -> None:
    body: dict[str, object] | None = {"message": "Anything?"} if method == "POST" else None
    index = FakeIndex()
    reply = call(fake_service(index=index), method, path, body)
    error_of(reply, 503, "database_unavailable")
    assert reply.headers["retry-after"]
    assert index.calls == 0


def test_an_answer_that_cannot_be_kept_is_503() -> None:
    service = fake_service(index=FakeIndex(hits=hits((ONE, 0.9))))
    service = replace(service, threads=MemoryThreads(failure=RecordsFailed("/srv/secret is full")))
    reply = call(service, "POST", RUN, {"message": "What is a gait?"})
    error_of(reply, 503, "database_unavailable")
    assert "secret" not in reply.text


@pytest.mark.parametrize("path", [RUN, "/chat/stream"])
def test_a_defect_is_500_and_tells_nothing_of_itself(path: str) -> None:
    service = fake_service(index=FakeIndex(failure=RuntimeError("secret at /srv/secret.py")))
    reply = call(replace(service, threads=MemoryThreads()), "POST", path, {"message": "Anything?"})
    error_of(reply, 500, "internal")
    for trace in ("secret", "Traceback", ".py", "RuntimeError"):
        assert trace not in reply.text


@pytest.mark.parametrize("kind", [kind for kind in STATUS if kind != "method_not_allowed"])
def test_every_kind_of_failure_has_its_name_and_status(kind: ProblemKind) -> None:
    value = contract_chat.error_shape(bare_request(RUN), Problem(kind, "It broke."))
    assert (value["error"], value["message"]) == (kind, "It broke.")
    assert (
        contract_chat.STATUSES.get(kind, STATUS[kind])
        == {
            "validation_failed": 422,
            "unauthorized": 401,
            "forbidden": 403,
            "not_found": 404,
            "payload_too_large": 413,
            "overloaded": 503,
            "rate_limited": 429,
            "store_unavailable": 503,
            "embedder_unavailable": 503,
            "model_timeout": 503,
            "model_failed": 502,
            "database_unavailable": 503,
            "internal": 500,
        }[kind]
    )


# The description


def test_the_description_has_the_contracts_fields_and_limits(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    paths, schemas = description["paths"], description["components"]["schemas"]
    asking = {"200", "401", "403", "413", "422", "429", "500", "502", "503"}
    records = {"401", "403", "404", "422", "429", "500", "503"}
    assert set(paths[RUN]["post"]["responses"]) == asking
    assert set(paths["/chat/stream"]["post"]["responses"]) == asking
    assert set(paths["/session/{session_id}/history"]["get"]["responses"]) == records | {"200"}
    assert set(paths["/session/{session_id}"]["delete"]["responses"]) == records | {"204"}
    request = schemas["ChatRequest"]
    assert request["required"] == ["message"]
    assert request["additionalProperties"] is False
    fields = request["properties"]
    assert (fields["message"]["minLength"], fields["message"]["maxLength"]) == (1, 1000)
    assert (fields["top_k"]["minimum"], fields["top_k"]["maximum"], fields["top_k"]["default"]) == (
        1,
        10,
        5,
    )
    threshold = fields["similarity_threshold"]
    assert (threshold["minimum"], threshold["maximum"], threshold["default"]) == (0, 1, 0.7)
    assert fields["stream"]["default"] is False
    assert set(schemas["ChatResponse"]["properties"]) == RESPONSE
    assert set(schemas["ChatSource"]["properties"]) == SOURCE
    assert set(schemas["ConfidenceMetricsModel"]["properties"]) == METRICS
    assert set(schemas["ChatError"]["properties"]) == ERROR


def test_the_description_of_a_stream_names_its_events(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    for path in (RUN, "/chat/stream"):
        content = description["paths"][path]["post"]["responses"]["200"]["content"]
        events = content["text/event-stream"]["schema"]
        assert {"retrieval", "content", "done", "error"} <= set(
            re.findall(r"\w+", json.dumps(events))
        )
        names = re.findall(r"#/components/schemas/(\w+)", json.dumps(events))
        assert names
        assert set(names) <= set(description["components"]["schemas"])
    content = description["paths"]["/chat/stream"]["post"]["responses"]["200"]["content"]
    assert set(content) == {"text/event-stream"}
