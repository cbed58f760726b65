"""Contract B over a real server, and over parts that fail."""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.fakes import (
    BROKEN_BODIES,
    JSON,
    MODELS,
    READER,
    FakeEmbedder,
    FakeIndex,
    FakeLibrary,
    NoRecords,
    RankingJudge,
    SentenceJudge,
    bare_request,
    call,
    fake_service,
    hits,
    one_page,
    over,
)
from tests.unit.fakes import make_chunk, wide_queue

from bythebook.ask.show.wording import DISCLAIMER
from bythebook.bootstrap import Core
from bythebook.domain.books import Chunk, UnitKind
from bythebook.domain.records import QueryEntry
from bythebook.errors import EmbedderFailed, NoBooks, StoreFailed, WrongEmbedder
from bythebook.http.app import Service, create_app
from bythebook.http.contracts import rag as contract_rag
from bythebook.http.wire.problems import STATUS, Problem, ProblemKind
from bythebook.operate.answerer import Answerer
from bythebook.operate.journal import Journal
from bythebook.settings import Settings

PATH = "/query"
PUBLISHER = "How do I create a ROS 2 publisher in Python?"
ANSWERED = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
RESPONSE = {
    "query",
    "answer",
    "sources",
    "model_used",
    "tokens_used",
    "retrieval_count",
    "disclaimer",
}
SOURCE = {"url", "page_title", "relevance_score", "chunk_index"}
ERROR = {"error", "error_type", "error_message", "query", "status_code"}
NO_MATCH = "The book does not answer this question."


def ask(client: httpx.Client, **body: object) -> dict[str, Any]:
    reply = client.post(PATH, json=body)
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    assert set(value) == RESPONSE
    return value


def error_of(reply: httpx.Response, status: int, error_type: str) -> dict[str, Any]:
    """Check that a reply is the contract's error, and give it."""
    assert reply.status_code == status, reply.text
    value: dict[str, Any] = reply.json()
    assert set(value) == ERROR
    assert value["error"] is True
    assert value["error_type"] == error_type
    assert value["error_message"]
    assert value["status_code"] == status
    return value


def ask_rag(service: Service, query: str = "What is a gait?", **more: object) -> dict[str, Any]:
    reply = call(service, "POST", PATH, {"query": query, **more})
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


# Answers


def test_the_seeds_example_is_answered_in_its_shape(client: httpx.Client) -> None:
    value = ask(client, query=PUBLISHER, top_k=5, model="gpt-3.5-turbo")
    assert value["query"] == PUBLISHER
    assert "create_publisher" in value["answer"]
    assert value["sources"]
    assert value["retrieval_count"] == 5
    assert value["disclaimer"] is None


@pytest.mark.parametrize("model", [None, *MODELS])
def test_what_answered_is_named_whatever_model_was_asked_for(
    client: httpx.Client, model: str | None
) -> None:
    value = ask(client, query=ANSWERED, model=model)
    assert value["model_used"] == "bythebook-extractive"
    assert value["tokens_used"] == 0


def test_a_question_is_echoed_as_asked(client: httpx.Client) -> None:
    plain, padded = ask(client, query=ANSWERED), ask(client, query=f"  {ANSWERED}\n ")
    assert padded == plain
    assert plain["query"] == ANSWERED


def test_every_source_is_a_page_that_opens_and_has_its_title(
    client: httpx.Client, sample_core: Core
) -> None:
    titles = {one.document_id: one.title for one in sample_core.library.documents(SAMPLE)}
    for query in (PUBLISHER, ANSWERED, "What is a URDF file?", "Why do inertial estimates drift?"):
        for source in ask(client, query=query)["sources"]:
            assert set(source) == SOURCE
            page, _, anchor = source["url"].partition("#")
            reply = client.get(page)
            assert reply.status_code == 200
            assert f'id="{anchor}"' in reply.text
            assert source["page_title"] == titles[page.partition(f"/read/{SAMPLE}/")[2]]
            assert 0.0 <= source["relevance_score"] <= 1.0
            assert source["chunk_index"] >= 0


def test_no_page_is_listed_twice(client: httpx.Client) -> None:
    value = ask(client, query="How does ROS 2 work?", top_k=50)
    pages = [source["url"].partition("#")[0] for source in value["sources"]]
    assert len(pages) == len(set(pages)) > 1


@pytest.mark.parametrize("top_k", [1, 50])
def test_top_k_bounds_the_chunks_retrieved(client: httpx.Client, top_k: int) -> None:
    assert ask(client, query=ANSWERED, top_k=top_k)["retrieval_count"] == top_k


def test_a_named_book_is_the_one_asked(client: httpx.Client) -> None:
    assert ask(client, query=ANSWERED, book=SAMPLE)["sources"]


# Sources


def page(name: str, text: str, section: str = "Gaits", index: int = 0) -> Chunk:
    chunk = make_chunk(text, document_id=name, book_id="tales", section=section, anchor=section)
    return replace(chunk, chunk_index=index)


def test_a_page_has_its_best_score_and_its_best_chunk() -> None:
    low, high = page("a", "It walks."), page("a", "It runs.", "Runs", 3)
    service = over((low, 0.6), (high, 0.8))
    (source,) = ask_rag(service)["sources"]
    # On the contract's scale 0.5 is shown as 0.7: 0.8 becomes 0.7 + 0.3 * 0.6.
    assert source == {
        "url": f"{READER}/read/tales/a#Runs",
        "page_title": "Walking",
        "relevance_score": 0.88,
        "chunk_index": 3,
    }


def test_the_best_cited_page_comes_first_and_what_is_not_relevant_stays_out() -> None:
    chunks = [
        (page("a", "Nothing of it."), 0.95),
        (page("b", "The gait is here."), 0.6),
        (page("c", "A gait too."), 0.7),
        (page("d", "Something else."), 0.9),
    ]
    service = over(*chunks, judge=SentenceJudge("gait", support=0.45))
    value = ask_rag(service)
    assert [source["url"] for source in value["sources"]] == [
        f"{READER}/read/tales/c#Gaits",
        f"{READER}/read/tales/b#Gaits",
    ]


def test_a_page_judged_relevant_is_listed_after_the_cited_one_though_its_score_is_better() -> None:
    judge = RankingJudge({"One.": 0.8, "Two.": 0.1})
    value = ask_rag(over((page("a", "Two."), 0.9), (page("b", "One."), 0.6), judge=judge))
    assert [source["url"][-7:] for source in value["sources"]] == ["b#Gaits", "a#Gaits"]
    scores = [source["relevance_score"] for source in value["sources"]]
    assert scores[0] < scores[1]


def test_a_page_that_is_known_gives_its_own_title() -> None:
    document = one_page("a", "Of Gaits", "Of Gaits\n\nIt walks.")
    service = fake_service(
        library=FakeLibrary({"tales": [document]}),
        index=FakeIndex(hits=hits((page("a", "It walks."), 0.9))),
    )
    assert ask_rag(service)["sources"][0]["page_title"] == "Of Gaits"


# Length


def prose(*sentences: str) -> tuple[Chunk, float]:
    return make_chunk(*sentences, book_id="tales"), 0.9


FIVE = ("One is.", "Two is.", "Three is.", "Four is.", "Five is.")


def test_an_answer_has_at_most_three_sentences() -> None:
    value = ask_rag(over(prose(*FIVE), judge=SentenceJudge(support=0.1)))
    assert value["answer"] == "One is.\n\nTwo is.\n\nThree is."


def test_an_answer_has_the_key_sentences_of_the_excerpt_that_contract_a_shows() -> None:
    four = ("One is.", "It is two.", "Three is.", "Four is.")
    judge = RankingJudge({"One is.": 0.05, "It is two.": 0.16, "Three is.": 0.2, "Four is.": 0.3})
    service = over(prose(*four), judge=judge)
    whole = call(service, "POST", "/api/query", {"query": "What is a gait?"}).json()["answer"]
    assert whole["sentences"] == list(four)
    keys = [whole["sentences"][number] for number in whole["key_sentences"]]
    assert ask_rag(service)["answer"] == "\n\n".join(keys) == "It is two.\n\nThree is.\n\nFour is."


def test_steps_may_take_more() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"Do step {n}.") for n in range(6)]
    chunk = make_chunk("Do this:", *items, book_id="tales")
    service = over((chunk, 0.9), judge=SentenceJudge("Do this"))
    value = ask_rag(service, "What are the steps of walking?")
    assert value["answer"] == "\n".join(["Do this:", "", *(f"- {text}" for _, text in items)])
    short = ask_rag(service, "What is walking?")["answer"]
    assert short == "Do this:\n\n- Do step 0.\n- Do step 1.\n…"  # in all three sentences


def test_no_answer_of_the_book_is_longer_than_three_sentences(client: httpx.Client) -> None:
    for query in (ANSWERED, "What is the main weakness of a quadruped?", "What is ROS 2?"):
        text = ask(client, query=query)["answer"]
        assert text.strip()
        assert len(re.findall(r"[.!?](?=\s|$)", text)) <= 3  # rows of a table have none


def test_a_disclaimer_opens_the_answer_and_counts_toward_no_limit() -> None:
    chunk, _ = prose(*FIVE)
    value = ask_rag(over((chunk, 0.45), judge=SentenceJudge(support=0.1)))
    assert value["disclaimer"] == DISCLAIMER
    assert value["answer"] == f"{DISCLAIMER} One is.\n\nTwo is.\n\nThree is."


# No match, and greetings


def test_no_match_says_so_and_names_the_nearest_sections(client: httpx.Client) -> None:
    value = ask(client, query=FOREIGN)
    assert value["sources"] == []
    assert value["retrieval_count"] == 5
    assert value["answer"].startswith(f"{NO_MATCH} No passage comes near the question. ")
    refusal = client.post("/api/query", json={"query": FOREIGN}).json()["refusal"]
    listed = value["answer"].partition(" The nearest sections are: ")[2]
    assert refusal["nearest_sections"]
    for near in refusal["nearest_sections"]:
        assert f"{near['section']} ({near['url']})" in listed


def test_nothing_retrieved_says_so_without_sections() -> None:
    value = ask_rag(fake_service())
    assert value["answer"].startswith(f"{NO_MATCH} Nothing was found to read. ")
    assert "nearest sections" not in value["answer"]
    assert (value["sources"], value["retrieval_count"]) == ([], 0)


GREETINGS = ("hi", "Hello!", "hey there", "Good morning.", " HI ", "hello, hello", "Hi 👋")


@pytest.mark.parametrize("query", GREETINGS)
def test_a_greeting_is_welcomed_without_retrieval(query: str) -> None:
    index = FakeIndex(failure=AssertionError("the index was touched"))
    embedder = FakeEmbedder(AssertionError("the embedder was touched"))
    value = ask_rag(fake_service(index=index, embedder=embedder), query)
    assert value["answer"] == contract_rag.WELCOME
    assert (value["sources"], value["retrieval_count"], value["tokens_used"]) == ([], 0, 0)
    assert value["model_used"] == "bythebook-extractive"


@pytest.mark.parametrize(
    "query", ["Hi, what is a robot?", "hello world program", "this", "history", "good", "?"]
)
def test_what_only_begins_like_a_greeting_is_a_question(query: str) -> None:
    index = FakeIndex()
    ask_rag(fake_service(index=index), query)
    assert index.calls == 1


def test_a_greeting_to_an_unknown_book_is_still_a_mistake() -> None:
    reply = call(fake_service(), "POST", PATH, {"query": "hi", "book": "secret"})
    assert error_of(reply, 422, "ValidationError")["error_message"].startswith("book:")


def test_a_greeting_is_recorded_like_an_answered_question() -> None:
    entries: list[QueryEntry] = []

    class KeptRecords(NoRecords):
        async def log(self, *new: QueryEntry) -> None:
            entries.extend(new)

    plain = fake_service()
    journal = Journal(KeptRecords(), plain.metrics)
    service = replace(plain, answerer=Answerer(plain.answerer.ports, journal, wide_queue()))

    async def greet() -> httpx.Response:
        writer = asyncio.create_task(journal.run())
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            reply = await client.post(PATH, json={"query": "hello"})
        await journal.settle()
        writer.cancel()
        return reply

    reply = asyncio.run(greet())
    assert reply.json()["answer"] == contract_rag.WELCOME
    (entry,) = entries
    assert (entry.query_text, entry.contract, entry.status) == ("hello", "rag", "success")
    assert (entry.chunks_retrieved, entry.cited_sections) == (0, ())
    assert str(entry.request_id) == reply.headers["x-request-id"]


# Bad input


BAD_FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "no query": ({}, "query"),
    "null query": ({"query": None}, "query"),
    "empty query": ({"query": ""}, "query"),
    "blank query": ({"query": " \t\n "}, "query"),
    "query of 2001 characters": ({"query": "secret" + "x" * 1995}, "query"),
    "query of 2001 with blanks around": ({"query": " " * 10 + "x" * 1991}, "query"),
    "query that is a number": ({"query": 5}, "query"),
    "query that is a list": ({"query": ["secret"]}, "query"),
    "NUL in query": ({"query": "secret\0"}, "query"),
    "lone surrogate in query": ({"query": "secret \ud800"}, "query"),
    "top_k 0": ({"query": "x", "top_k": 0}, "top_k"),
    "top_k 51": ({"query": "x", "top_k": 51}, "top_k"),
    "top_k as text": ({"query": "x", "top_k": "5"}, "top_k"),
    "top_k true": ({"query": "x", "top_k": True}, "top_k"),
    "top_k 5.0": ({"query": "x", "top_k": 5.0}, "top_k"),
    "top_k null": ({"query": "x", "top_k": None}, "top_k"),
    "unknown model": ({"query": "x", "model": "secret"}, "model"),
    "empty model": ({"query": "x", "model": ""}, "model"),
    "model that is a number": ({"query": "x", "model": 4}, "model"),
    "lone surrogate in model": ({"query": "x", "model": "secret \udfff"}, "model"),
    "unknown book": ({"query": "x", "book": "secret"}, "book"),
    "book that is a path": ({"query": "x", "book": "../secret"}, "book"),
    "book of 65 characters": ({"query": "x", "book": "b" * 65}, "book"),
    "NUL in book": ({"query": "x", "book": "secret\0"}, "book"),
    "unknown field": ({"query": "x", "topk": "secret"}, "topk"),
    "a field of another contract": ({"query": "x", "selected_text": "secret"}, "selected_text"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_bad_field_is_named_and_its_value_is_not(client: httpx.Client, name: str) -> None:
    body, field = BAD_FIELDS[name]
    reply = client.post(PATH, content=json.dumps(body), headers=JSON)
    error = error_of(reply, 422, "ValidationError")
    assert error["error_message"].startswith(f"{field}: ")
    assert error["query"] == ("x" if body.get("query") == "x" else None)
    assert "secret" not in reply.text


def test_an_unknown_model_is_told_which_are_known(client: httpx.Client) -> None:
    reply = client.post(PATH, json={"query": "x", "model": "gpt-5"})
    message = error_of(reply, 422, "ValidationError")["error_message"]
    assert all(model in message for model in MODELS)


def test_an_operator_chooses_the_models() -> None:
    assert Settings().model_names == MODELS
    names = Settings(allowed_models="qwen3:4b , vendor/large-1,qwen3:4b").model_names
    assert names == ("qwen3:4b", "vendor/large-1")
    service = replace(fake_service(), models=names)
    assert ask_rag(service, "x", model="qwen3:4b")
    reply = call(service, "POST", PATH, {"query": "x", "model": "gpt-4"})
    assert "qwen3:4b" in error_of(reply, 422, "ValidationError")["error_message"]


def test_the_service_allows_the_models_of_the_settings(sample_core: Core) -> None:
    assert sample_core.service().models == sample_core.settings.model_names


def test_every_further_bad_field_is_named_too(client: httpx.Client) -> None:
    reply = client.post(PATH, json={"query": "", "top_k": 0})
    message = error_of(reply, 422, "ValidationError")["error_message"]
    assert message.startswith("query: ")
    assert " top_k: " in message


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_is_no_json_object_is_refused(client: httpx.Client, name: str) -> None:
    reply = client.post(PATH, content=BROKEN_BODIES[name], headers=JSON)
    error = error_of(reply, 422, "ValidationError")
    assert "request body" in error["error_message"]
    assert error["query"] in {None, "x"}
    assert "secret" not in reply.text


def test_two_thousand_emoji_are_accepted(client: httpx.Client) -> None:
    assert ask(client, query="🤖" * 2000)["sources"] == []


# Size, method and parts that fail


def test_a_body_over_256_kib_is_too_large(client: httpx.Client) -> None:
    body = b'{"query": "x", "more": "' + b"y" * 256 * 1024 + b'"}'
    error_of(client.post(PATH, content=body, headers=JSON), 413, "PayloadTooLarge")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_not_allowed_and_told_which_is(client: httpx.Client, method: str) -> None:
    reply = client.request(method, PATH)
    assert reply.status_code == 405
    assert reply.headers["allow"] == "POST"
    assert reply.json()["error"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("service", "again"),
    [
        (fake_service(index=FakeIndex(failure=StoreFailed("/srv/secret is gone"))), True),
        (fake_service(embedder=FakeEmbedder(EmbedderFailed("/srv/secret"))), True),
        (fake_service(index=FakeIndex(failure=WrongEmbedder("/srv/secret"))), False),
        (fake_service(index=FakeIndex(failure=NoBooks("No book."))), False),
        (fake_service(library=FakeLibrary({})), False),
    ],
)
def test_a_failing_part_is_503_and_never_an_answer(service: Service, again: bool) -> None:
    reply = call(service, "POST", PATH, {"query": "Anything?"})
    error = error_of(reply, 503, "RetrievalError")
    assert error["query"] == "Anything?"
    assert ("retry-after" in reply.headers) is again
    assert "secret" not in reply.text


def test_a_defect_is_500_and_tells_nothing_of_itself() -> None:
    service = fake_service(index=FakeIndex(failure=RuntimeError("secret at /srv/secret.py")))
    reply = call(service, "POST", PATH, {"query": "Anything?"})
    error_of(reply, 500, "UnknownError")
    for trace in ("secret", "Traceback", ".py", "RuntimeError"):
        assert trace not in reply.text


TYPES: dict[ProblemKind, tuple[str, int]] = {
    "validation_failed": ("ValidationError", 422),
    "store_unavailable": ("RetrievalError", 503),
    "embedder_unavailable": ("RetrievalError", 503),
    "model_failed": ("GenerationError", 502),
    "model_timeout": ("TimeoutError", 504),
    "rate_limited": ("RateLimitError", 429),
    "internal": ("UnknownError", 500),
    "unauthorized": ("AuthenticationError", 401),
    "forbidden": ("PermissionError", 403),
    "payload_too_large": ("PayloadTooLarge", 413),
}


@pytest.mark.parametrize("kind", TYPES)
def test_every_kind_of_failure_has_its_type_and_status(kind: ProblemKind) -> None:
    request = bare_request(PATH)
    value = contract_rag.error_shape(request, Problem(kind, "It broke."))
    assert (value["error_type"], value["status_code"]) == TYPES[kind]
    assert STATUS[kind] == TYPES[kind][1]


# The description


def test_the_description_has_the_contracts_fields_and_limits(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    operation = description["paths"][PATH]["post"]
    assert set(operation["responses"]) == {
        *("200", "401", "403", "413", "422", "429", "500", "502", "503", "504")
    }
    schemas = description["components"]["schemas"]
    request = schemas["RagRequest"]
    assert request["required"] == ["query"]
    assert request["additionalProperties"] is False
    assert set(request["properties"]) == {"query", "top_k", "model", "book"}
    query, top_k = request["properties"]["query"], request["properties"]["top_k"]
    assert (query["minLength"], query["maxLength"]) == (1, 2000)
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 50, 5)
    assert set(schemas["RagResponse"]["properties"]) == RESPONSE
    assert set(schemas["SourceReference"]["properties"]) == SOURCE
    assert set(schemas["RagError"]["properties"]) == ERROR


def test_the_contracts_page_shows_both_new_routes(client: httpx.Client) -> None:
    page = client.get("/docs").text
    for words in ("POST /query", "POST /ask", "RagRequest", "matched_chunks", "page_title"):
        assert words in page
