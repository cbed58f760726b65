"""Contract D over a real server, and over parts that fail."""

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from tests.conftest import SAMPLE
from tests.contracts.fakes import (
    BROKEN_BODIES,
    JSON,
    FakeEmbedder,
    FakeIndex,
    FakeLibrary,
    RankingJudge,
    SentenceJudge,
    bare_request,
    call,
    fake_service,
    over,
)
from tests.unit.fakes import make_chunk, wide_queue

from bythebook.ask.show.wording import DISCLAIMER
from bythebook.bootstrap import Core
from bythebook.domain.answers import Answered, Citation, Judgement, Passage, Sentence
from bythebook.domain.books import Chunk, PageMark, UnitKind
from bythebook.errors import EmbedderFailed, ModelTimeout, NoBooks, StoreFailed, WrongEmbedder
from bythebook.http.app import Service, create_app
from bythebook.http.contracts import ask as contract_ask
from bythebook.http.wire.problems import Problem, ProblemKind
from bythebook.operate.answerer import Answerer

PATH = "/ask"
THEME = "What is the main theme of Chapter 3?"
FOREIGN = "What is the best recipe for apple pie?"
PHOTOSYNTHESIS = "The author describes the process of photosynthesis in detail..."
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
NOT_IN_BOOK = "This information is not available in the book."
NOT_SELECTED = "This information is not available in the selected text."
NO_SEARCH = "Unable to search the book. Please try again later."
NO_ANSWER = "Unable to generate answer. Please try again."
NO_QUESTION = "Please provide a question about the book."
RESPONSE = {
    "answer",
    "sources",
    "matched_chunks",
    "grounded",
    "retrieval_quality",
    "nearest_sections",
    "disclaimer",
}
CHUNK = {"chunk_id", "text", "page", "chapter", "section", "evidence"}


def ask(client: httpx.Client, question: str, **more: object) -> dict[str, Any]:
    reply = client.post(PATH, json={"question": question, **more})
    assert reply.status_code == 200, reply.text
    return check_response(reply.json())


def ask_book(service: Service, question: str = "What is a gait?", **more: object) -> dict[str, Any]:
    reply = call(service, "POST", PATH, {"question": question, **more})
    assert reply.status_code == 200, reply.text
    return check_response(reply.json())


def check_response(value: dict[str, Any]) -> dict[str, Any]:
    """Check what holds for every response."""
    assert set(value) == RESPONSE
    assert value["answer"]
    assert value["sources"] == [chunk["chunk_id"] for chunk in value["matched_chunks"]]
    assert value["retrieval_quality"] in {"Good", "Partial", "Poor", None}
    for chunk in value["matched_chunks"]:
        assert set(chunk) == CHUNK
        assert 1 <= len(chunk["text"]) <= 2000
        assert len(chunk["evidence"]) <= 3
    return value


def error_of(reply: httpx.Response, status: int, error: str) -> str:
    """Check that a reply is the contract's error, and give its detail."""
    assert reply.status_code == status, reply.text
    value = reply.json()
    assert set(value) == {"error", "detail"}
    assert value["error"] == error
    assert value["detail"]
    return str(value["detail"])


def tale(*parts: str | tuple[UnitKind, str], section: str = "Gaits") -> Chunk:
    return make_chunk(*parts, book_id="tales", section=section)


# The seed's examples


def test_a_question_is_answered_with_its_chunks(client: httpx.Client) -> None:
    value = ask(client, THEME, selected_text=None)
    assert value["answer"].startswith("The main theme of Chapter 3 is describing a robot's body")
    assert value["grounded"] is True
    assert value["retrieval_quality"] in {"Good", "Partial"}
    assert value["nearest_sections"] == []
    first = value["matched_chunks"][0]
    assert uuid.UUID(first["chunk_id"]).version == 5
    assert first["chapter"].startswith("Chapter 3")
    assert first["section"]
    assert first["page"] is None
    assert value["answer"] in first["text"]


def test_a_selection_is_explained_from_itself(client: httpx.Client) -> None:
    value = ask(client, "Explain this passage", selected_text=PHOTOSYNTHESIS)
    assert value["sources"] == ["selected_text"]
    assert value["matched_chunks"] == [
        {
            "chunk_id": "selected_text",
            "text": PHOTOSYNTHESIS,
            "page": None,
            "chapter": None,
            "section": None,
            "evidence": [PHOTOSYNTHESIS],
        }
    ]
    assert value["grounded"] is True
    assert value["retrieval_quality"] is None


def test_what_the_book_does_not_say_is_refused(client: httpx.Client) -> None:
    value = ask(client, FOREIGN)
    near = value.pop("nearest_sections")
    assert value == {
        "answer": NOT_IN_BOOK,
        "sources": [],
        "matched_chunks": [],
        "grounded": False,
        "retrieval_quality": "Poor",
        "disclaimer": None,
    }
    assert 1 <= len(near) <= 3
    for section in near:
        assert set(section) == {"chapter", "section", "url"}
        assert client.get(section["url"]).status_code == 200


# Selected text


def test_a_selection_without_the_answer_is_refused_though_the_book_has_it(
    client: httpx.Client,
) -> None:
    assert ask(client, THEME, selected_text=SELECTION) == {
        "answer": NOT_SELECTED,
        "sources": [],
        "matched_chunks": [],
        "grounded": False,
        "retrieval_quality": None,
        "nearest_sections": [],
        "disclaimer": None,
    }


@pytest.fixture
def untouchable(sample_core: Core) -> Iterator[Service]:
    """The real judge and generator over an index and an embedder that must not be touched."""
    index = FakeIndex(failure=AssertionError("the index was touched"))
    embedder = FakeEmbedder(AssertionError("the embedder was touched"))
    ports = replace(sample_core.ask, index=index, embedder=embedder, library=FakeLibrary({}))
    yield replace(
        fake_service(), answerer=Answerer(ports, fake_service().answerer.journal, wide_queue())
    )
    assert index.calls == embedder.calls == 0


@pytest.mark.parametrize(
    ("question", "grounded"), [("What is the capital of Iceland?", True), (THEME, False)]
)
def test_selected_text_touches_neither_index_nor_embedder(
    untouchable: Service, question: str, grounded: bool
) -> None:
    value = ask_book(untouchable, question, selected_text=f" {SELECTION} ")
    assert value["grounded"] is grounded
    if grounded:
        assert value["answer"].startswith("The capital of Iceland is Reykjavik.")
        assert value["matched_chunks"][0]["text"] == SELECTION


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", None])
def test_a_blank_selection_counts_as_none(client: httpx.Client, blank: str | None) -> None:
    assert ask(client, THEME, selected_text=blank) == ask(client, THEME)


def test_the_longest_selection_is_read_and_shown_in_part() -> None:
    text = "A heron stands. " * 624 + "It eats fish now"
    assert len(text) == 10_000
    judge = SentenceJudge("fish")
    value = ask_book(fake_service(judge=judge), "What does it eat?", selected_text=text)
    (chunk,) = value["matched_chunks"]
    assert value["answer"] == "It eats fish now"
    assert chunk["evidence"] == ["It eats fish now"]
    assert chunk["text"] == text[:1997] + "..."


# Chunks and their evidence


def test_evidence_is_verbatim_and_stands_in_its_chunk(client: httpx.Client) -> None:
    seen = 0
    for question in (THEME, "How does ROS 2 work?", "What is the main weakness of a quadruped?"):
        value = ask(client, question)
        assert value["grounded"] is True
        for chunk in value["matched_chunks"]:
            assert 1 <= len(chunk["evidence"]) <= 3
            assert all(quote in chunk["text"] for quote in chunk["evidence"])
            seen += len(chunk["evidence"])
    assert seen > 3


def test_a_chunk_has_at_most_three_quotes_the_cited_first() -> None:
    judge = SentenceJudge("gait", support=0.4)
    chunk = tale("A gait.", "No.", "Two gaits.", "Three gaits.", "Four gaits.")
    value = ask_book(over((chunk, 0.9), judge=judge))
    assert value["answer"] == "A gait.\n\nTwo gaits.\n\nThree gaits."
    assert value["matched_chunks"][0]["evidence"] == ["A gait.", "Two gaits.", "Three gaits."]


def test_cited_chunks_come_first_then_other_relevant_ones_best_first() -> None:
    chunks = [
        (tale("Not of it."), 0.95),
        (tale("Some gait."), 0.7),
        (tale("A gait indeed."), 0.8),
        (tale("One gait more."), 0.6),
    ]
    supports = {
        "Not of it.": 0.001,
        "A gait indeed.": 0.7,
        "Some gait.": 0.1,
        "One gait more.": 0.1,
    }
    value = ask_book(over(*chunks, judge=RankingJudge(supports)))
    assert value["answer"] == "A gait indeed."
    assert [chunk["text"] for chunk in value["matched_chunks"]] == [
        "A gait indeed.",
        "Some gait.",
        "One gait more.",
    ]


def test_a_cited_chunk_comes_before_a_relevant_one_of_better_score() -> None:
    judge = RankingJudge({"A gait.": 0.8, "Also so.": 0.1})
    value = ask_book(over((tale("Also so."), 0.9), (tale("A gait."), 0.6), judge=judge))
    assert [chunk["text"] for chunk in value["matched_chunks"]] == ["A gait.", "Also so."]


def test_cited_quotes_come_before_others_that_the_judge_prefers() -> None:
    supports = {"One is.": 0.05, "It is two.": 0.16, "Three is:": 0.2, "Four is.": 0.3}
    value = ask_book(over((tale(*supports), 0.9), judge=RankingJudge(supports)))
    assert value["answer"] == "It is two.\n\nFour is."  # what only announces does not answer
    assert value["matched_chunks"][0]["evidence"] == ["It is two.", "Four is.", "Three is:"]


def test_five_chunks_are_retrieved() -> None:
    chunks = [(tale(f"Gait {number}."), 0.9 - number / 100) for number in range(12)]
    assert len(ask_book(over(*chunks))["matched_chunks"]) == 5


def test_a_long_chunk_is_cut_with_dots_and_one_of_2000_is_not() -> None:
    for length, shown in ((2000, "y" * 1990), (2001, "...")):
        chunk = tale("A gait is.", "y" * (length - 11))
        value = ask_book(over((chunk, 0.9), judge=SentenceJudge("gait")))
        text = value["matched_chunks"][0]["text"]
        assert len(text) == 2000
        assert text.endswith(shown[-3:])
        assert text[:1997] == chunk.text[:1997]


def test_a_chunk_of_a_paged_book_has_its_page() -> None:
    chunk = replace(tale("A gait is."), pages=(PageMark(0, 45, "xlv"),))
    assert ask_book(over((chunk, 0.9)))["matched_chunks"][0]["page"] == 45


def test_a_chunk_without_chapter_and_section_has_none() -> None:
    chunk = replace(tale("A gait is."), chapter="", section="")
    (shown,) = ask_book(over((chunk, 0.9)))["matched_chunks"]
    assert (shown["chapter"], shown["section"], shown["page"]) == (None, None, None)


# Length


def test_an_answer_has_at_most_five_sentences_and_a_list_cut_short_says_so() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"Do step {n}.") for n in range(7)]
    service = over((tale("Do this:", *items), 0.9), judge=SentenceJudge("Do this"))
    value = ask_book(service, "What are the steps of walking?")
    assert (
        value["answer"] == "Do this:\n\n- Do step 0.\n- Do step 1.\n- Do step 2.\n- Do step 3.\n…"
    )
    assert value["grounded"] is True


def test_bare_words_of_a_list_are_part_of_the_sentence_that_opens_it() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"step {n}") for n in range(7)]
    service = over((tale("Do this:", *items), 0.9), judge=SentenceJudge("Do this"))
    value = ask_book(service, "What are the steps of walking?")
    assert value["answer"].split("\n") == ["Do this:", "", *(f"- {text}" for _, text in items)]


def test_an_item_of_many_sentences_is_cut_at_the_fifth() -> None:
    service = over((tale(("item", "A gait. Two walk. " * 4)), 0.9))
    assert ask_book(service)["answer"] == "A gait. Two walk. A gait. Two walk. A gait.\n…"


def test_the_books_answers_have_one_to_five_sentences(client: httpx.Client) -> None:
    questions = (THEME, "How do I create a ROS 2 publisher in Python?", "How does ROS 2 work?")
    for question in questions:
        text = ask(client, question)["answer"]
        assert 1 <= len(re.findall(r"[.!?](?=\s|$)", text)) <= 5


def test_a_disclaimer_opens_the_answer_and_has_its_own_field() -> None:
    value = ask_book(over((tale("A gait is."), 0.45)))
    assert value["disclaimer"] == DISCLAIMER
    assert value["answer"] == f"{DISCLAIMER} A gait is."


# Quality and grounding


@pytest.mark.parametrize(
    ("relevances", "judge", "quality"),
    [
        # On the contract's scale 0.5 is shown as 0.3; its 0.6 is a relevance of 0.714.
        ((0.72, 0.72), SentenceJudge(), "Good"),
        ((0.70, 0.70), SentenceJudge(), "Partial"),
        ((0.99,), SentenceJudge(), "Partial"),
        ((0.45, 0.45), SentenceJudge(), "Partial"),
        ((0.9, 0.9), SentenceJudge(answerable=0.2), "Partial"),
        ((0.51,), SentenceJudge(answerable=0.2), "Partial"),
        ((0.9, 0.9), SentenceJudge(answerable=0.01), "Poor"),
        ((0.45, 0.45), SentenceJudge(answerable=0.2), "Poor"),
        ((0.2, 0.2), SentenceJudge(), "Poor"),
        ((), SentenceJudge(), "Poor"),
    ],
)
def test_quality_is_computed_from_the_relevant_chunks(
    relevances: tuple[float, ...], judge: SentenceJudge, quality: str
) -> None:
    chunks = [(tale(f"Gait {n}."), relevance) for n, relevance in enumerate(relevances)]
    assert ask_book(over(*chunks, judge=judge))["retrieval_quality"] == quality


def test_chunks_that_are_not_relevant_do_not_count_toward_quality() -> None:
    chunks = [(tale("A gait."), 0.9), (tale("Else."), 0.9)]
    value = ask_book(over(*chunks, judge=SentenceJudge("gait")))
    assert value["retrieval_quality"] == "Partial"


@pytest.mark.parametrize(
    ("quote", "start", "inside", "grounded"),
    [
        ("A gait is.", 0, True, True),
        ("A gait was.", 0, True, False),
        ("A gait is.", 1, True, False),
        ("A gait is.", 0, False, False),
        ("", 0, True, False),
    ],
)
def test_grounded_is_computed_from_the_quotes(
    quote: str, start: int, inside: bool, grounded: bool
) -> None:
    passage, other = Passage(tale("A gait is."), 0.9), Passage(tale("Another."), 0.9)
    citation = Citation(passage, quote, start, start + len(quote))
    sentences = (Sentence("A gait is.", (citation,)),)
    end = Answered(sentences, (passage if inside else other,), None, None, "standard_rag", {})  # type: ignore[arg-type]
    assert end.grounded is grounded
    assert replace(end, sentences=()).grounded is False
    assert replace(end, sentences=(Sentence("A gait is.", ()),)).grounded is False


def test_an_answer_whose_quote_does_not_stand_is_not_called_grounded() -> None:
    passage = Passage(tale("A gait is."), 0.9)
    judgement = Judgement(0.9, (0.9,), ())
    for quote, grounded in (("A gait is.", True), ("A gait was.", False)):
        sentence = Sentence(quote, (Citation(passage, quote, 0, len(quote)),))
        end = Answered((sentence,), (passage,), judgement, None, "standard_rag", {})
        assert contract_ask.to_response(end).grounded is grounded


def test_a_response_cannot_claim_grounding_without_sources() -> None:
    good = {"answer": NOT_IN_BOOK, "sources": [], "matched_chunks": [], "grounded": False}
    assert contract_ask.AskResponse.model_validate(good).sources == []
    for wrong in ({"grounded": True}, {"answer": "It is so."}, {"sources": ["chunk"]}):
        with pytest.raises(ValidationError):
            contract_ask.AskResponse.model_validate({**good, **wrong})


# Bad input


@pytest.mark.parametrize(
    "body",
    [{}, {"question": None}, {"question": ""}, {"question": " \n "}, {"question": " " * 2000}],
)
def test_an_empty_question_is_asked_for(client: httpx.Client, body: dict[str, object]) -> None:
    assert error_of(client.post(PATH, json=body), 422, "validation_failed") == NO_QUESTION


BAD_FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "question of 1001 characters": ({"question": "secret" + "x" * 995}, "question"),
    "question of 1001 with blanks": ({"question": " " * 10 + "x" * 991}, "question"),
    "question that is a number": ({"question": 5}, "question"),
    "question that is a list": ({"question": ["secret"]}, "question"),
    "NUL in question": ({"question": "secret\0"}, "question"),
    "lone surrogate in question": ({"question": "secret \ud800"}, "question"),
    "selected_text of 10001": ({"question": "x", "selected_text": "s" * 10_001}, "selected_text"),
    "selected_text that is a number": ({"question": "x", "selected_text": 5}, "selected_text"),
    "NUL in selected_text": ({"question": "x", "selected_text": "secret\0"}, "selected_text"),
    "lone surrogate in selected_text": (
        {"question": "x", "selected_text": "secret \udfff"},
        "selected_text",
    ),
    "unknown book": ({"question": "x", "book": "secret"}, "book"),
    "book that is a path": ({"question": "x", "book": "../secret"}, "book"),
    "blank book": ({"question": "x", "book": " "}, "book"),
    "unknown field": ({"question": "x", "questions": "secret"}, "questions"),
    "a field of another contract": ({"question": "x", "top_k": 5}, "top_k"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_bad_field_is_named_and_its_value_is_not(client: httpx.Client, name: str) -> None:
    body, field = BAD_FIELDS[name]
    reply = client.post(PATH, content=json.dumps(body), headers=JSON)
    assert error_of(reply, 422, "validation_failed").startswith(f"{field}: ")
    assert "secret" not in reply.text


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_is_no_json_object_is_refused(client: httpx.Client, name: str) -> None:
    reply = client.post(PATH, content=BROKEN_BODIES[name], headers=JSON)
    assert "request body" in error_of(reply, 422, "validation_failed")
    assert "secret" not in reply.text


def test_a_thousand_emoji_are_accepted(client: httpx.Client) -> None:
    assert ask(client, "🤖" * 1000)["answer"] == NOT_IN_BOOK


# Size, method and parts that fail


def test_a_body_over_256_kib_is_too_large(client: httpx.Client) -> None:
    body = b'{"question": "x", "more": "' + b"y" * 256 * 1024 + b'"}'
    error_of(client.post(PATH, content=body, headers=JSON), 413, "payload_too_large")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_not_allowed_and_told_which_is(client: httpx.Client, method: str) -> None:
    reply = client.request(method, PATH)
    error_of(reply, 405, "method_not_allowed")
    assert reply.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("service", "error"),
    [
        (
            fake_service(index=FakeIndex(failure=StoreFailed("/srv/secret is gone"))),
            "store_unavailable",
        ),
        (fake_service(index=FakeIndex(failure=WrongEmbedder("/srv/secret"))), "store_unavailable"),
        (fake_service(index=FakeIndex(failure=NoBooks("No book."))), "store_unavailable"),
        (fake_service(library=FakeLibrary({})), "store_unavailable"),
        (
            fake_service(embedder=FakeEmbedder(EmbedderFailed("/srv/secret"))),
            "embedder_unavailable",
        ),
    ],
)
def test_a_failing_part_is_503_and_never_a_refusal(service: Service, error: str) -> None:
    reply = call(service, "POST", PATH, {"question": "Anything?"})
    assert error_of(reply, 503, error) == NO_SEARCH


def test_a_defect_is_500_and_tells_nothing_of_itself() -> None:
    service = fake_service(index=FakeIndex(failure=RuntimeError("secret at /srv/secret.py")))
    reply = call(service, "POST", PATH, {"question": "Anything?"})
    assert error_of(reply, 500, "internal") == NO_ANSWER


@pytest.mark.parametrize("kind", ["model_timeout", "model_failed"])
def test_a_failing_model_has_the_fixed_detail(kind: ProblemKind) -> None:
    request = bare_request(PATH)
    value = contract_ask.error_shape(request, Problem(kind, "It broke."))
    assert value == {"error": kind, "detail": NO_ANSWER}


def test_a_model_out_of_time_is_503_here_and_504_elsewhere() -> None:
    assert contract_ask.STATUSES == {"model_timeout": 503}
    assert Problem("model_timeout", "It took too long.").status == 504


def test_a_status_of_this_contract_is_its_own() -> None:
    service = fake_service(index=FakeIndex(failure=ModelTimeout("It took too long.")))
    error_of(call(service, "POST", PATH, {"question": "x"}), 503, "model_timeout")
    assert call(service, "POST", "/query", {"query": "x"}).status_code == 504


# The description


def test_the_description_has_the_contracts_fields_and_limits() -> None:
    description = create_app(fake_service()).openapi()
    operation = description["paths"][PATH]["post"]
    assert set(operation["responses"]) == {
        *("200", "401", "403", "413", "422", "429", "500", "502", "503")
    }
    schemas = description["components"]["schemas"]
    request = schemas["AskRequest"]
    assert request["required"] == ["question"]
    assert request["additionalProperties"] is False
    assert set(request["properties"]) == {"question", "selected_text", "book"}
    question = request["properties"]["question"]
    assert (question["minLength"], question["maxLength"]) == (1, 1000)
    assert request["properties"]["selected_text"]["anyOf"][0]["maxLength"] == 10_000
    assert set(schemas["AskResponse"]["properties"]) == RESPONSE
    assert set(schemas["ChunkReference"]["properties"]) == CHUNK
    assert set(schemas["AskError"]["properties"]) == {"error", "detail"}


def test_a_named_book_is_the_one_asked(client: httpx.Client) -> None:
    assert ask(client, THEME, book=SAMPLE) == ask(client, THEME)
