"""One question through every contract and the command line: one verdict, one set of sources."""

import asyncio
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from bythebook.ask.pipeline import collect
from bythebook.ask.show.links import section_url
from bythebook.ask.show.wording import remove_opening
from bythebook.bootstrap import Core
from bythebook.domain.questions import Question
from bythebook.evaluate.sets import load_questions

ANSWERED = (
    "How do ROS 2 nodes communicate?",
    "What is ROS 2?",
    "How does ROS 2 work?",
    "How do I create a ROS 2 publisher in Python?",
    "What is the main theme of Chapter 3?",
    "What are the steps of the perception-action loop?",
    "What is the main weakness of a quadruped?",
    "How heavy are full-grown human-shaped machines these days?",
    "What's the best reason for giving a machine a body like ours rather than wheels?",
    "By what factor should a control layer be faster than the layer above it?",
)
REFUSED = (
    "Who won the football world cup in 1998?",
    "What is the best recipe for apple pie?",
    "postgres index not used for LIKE query",
    "🤖🤖🤖",
)
REFUSED_DEV = [
    one.question
    for one in load_questions(Path(__file__).parents[2] / "evals" / "sample-book.jsonl")
    if one.split == "dev" and one.kind != "answered"
][::4]
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
NO_MATCH = "The book does not answer this question."


@dataclass
class ContractAnswer:
    """What one way of asking said of a question."""

    answered: bool
    text: str
    first_quote: str | None = None  # where that way of asking shows quotes
    pages: set[str] = field(default_factory=set)
    cited: list[str] = field(default_factory=list)  # what it cites, as pages or as chunks
    nearest: list[str] = field(default_factory=list)


def page(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def strip_mark(text: str) -> str:
    """Give an answer from its first word on, which an item's mark or a fence may precede."""
    return re.sub(r"\A(?:- |\d+\) |`{3,}\w*\n)", "", text)


def first_key_quote(citations: list[dict[str, Any]]) -> str:
    """Return the first quote that answers: what stands before it is context, which B and D leave out."""
    return str(next(one for one in citations if one["key"])["referenced_text"])


def answer_of_a(envelope: dict[str, Any]) -> ContractAnswer:
    answer, refusal = envelope["answer"], envelope["refusal"]
    if answer is None:
        near = [section["section"] for section in refusal["nearest_sections"]]
        return ContractAnswer(False, refusal["reason"], nearest=near)
    citations = answer["citations"]
    pages = {page(one["source_url"]) for one in citations if one["source_url"]}
    chunks = [one["chunk_id"] for one in citations]
    return ContractAnswer(True, answer["text"], first_key_quote(citations), pages, chunks)


def answer_of_b(value: dict[str, Any]) -> ContractAnswer:
    pages = [page(source["url"]) for source in value["sources"]]
    refused = value["answer"].startswith(NO_MATCH)
    assert refused is (pages == [])
    return ContractAnswer(not refused, value["answer"], None, set(pages), pages)


def answer_of_c(value: dict[str, Any]) -> ContractAnswer:
    if not value["should_answer"]:
        near = [section["section"] for section in value["nearest_sections"]]
        return ContractAnswer(False, value["response"], nearest=near)
    citations = value["citations"]
    pages = {page(source["url"]) for source in value["sources"]}
    chunks = [one["chunk_id"] for one in citations]
    return ContractAnswer(True, value["response"], first_key_quote(citations), pages, chunks)


def answer_of_d(value: dict[str, Any]) -> ContractAnswer:
    if not value["grounded"]:
        near = [section["section"] for section in value["nearest_sections"]]
        return ContractAnswer(False, value["answer"], nearest=near)
    quotes = [quote for chunk in value["matched_chunks"] for quote in chunk["evidence"]]
    answer = value["answer"].removeprefix(f"{value['disclaimer']} ")
    first = next(quote for quote in quotes if strip_mark(answer).startswith(quote))
    return ContractAnswer(True, value["answer"], first, cited=value["sources"])


def post(client: httpx.Client, path: str, **body: object) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


@cache
def command_line(
    data_dir: Path, port: int, question: str, *more: str
) -> tuple[int, ContractAnswer]:
    """Ask by the command, in a process of its own."""
    environment = os.environ | {
        "BYTHEBOOK_DATA_DIR": str(data_dir),
        "BYTHEBOOK_PORT": str(port),
    }
    done = subprocess.run(
        [sys.executable, "-m", "bythebook", "ask", question, "--json", *more],
        capture_output=True,
        text=True,
        env=environment,
        cwd=data_dir,
        timeout=300,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, answer_of_a(json.loads(done.stdout))


@pytest.mark.parametrize("question", [*ANSWERED, *REFUSED])
def test_a_question_has_one_verdict_and_one_first_quote(
    client: httpx.Client, sample_core: Core, question: str
) -> None:
    settings = sample_core.settings
    a = answer_of_a(post(client, "/api/query", query=question))
    b = answer_of_b(post(client, "/query", query=question))
    c = answer_of_c(post(client, "/chat/run", message=question))
    d = answer_of_d(post(client, "/ask", question=question))
    code, terminal = command_line(settings.data_dir, settings.port, question)
    assert [one.answered for one in (a, b, c, d, terminal)] == [question in ANSWERED] * 5
    assert code == (0 if a.answered else 1)
    assert terminal == a
    if not a.answered:
        assert c.nearest == d.nearest == a.nearest
        assert all(section in b.text for section in a.nearest)
        return
    assert a.first_quote is not None
    assert a.first_quote == c.first_quote == d.first_quote
    assert strip_mark(remove_opening(b.text)).startswith(a.first_quote)


def test_contract_c_tells_the_type_of_a_refusal_by_the_best_similarity(
    client: httpx.Client,
) -> None:
    """The field that names it is contract A's alone; the widget says it in words all the same."""
    told: set[str] = set()
    for question in REFUSED_DEV:
        refusal = post(client, "/api/query", query=question)["refusal"]
        metrics = post(client, "/chat/run", message=question)["confidence_metrics"]
        if refusal is None:
            continue
        near = metrics["max_similarity"] >= 0.7
        assert refusal["refusal_type"] == ("insufficient_grounding" if near else "low_relevance")
        told.add(refusal["refusal_type"])
    assert len(told) == 2


@pytest.mark.parametrize("question", ANSWERED)
def test_all_sources_come_from_one_retrieved_set(
    client: httpx.Client, sample_core: Core, question: str
) -> None:
    outcome = asyncio.run(collect(Question(question), sample_core.ask))
    retrieved = {passage.chunk.chunk_id for passage in outcome.passages}
    pages = {
        page(section_url(passage.chunk, sample_core.ask.reader_url)) for passage in outcome.passages
    }
    a = post(client, "/api/query", query=question)
    b = answer_of_b(post(client, "/query", query=question))
    c = answer_of_c(post(client, "/chat/run", message=question))
    d = answer_of_d(post(client, "/ask", question=question))
    assert a["metadata"]["chunks_retrieved"] == len(retrieved) == 5
    assert set(answer_of_a(a).cited) | set(d.cited) <= retrieved
    assert answer_of_a(a).cited[0] in d.cited
    assert b.pages | c.pages <= pages
    assert c.cited == answer_of_a(a).cited
    assert answer_of_a(a).pages <= c.pages
    assert b.cited[0] in answer_of_a(a).pages


@pytest.mark.parametrize(
    ("question", "answered"),
    [("What is the capital of Iceland?", True), ("How do ROS 2 nodes communicate?", False)],
)
def test_a_selection_has_one_verdict(
    client: httpx.Client, sample_core: Core, question: str, answered: bool
) -> None:
    settings = sample_core.settings
    a = answer_of_a(post(client, "/api/query", query=question, selected_text=SELECTION))
    c = answer_of_c(post(client, "/chat/run", message=question, selected_text=SELECTION))
    d = answer_of_d(post(client, "/ask", question=question, selected_text=SELECTION))
    code, terminal = command_line(
        settings.data_dir, settings.port, question, "--selected-text", SELECTION
    )
    assert [one.answered for one in (a, c, d, terminal)] == [answered] * 4
    assert code == (0 if answered else 1)
    assert a.first_quote == c.first_quote == d.first_quote == terminal.first_quote
    assert (
        set(a.cited) == set(c.cited) == set(d.cited) == ({"selected_text"} if answered else set())
    )


@pytest.mark.parametrize("path", ["/api/query", "/ask", "/chat/run"])
def test_an_unknown_book_is_the_callers_mistake_with_a_selection_too(
    client: httpx.Client, path: str
) -> None:
    field = {"/api/query": "query", "/ask": "question", "/chat/run": "message"}[path]
    body = {field: "Who baked?", "selected_text": "The cook baked bread.", "book": "nope"}
    reply = client.post(path, json=body)
    assert reply.status_code == 422
    assert "There is no such book." in reply.text
