"""A language model that fails, as each contract tells it; and what it took, where it answers."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.contracts.fakes import MemoryThreads, call, fake_service
from tests.unit.ask.test_answer_path import ports as ask_ports
from tests.unit.fakes import wide_queue

from bythebook.domain.answers import Draft, Judgement
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, ModelTimeout
from bythebook.http.app import Service
from bythebook.operate.answerer import Answerer

SECRET = "sk-secret"
QUESTION = "What is a gait?"
WAYS = {"/api/query": "query", "/query": "query", "/chat/run": "message", "/ask": "question"}


class Model:
    """Answers with its evidence, or makes something up, then fails if asked to."""

    def __init__(self, failure: Exception | None = None, made_up: str = "") -> None:
        self.failure = failure
        self.made_up = made_up
        self.named: list[str | None] = []

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        self.named.append(plan.model)
        first = judgement.evidence[0]
        if self.failure is None:
            quotes = () if self.made_up else ((first.passage, first.quote),)
            yield Draft(self.made_up or first.quote, quotes)
        yield Usage(90, 10, 0.002)
        if self.failure is not None:
            raise self.failure


def service_with(model: Model, *, fallback: bool = False) -> Service:
    plain = fake_service()
    ports = replace(
        ask_ports(),
        generator=model,
        model="maker/model",
        model_named=lambda name: f"maker/{name}",
        fallback=fallback,
    )
    return replace(
        plain,
        answerer=Answerer(ports, plain.answerer.journal, wide_queue()),
        threads=MemoryThreads(),
    )


def ask(path: str, failure: Exception) -> httpx.Response:
    return call(service_with(Model(failure)), "POST", path, {WAYS[path]: QUESTION})


def kind_of(body: dict[str, Any]) -> str:
    error = body.get("error_type") or body["error"]
    return str(error["code"] if isinstance(error, dict) else error)


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/api/query", 504, "OPENROUTER_TIMEOUT"),
        ("/query", 504, "TimeoutError"),
        ("/chat/run", 503, "model_timeout"),
        ("/ask", 503, "model_timeout"),
    ],
)
def test_a_model_that_is_late(path: str, status: int, kind: str) -> None:
    reply = ask(path, ModelTimeout(f"Too late with {SECRET}."))
    assert (reply.status_code, kind_of(reply.json())) == (status, kind)
    assert reply.headers["Retry-After"] == "5"
    assert SECRET not in reply.text


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/query", "OPENROUTER_FAILURE"),
        ("/query", "GenerationError"),
        ("/chat/run", "model_failed"),
        ("/ask", "model_failed"),
    ],
)
@pytest.mark.parametrize("wait", [None, 17])
def test_a_model_that_fails(path: str, kind: str, wait: int | None) -> None:
    reply = ask(path, ModelFailed(f"Down with {SECRET}.", retry_after=wait))
    assert (reply.status_code, kind_of(reply.json())) == (502, kind)
    assert reply.headers.get("Retry-After") == (str(wait) if wait else None)
    assert SECRET not in reply.text


def test_an_answer_that_cannot_be_used_is_a_failure_as_well() -> None:
    assert ask("/ask", BadAnswer("No JSON.")).status_code == 502


def test_a_stream_that_has_begun_ends_in_the_failure() -> None:
    service = service_with(Model(ModelTimeout("Too late.")))
    told = call(service, "POST", "/chat/stream", {"message": QUESTION}).text
    last = told.strip().split("\n\n")[-1]
    assert last.startswith("event: error\n")
    assert json.loads(last.partition("data: ")[2])["error"] == "model_timeout"


def test_contract_b_tells_which_model_answered_and_what_it_took() -> None:
    model = Model()
    service = service_with(model)
    name = service.models[0]
    named = call(service, "POST", "/query", {"query": QUESTION, "model": name}).json()
    plain = call(service, "POST", "/query", {"query": QUESTION}).json()
    assert (named["model_used"], named["tokens_used"]) == (f"maker/{name}", 100)
    assert (plain["model_used"], plain["tokens_used"]) == ("maker/model", 100)
    assert model.named == [name, None]
    page = service.metrics.write_page(())[0].decode()
    assert f'model_tokens_total{{kind="prompt",model="maker/{name}"}} 90.0' in page
    assert 'model_usd_total{model="maker/model"} 0.002' in page
    assert 'model_sentences_total{model="maker/model",outcome="shown"} 1.0' in page
    assert call(service, "POST", "/query", {"query": QUESTION, "model": "x"}).status_code == 422


def answer_of(path: str, value: dict[str, Any]) -> dict[str, Any]:
    return dict(value["answer"]) if path == "/api/query" else value


@pytest.mark.parametrize("path", WAYS)
def test_where_no_line_of_the_model_stands_the_book_answers_and_it_is_counted(path: str) -> None:
    service = service_with(Model(made_up="Gaits are loaves of bread."))
    reply = call(service, "POST", path, {WAYS[path]: QUESTION})
    assert reply.status_code == 200
    assert "bread" not in reply.text
    shown = answer_of(path, reply.json())
    assert shown.get("model_used", "bythebook-extractive") == "bythebook-extractive"
    assert shown.get("fallback", False) is False
    page = service.metrics.write_page(())[0].decode()
    assert 'model_excerpts_total{model="maker/model",reason="nothing stood"} 1.0' in page
    assert 'outcome="dropped"} 1.0' in page
    assert 'model_sentences_total{model="maker/model",outcome="shown"}' not in page


@pytest.mark.parametrize("path", WAYS)
def test_a_failing_model_is_replaced_by_the_book_where_that_is_configured(path: str) -> None:
    service = service_with(Model(ModelFailed(f"Down with {SECRET}.")), fallback=True)
    reply = call(service, "POST", path, {WAYS[path]: QUESTION})
    assert reply.status_code == 200
    assert SECRET not in reply.text
    shown = answer_of(path, reply.json())
    assert shown.get("fallback", path in {"/query", "/ask"}) is True
    assert shown.get("model_used", "bythebook-extractive") == "bythebook-extractive"
    page = service.metrics.write_page(())[0].decode()
    assert 'model_excerpts_total{model="maker/model",reason="failed"} 1.0' in page
    assert 'part_failures_total{part="model"} 1.0' in page


def test_a_stream_says_at_its_end_that_the_model_failed() -> None:
    service = service_with(Model(ModelTimeout("Too late.")), fallback=True)
    told = call(service, "POST", "/chat/stream", {"message": QUESTION}).text
    last = told.strip().split("\n\n")[-1]
    assert last.startswith("event: done\n")
    assert json.loads(last.partition("data: ")[2])["fallback"] is True
