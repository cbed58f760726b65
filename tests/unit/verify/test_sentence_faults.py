"""What was wrong with proposed sentences is counted and logged by its class, never by its words."""

import asyncio
import logging
from collections.abc import Sequence

import pytest
from tests.unit.ask.test_answer_path import GAIT, hit
from tests.unit.ask.test_answer_path import ports as ask_ports
from tests.unit.fakes import FakeGenerator, wide_queue
from tests.unit.operate.test_journal import KeptEntries, incoming

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.domain.answers import Answered, Draft, Event, Fault, Passage
from bythebook.operate.answerer import Answerer
from bythebook.operate.journal import Journal

TRUE = GAIT.text.split(".")[0] + "."
NAMED = Passage(GAIT, 0.9)


def run_answer(*drafts: Draft) -> tuple[list[Event], str]:
    metrics = PrometheusMetrics()

    async def ask() -> list[Event]:
        journal = Journal(KeptEntries(), metrics)
        answerer = Answerer(
            ask_ports([hit()], generator=FakeGenerator(drafts)), journal, wide_queue()
        )
        with journal.open_record(incoming()) as note:
            return [event async for event in answerer.answer(incoming(), note)]

    return asyncio.run(ask()), metrics.write_page(())[0].decode()


def test_a_dropped_sentence_is_counted_by_what_was_wrong_and_not_told_to_readers() -> None:
    lie = Draft("Gaits dream of sheep.", ((NAMED, "Gaits dream of sheep."),))
    events, page = run_answer(lie, Draft(TRUE, ((NAMED, TRUE),)))
    assert isinstance(events[-1], Answered)
    assert not any(isinstance(event, Fault) for event in events)
    assert 'sentence_faults_total{fault="fabricated",outcome="dropped"} 1.0' in page
    assert 'sentence_faults_total{fault="fabricated",outcome="corrected"} 0.0' in page


def test_a_quote_that_was_put_right_is_counted_as_corrected() -> None:
    _, page = run_answer(Draft(TRUE, ((NAMED, TRUE), (NAMED, "Gaits dream of sheep."))))
    assert 'sentence_faults_total{fault="fabricated",outcome="corrected"} 1.0' in page


def join_records(records: Sequence[logging.LogRecord], least: int) -> str:
    return " ".join(repr(vars(record)) for record in records if record.levelno >= least)


def test_the_log_tells_the_class_and_only_a_debugging_log_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, "bythebook"):
        run_answer(Draft("Gaits dream of sheep.", ((NAMED, "Gaits dream of sheep."),)))
    assert "'fault': 'fabricated'" in join_records(caplog.records, logging.INFO)
    assert "sheep" not in join_records(caplog.records, logging.INFO)
    assert "sheep" in join_records(caplog.records, logging.DEBUG)
