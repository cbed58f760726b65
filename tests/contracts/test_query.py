"""Contract A over a real server, and over parts that fail."""

import html
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.fakes import (
    BROKEN_BODIES,
    CITATION,
    JSON,
    FakeEmbedder,
    FakeIndex,
    FakeLibrary,
    call,
    fake_service,
)
from tests.unit.fakes import wide_queue

from bythebook.bootstrap import Core
from bythebook.errors import EmbedderFailed, NoBooks, StoreFailed, WrongEmbedder
from bythebook.http.app import Service
from bythebook.operate.answerer import Answerer

PATHS = ("/api/query", "/v1/query")
ANSWERED = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
INSUFFICIENT = (
    "The provided book content does not contain sufficient information to answer this question"
)
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
UUID4 = "550e8400-e29b-41d4-a716-446655440000"

ENVELOPE = {"status", "answer", "refusal", "error", "metadata"}
ANSWER = {"text", "citations", "mode", "sentences", "key_sentences", "disclaimer", "fallback"}
REFUSAL = {"reason", "refusal_type", "nearest_sections"}
ERROR = {"code", "message", "details", "retry_after"}
METADATA = {"chunks_retrieved", "processing_time_ms", "session_id", "request_id", "timestamp"}


def ask(client: httpx.Client, path: str = PATHS[0], **body: object) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


def error_of(reply: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that a reply is the error envelope, and give the error."""
    assert reply.status_code == status, reply.text
    value = reply.json()
    assert set(value) == ENVELOPE
    assert value["status"] == "error"
    assert value["answer"] is None
    assert value["refusal"] is None
    assert set(value["error"]) == ERROR
    assert set(value["metadata"]) == METADATA
    assert reply.headers["x-request-id"] == value["metadata"]["request_id"]
    assert value["error"]["code"] == code
    assert 1 <= len(value["error"]["message"]) <= 200
    error: dict[str, Any] = value["error"]
    return error


# Answers


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_the_success_envelope(client: httpx.Client, path: str) -> None:
    value = ask(client, path, query=ANSWERED)
    assert set(value) == ENVELOPE
    assert value["status"] == "success"
    assert value["refusal"] is None
    assert value["error"] is None
    answer = value["answer"]
    assert set(answer) == ANSWER
    assert answer["mode"] == "standard_rag"
    assert answer["disclaimer"] is None
    assert 1 <= len(answer["text"]) <= 2000
    assert "topics" in answer["text"]
    assert all(sentence in answer["text"] for sentence in answer["sentences"])
    assert {c["sentence"] for c in answer["citations"]} == set(range(len(answer["sentences"])))
    for citation in answer["citations"]:
        assert set(citation) == CITATION
        assert citation["chapter"]
        assert citation["section"]
        assert uuid.UUID(citation["chunk_id"]).version == 5


def test_metadata_tells_how_the_answer_came_about(client: httpx.Client) -> None:
    metadata = ask(client, query=ANSWERED)["metadata"]
    assert set(metadata) == METADATA
    assert metadata["chunks_retrieved"] == 5
    assert isinstance(metadata["processing_time_ms"], int)
    assert 0 <= metadata["processing_time_ms"] < 30_000
    assert metadata["session_id"] is None
    assert datetime.fromisoformat(metadata["timestamp"]).utcoffset() is not None


def test_both_paths_answer_alike(client: httpx.Client) -> None:
    first, second = (ask(client, path, query=ANSWERED) for path in PATHS)
    del first["metadata"], second["metadata"]
    assert first == second


@pytest.mark.parametrize("top_k", [1, 20])
def test_top_k_bounds_the_chunks_retrieved(client: httpx.Client, top_k: int) -> None:
    value = ask(client, query=ANSWERED, top_k=top_k)
    assert value["metadata"]["chunks_retrieved"] == top_k


def test_a_named_book_is_the_one_asked(client: httpx.Client) -> None:
    value = ask(client, query=ANSWERED, book=SAMPLE)
    assert value["status"] == "success"


def test_white_space_around_a_question_changes_nothing(client: httpx.Client) -> None:
    plain, padded = ask(client, query=ANSWERED), ask(client, query=f"  {ANSWERED}\n ")
    assert padded["answer"] == plain["answer"]


@pytest.fixture(scope="module")
def citations(client: httpx.Client) -> list[dict[str, Any]]:
    """Citations of several answers: prose, lists, tables and code."""
    questions = (
        ANSWERED,
        "What is a URDF file?",
        "How does ROS 2 compare to ROS 1?",
        "How do I write a publisher?",
        "What are topics?",
        "What are the stages of the perception-action loop?",
    )
    answers = [ask(client, query=question)["answer"] for question in questions]
    found = [citation for answer in answers if answer for citation in answer["citations"]]
    assert len(found) >= len(questions)
    return found


def test_every_quote_stands_at_its_offsets_in_the_documents_text(
    client: httpx.Client, citations: list[dict[str, Any]]
) -> None:
    for citation in citations:
        text = client.get(f"/read/{SAMPLE}/{citation['document_id']}.txt").text
        quote = text[citation["char_start"] : citation["char_end"]]
        assert quote == citation["referenced_text"]
        assert 0 < len(quote) <= 500


def test_every_link_opens_a_page_with_the_quote_marked(
    client: httpx.Client, citations: list[dict[str, Any]]
) -> None:
    for citation in citations:
        link = citation["link"]
        assert link.startswith(str(client.base_url).rstrip("/") + "/read/")
        assert "#quote:~:text=" in link
        page = client.get(link)
        assert page.status_code == 200
        assert page.text.count('id="quote"') == 1
        marked = " ".join(re.findall(r"<mark[^>]*>(.*?)</mark>", page.text, flags=re.DOTALL))
        assert fold(html.unescape(marked)) == fold(citation["referenced_text"])


def test_every_source_url_is_absolute_and_leads_to_the_section(
    client: httpx.Client, citations: list[dict[str, Any]]
) -> None:
    for citation in citations:
        page, _, anchor = citation["source_url"].partition("#")
        assert page.startswith("http://127.0.0.1:")
        reply = client.get(page)
        assert reply.status_code == 200
        assert not anchor or f'id="{anchor}"' in reply.text


def fold(text: str) -> str:
    return "".join(text.replace(" | ", "").split())


# Refusals


@pytest.mark.parametrize("path", PATHS)
def test_a_refusal_is_typed_and_names_the_nearest_sections(client: httpx.Client, path: str) -> None:
    value = ask(client, path, query=FOREIGN)
    assert set(value) == ENVELOPE
    assert value["status"] == "refused"
    assert value["answer"] is None
    assert value["error"] is None
    refusal = value["refusal"]
    assert set(refusal) == REFUSAL
    assert refusal["reason"] == INSUFFICIENT
    assert refusal["refusal_type"] in {"low_relevance", "insufficient_grounding"}
    assert 1 <= len(refusal["nearest_sections"]) <= 3
    for near in refusal["nearest_sections"]:
        assert set(near) == {"chapter", "section", "url"}
        assert client.get(near["url"]).status_code == 200


def test_nothing_retrieved_is_an_empty_retrieval() -> None:
    reply = call(fake_service(), "POST", PATHS[0], {"query": "Anything?"})
    assert reply.status_code == 200
    assert reply.json()["refusal"] == {
        "reason": INSUFFICIENT,
        "refusal_type": "empty_retrieval",
        "nearest_sections": [],
    }
    assert reply.json()["metadata"]["chunks_retrieved"] == 0


# What a request carries


def test_a_request_id_that_is_a_uuid_is_taken(client: httpx.Client) -> None:
    given = str(uuid.uuid4())
    reply = client.post(PATHS[0], json={"query": FOREIGN}, headers={"X-Request-ID": given})
    assert reply.headers["x-request-id"] == given
    assert reply.json()["metadata"]["request_id"] == given


@pytest.mark.parametrize("given", ["17", "", "x" * 4000, "550e8400-e29b-41d4-a716-44665544000g"])
def test_any_other_request_id_is_replaced(client: httpx.Client, given: str) -> None:
    reply = client.post(PATHS[0], json={"query": FOREIGN}, headers={"X-Request-ID": given})
    made = uuid.UUID(reply.headers["x-request-id"])
    assert made.version == 4
    assert str(made) != given
    assert reply.json()["metadata"]["request_id"] == str(made)


def test_every_request_gets_an_id_of_its_own(client: httpx.Client) -> None:
    made = {client.get("/livez").headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3


def test_a_session_id_is_echoed(client: httpx.Client) -> None:
    value = ask(client, query=FOREIGN, session_id=UUID4)
    assert value["metadata"]["session_id"] == UUID4


def test_a_session_id_is_echoed_with_a_failure_too() -> None:
    service = fake_service(index=FakeIndex(failure=StoreFailed("broken")))
    reply = call(service, "POST", PATHS[0], {"query": "Anything?", "session_id": UUID4})
    assert reply.json()["metadata"]["session_id"] == UUID4


# Selected text


def test_a_selection_answers_with_quotes_of_itself(client: httpx.Client) -> None:
    query = "What is the capital of Iceland?"
    value = ask(client, query=query, selected_text=f" {SELECTION} ")
    assert value["status"] == "success"
    assert value["answer"]["mode"] == "selected_text_only"
    assert value["metadata"]["chunks_retrieved"] == 1
    first = value["answer"]["citations"][0]
    assert first["section"] == "Selected text"
    assert first["chunk_id"] == "selected_text"
    assert first["referenced_text"] == "The capital of Iceland is Reykjavik."
    assert first["chapter"] is first["source_url"] is first["document_id"] is first["link"] is None
    for citation in value["answer"]["citations"]:
        quote = SELECTION[citation["char_start"] : citation["char_end"]]
        assert quote == citation["referenced_text"]


def test_a_selection_without_the_answer_refuses_though_the_book_has_it(
    client: httpx.Client,
) -> None:
    value = ask(client, query=ANSWERED, selected_text=SELECTION)
    assert value["status"] == "refused"
    assert value["refusal"] == {
        "reason": "The selected text does not contain this information",
        "refusal_type": "selected_text_missing",
        "nearest_sections": [],
    }


@pytest.fixture
def untouchable(sample_core: Core) -> Iterator[Service]:
    """The real judge and generator over an index and an embedder that must not be touched."""
    index = FakeIndex(failure=AssertionError("the index was touched"))
    embedder = FakeEmbedder(AssertionError("the embedder was touched"))
    library = FakeLibrary({})
    ports = replace(sample_core.ask, index=index, embedder=embedder, library=library)
    yield replace(
        fake_service(), answerer=Answerer(ports, fake_service().answerer.journal, wide_queue())
    )
    assert index.calls == embedder.calls == 0


@pytest.mark.parametrize(
    ("query", "status"),
    [("What is the capital of Iceland?", "success"), (ANSWERED, "refused")],
)
def test_selected_text_touches_neither_index_nor_embedder(
    untouchable: Service, query: str, status: str
) -> None:
    reply = call(untouchable, "POST", PATHS[0], {"query": query, "selected_text": SELECTION})
    assert reply.status_code == 200
    assert reply.json()["status"] == status


def test_a_selection_is_measured_as_sent_then_trimmed(client: httpx.Client) -> None:
    value = ask(client, query="What do herons eat?", selected_text="  Fish.   ")
    assert value["metadata"]["chunks_retrieved"] == 1


# Bad input


BAD_FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "no query": ({}, "query"),
    "null query": ({"query": None}, "query"),
    "empty query": ({"query": ""}, "query"),
    "blank query": ({"query": " \t\n "}, "query"),
    "query of 501 characters": ({"query": "secret" + "x" * 495}, "query"),
    "query of 501 with blanks around": ({"query": " " * 10 + "x" * 491}, "query"),
    "query of 501 emoji": ({"query": "🤖" * 501}, "query"),
    "query that is a number": ({"query": 5}, "query"),
    "query that is a list": ({"query": ["secret"]}, "query"),
    "NUL in query": ({"query": "secret\0"}, "query"),
    "top_k 0": ({"query": "x", "top_k": 0}, "top_k"),
    "top_k 21": ({"query": "x", "top_k": 21}, "top_k"),
    "top_k -1": ({"query": "x", "top_k": -1}, "top_k"),
    "top_k as text": ({"query": "x", "top_k": "5"}, "top_k"),
    "top_k true": ({"query": "x", "top_k": True}, "top_k"),
    "top_k 5.0": ({"query": "x", "top_k": 5.0}, "top_k"),
    "top_k null": ({"query": "x", "top_k": None}, "top_k"),
    "selected_text empty": ({"query": "x", "selected_text": ""}, "selected_text"),
    "selected_text of 9": ({"query": "x", "selected_text": "secret789"}, "selected_text"),
    "selected_text of 5001": ({"query": "x", "selected_text": "s" * 5001}, "selected_text"),
    "selected_text of 5001 with blanks": (
        {"query": "x", "selected_text": " " * 4000 + "s" * 1001},
        "selected_text",
    ),
    "blank selected_text": ({"query": "x", "selected_text": " " * 12}, "selected_text"),
    "NUL in selected_text": ({"query": "x", "selected_text": "secret 1234\0"}, "selected_text"),
    "NUL in book": ({"query": "x", "book": "secret\0"}, "book"),
    "blank book": ({"query": "x", "book": " "}, "book"),
    "book of 65 characters": ({"query": "x", "book": "b" * 65}, "book"),
    "unknown book": ({"query": "x", "book": "secret"}, "book"),
    "book that is a path": ({"query": "x", "book": "../secret"}, "book"),
    "session_id not a UUID": ({"query": "x", "session_id": "secret"}, "session_id"),
    "session_id of version 1": (
        {"query": "x", "session_id": "550e8400-e29b-11d4-a716-446655440000"},
        "session_id",
    ),
    "session_id that is a number": ({"query": "x", "session_id": 5}, "session_id"),
    "unknown field": ({"query": "x", "topk": "secret"}, "topk"),
    "unknown field with a long name": ({"query": "x", "y" * 3000: "secret"}, "yyyy"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_bad_field_is_named_and_its_value_is_not(
    client: httpx.Client, name: str, path: str
) -> None:
    body, field = BAD_FIELDS[name]
    reply = client.post(path, content=json.dumps(body), headers=JSON)
    error = error_of(reply, 422, "VALIDATION_FAILED")
    assert error["message"].startswith(field)
    assert "secret" not in reply.text
    assert error["retry_after"] is None


def test_every_further_bad_field_is_in_the_details(client: httpx.Client) -> None:
    reply = client.post(PATHS[0], json={"query": "", "top_k": 0})
    error = error_of(reply, 422, "VALIDATION_FAILED")
    assert error["message"].startswith("query:")
    assert error["details"].startswith("top_k:")


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_is_no_json_object_is_refused(client: httpx.Client, name: str) -> None:
    reply = client.post(PATHS[0], content=BROKEN_BODIES[name], headers=JSON)
    error = error_of(reply, 422, "VALIDATION_FAILED")
    assert "request body" in error["message"]
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (rb'{"query": "\ud800"}', "query"),
        (rb'{"query": "x", "selected_text": "\udfff 123456789"}', "selected_text"),
        (rb'{"query": "x", "book": "\ud800"}', "book"),
        (rb'{"query": "x", "session_id": "\ud800"}', "session_id"),
        (rb'{"query": "x", "\ud800": 1}', "The request body"),
    ],
)
def test_a_lone_surrogate_is_refused(client: httpx.Client, content: bytes, field: str) -> None:
    reply = client.post(PATHS[0], content=content, headers=JSON)
    assert error_of(reply, 422, "VALIDATION_FAILED")["message"].startswith(field)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_of_another_type_is_refused(client: httpx.Client, kind: str | None) -> None:
    headers = {"content-type": kind} if kind else {}
    reply = client.post(PATHS[0], content=b'{"query": "x"}', headers=headers)
    error = error_of(reply, 422, "VALIDATION_FAILED")
    assert "application/json" in error["message"]


def test_five_hundred_emoji_are_accepted(client: httpx.Client) -> None:
    assert ask(client, query="🤖" * 500)["status"] == "refused"


def test_the_longest_selection_is_accepted(client: httpx.Client) -> None:
    assert ask(client, query="x" * 500, selected_text="🤖 " * 2500)["status"] == "refused"


# Size, method and path


def test_a_body_over_256_kib_is_too_large(client: httpx.Client) -> None:
    body = b'{"query": "x", "more": "' + b"y" * 256 * 1024 + b'"}'
    error_of(client.post(PATHS[0], content=body, headers=JSON), 413, "PAYLOAD_TOO_LARGE")


def test_a_chunked_body_over_256_kib_is_too_large(client: httpx.Client) -> None:
    pieces = (b"y" * 4096 for _ in range(65))
    error_of(client.post(PATHS[1], content=pieces, headers=JSON), 413, "PAYLOAD_TOO_LARGE")


def test_a_body_of_256_kib_is_read(client: httpx.Client) -> None:
    start, end = b'{"query": "x", "more": "', b'"}'
    body = start + b"y" * (256 * 1024 - len(start) - len(end)) + end
    reply = client.post(PATHS[0], content=body, headers=JSON)
    assert error_of(reply, 422, "VALIDATION_FAILED")["message"].startswith("more:")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_not_allowed_and_told_which_is(client: httpx.Client, method: str) -> None:
    reply = client.request(method, PATHS[0])
    assert reply.status_code == 405
    assert reply.headers["allow"] == "POST"
    assert reply.json()["error"] == "method_not_allowed"


def test_an_unknown_path_is_not_found(client: httpx.Client) -> None:
    reply = client.post("/api/nothing", json={"query": "x"})
    assert reply.status_code == 404
    assert reply.json()["error"] == "not_found"
    assert uuid.UUID(reply.headers["x-request-id"]).version == 4


# Parts that fail


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "failure",
    [StoreFailed("/srv/secret is gone"), WrongEmbedder("/srv/secret"), NoBooks("No book.")],
)
def test_a_failing_store_is_503(path: str, failure: Exception) -> None:
    service = fake_service(index=FakeIndex(failure=failure))
    reply = call(service, "POST", path, {"query": "Anything?"})
    error = error_of(reply, 503, "QDRANT_TIMEOUT")
    assert error["message"] == ("The search service is temporarily unavailable. Please try again.")
    assert "secret" not in reply.text
    # Trying again helps a store that stumbled, not one that holds the wrong index or none.
    if isinstance(failure, WrongEmbedder | NoBooks):
        assert (error["retry_after"], reply.headers.get("retry-after")) == (None, None)
    else:
        assert int(reply.headers["retry-after"]) == error["retry_after"] > 0


def test_a_failing_embedder_is_503() -> None:
    service = fake_service(embedder=FakeEmbedder(EmbedderFailed("/srv/secret")))
    reply = call(service, "POST", PATHS[0], {"query": "Anything?"})
    error = error_of(reply, 503, "COHERE_FAILURE")
    assert int(reply.headers["retry-after"]) == error["retry_after"] > 0
    assert "secret" not in reply.text


def test_an_empty_library_is_503() -> None:
    service = fake_service(library=FakeLibrary({}))
    reply = call(service, "POST", PATHS[0], {"query": "Anything?"})
    error = error_of(reply, 503, "QDRANT_TIMEOUT")
    assert "no book" in error["details"]


@pytest.mark.parametrize("path", PATHS)
def test_a_defect_is_500_and_tells_nothing_of_itself(path: str) -> None:
    service = fake_service(index=FakeIndex(failure=RuntimeError("secret at /srv/secret.py")))
    reply = call(service, "POST", path, {"query": "Anything?"})
    error = error_of(reply, 500, "INTERNAL_ERROR")
    assert error["details"] is None
    for trace in ("secret", "Traceback", ".py", "RuntimeError"):
        assert trace not in reply.text
