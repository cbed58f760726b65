"""Models over the sample book: one that makes things up is not believed, one that answers well is heard."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from evals.llm import open_core, run_gold, run_offline
from evals.llm_answers import Case, ask
from tests.adapters.providers.real_model import MODEL, serve_smollm2
from tests.faults.model_service import ModelService, ServiceReply, serve_with_model

from bythebook.adapters.providers.resilience import Policy
from bythebook.bootstrap import Core
from bythebook.evaluate.sets import EvalQuestion, load_questions

QUESTIONS = load_questions(Path(__file__).resolve().parents[2] / "evals" / "sample-book.jsonl")
ANSWERED = [one for one in QUESTIONS if one.kind == "answered" and one.split == "test"]
# With those over HTTP nine; REAL_QUESTIONS asks more, and `make eval-llm` all.
MANY = int(os.environ.get("REAL_QUESTIONS", "5"))
ASKED = [*ANSWERED[:MANY], *[one for one in QUESTIONS if one.kind == "look_alike"][:2]]
LEAST_HEARD = 0.85
PATIENT = Policy(timeout=600.0, first_token=500.0, gap=300.0)  # a shared machine may be slow


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with serve_smollm2(most_tokens=200) as url:  # it seldom ends by itself
        yield url


def test_not_one_unsupported_sentence_of_a_real_model_is_shown(
    model_url: str, sample_core: Core, record_property: Callable[[str, object], None]
) -> None:
    async def every(core: Core) -> list[Case]:
        return [await ask(question, core) for question in ASKED]

    with open_core(sample_core.settings.data_dir, model_url, MODEL, PATIENT) as core:
        cases = asyncio.run(every(core))
    shown = [sentence for case in cases for sentence in case.sentences]
    dropped = sum(fault.dropped for case in cases for fault in case.faults)
    for name, figure in (("shown", len(shown)), ("dropped", dropped)):
        record_property(name, figure)
    record_property("verdicts", [case.outcome_name for case in cases])
    assert [fault for case in cases for fault in case.wrong] == []
    assert all(sentence.citations for sentence in shown)
    assert sum(case.cleared for case in cases) >= MANY // 2 + 1  # the model was asked
    assert sum(bool(case.dropped or case.sentences or case.failure) for case in cases) >= 1


@pytest.fixture
def service(model_url: str, sample_core: Core, tmp_path: Path) -> Iterator[ModelService]:
    folder = tmp_path / "data"
    with serve_with_model(sample_core, folder, model_url, PATIENT, llm_model=MODEL) as service:
        yield service


def test_what_a_client_sees_of_a_real_model_stands_in_the_book(service: ModelService) -> None:
    for way, question in zip(("A", "stream"), ANSWERED[8:10], strict=True):
        outcome = service.ask(way, question.question)
        assert outcome.terminals == 1
        assert outcome.verdict in {"answered", "refused", "model_failed"}, outcome.body
        check_quotes(service, outcome)


def check_quotes(service: ModelService, outcome: ServiceReply) -> None:
    """Hold each quote against the text that the service itself gives of the page."""
    if outcome.verdict != "answered":
        return
    shown = outcome.value["answer"] if outcome.way == "A" else outcome.value
    assert shown["citations"]
    assert {one["sentence"] for one in shown["citations"]} == set(range(len(shown["sentences"])))
    (book,) = service.core.library.books()
    for one in shown["citations"]:
        page = f"/read/{book.book_id}/{quote(one['document_id'])}.txt"
        text = httpx.get(f"{service.url}{page}", timeout=60).text
        assert text[one["char_start"] : one["char_end"]].startswith(
            one["referenced_text"].rstrip("… ")
        )


@pytest.mark.parametrize("reworded", [False, True], ids=["in its words", "in other words"])
def test_a_model_that_answers_from_the_gold_passages_is_heard(
    sample_core: Core, reworded: bool, record_property: Callable[[str, object], None]
) -> None:
    folder = sample_core.settings.data_dir
    asked: list[EvalQuestion] = ANSWERED[::5]
    offline = run_offline(folder, asked)
    cases = [case for case, _ in run_gold(folder, asked, reworded=reworded)]
    answered = [case.by_model for case in cases]
    of_offline = [case.by_model for case in cases if offline[case.question.question_id]]
    assert all(
        case.outcome_name != "refused" for case in cases if offline[case.question.question_id]
    )
    record_property("of all answerable", round(sum(answered) / len(answered), 3))
    record_property("of those answered offline", round(sum(of_offline) / len(of_offline), 3))
    assert sum(of_offline) >= LEAST_HEARD * len(of_offline)
    assert [fault for case in cases for fault in case.wrong] == []
