"""What the journal makes incidents of."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.domain.answers import NOTHING_READ, Refused
from bythebook.domain.questions import Question
from bythebook.domain.records import QueryEntry, QueryStats
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, NoBooks, RecordsFailed, StoreFailed
from bythebook.operate.alerts import Alerts
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.operate.journal import Journal

REFUSED = Refused("low_relevance", (), (), NOTHING_READ, "standard_rag", {"judge": 3.0}, "model")


@dataclass
class Records:
    """Keeps entries; fails as given."""

    failure: Callable[[], Exception | None] = lambda: None
    kept: list[QueryEntry] = field(default_factory=list)

    async def log(self, *entries: QueryEntry) -> None:
        await asyncio.sleep(0)
        if error := self.failure():
            raise error
        self.kept.extend(entries)

    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        raise NotImplementedError


class Noted:
    """A journal with all that it tells."""

    def __init__(self, failure: Callable[[], Exception | None] = lambda: None) -> None:
        self.metrics = PrometheusMetrics()
        self.alerts = Alerts(self.metrics)
        self.records = Records(failure)
        self.journal = Journal(self.records, self.metrics, self.alerts)

    def run(self, *notes: Callable[[Journal], None]) -> None:
        async def scenario() -> None:
            writer = asyncio.create_task(self.journal.run())
            for note in notes:
                note(self.journal)
            await self.journal.settle()
            assert not writer.done()
            writer.cancel()

        asyncio.run(scenario())

    def has_counted(self, line: str) -> bool:
        return f"bythebook_{line}\n" in self.metrics.write_page([])[0].decode()


def incoming() -> IncomingQuestion:
    return IncomingQuestion(Question("Who is Ada?"), "ask", uuid.uuid4())


def end(journal: Journal) -> None:
    with journal.open_record(incoming()) as note:
        note.outcome = REFUSED


def fail(error: BaseException) -> Callable[[Journal], None]:
    def note(journal: Journal) -> None:
        with contextlib.suppress(type(error)), journal.open_record(incoming()):
            raise error

    return note


def test_an_entry_that_cannot_be_kept_is_lost_with_a_warning_and_an_incident(
    caplog: pytest.LogCaptureFixture,
) -> None:
    noted = Noted(lambda: RecordsFailed("The records are away."))
    noted.run(end, end)
    assert noted.has_counted("entries_lost_total 2.0")
    assert noted.alerts.failing == {"database"}
    lost = [one for one in caplog.records if "not recorded" in one.getMessage()]
    assert [one.levelname for one in lost] == ["WARNING"] * 2
    assert all(uuid.UUID(one.__dict__["request_id"]) for one in lost)


def test_an_entry_that_the_records_refuse_is_no_outage() -> None:
    refused = RecordsFailed("They do not take it.")
    refused.retryable = False
    noted = Noted(lambda: refused)
    noted.run(end)
    assert noted.has_counted("entries_lost_total 1.0")
    assert noted.alerts.failing == frozenset()


def test_a_defect_costs_one_entry_and_not_the_writer() -> None:
    failures = iter([ZeroDivisionError(), ZeroDivisionError(), None])  # together, then each
    noted = Noted(lambda: next(failures))
    noted.run(end, end)
    assert len(noted.records.kept) == 1
    assert noted.has_counted("entries_lost_total 1.0")


def test_a_failure_of_a_part_is_an_incident_and_an_entry() -> None:
    noted = Noted()
    noted.run(fail(StoreFailed("The index is gone.")), fail(asyncio.CancelledError()))
    assert [one.status for one in noted.records.kept] == ["error", "error"]
    assert noted.alerts.failing == {"store"}
    assert noted.has_counted('part_failures_total{part="store"} 1.0')


def test_what_never_mends_by_itself_is_counted_but_calls_nobody_at_a_readers_wish() -> None:
    noted = Noted()
    noted.run(fail(NoBooks("There is no book to ask yet.")))
    assert noted.alerts.failing == frozenset()
    assert noted.has_counted('part_failures_total{part="store"} 1.0')


def fail_with(error: Exception) -> Callable[[Journal], None]:
    def note(journal: Journal) -> None:
        with contextlib.suppress(type(error)), journal.open_record(incoming()):
            raise error

    return note


def test_a_provider_that_fails_is_one_critical_incident_however_many_ask(
    caplog: pytest.LogCaptureFixture,
) -> None:
    noted = Noted()
    noted.run(*[fail_with(ModelFailed("The language model failed."))] * 5)
    told = [one for one in caplog.records if one.name == "bythebook.alerts"]
    assert [one.levelname for one in told] == ["CRITICAL"]
    assert noted.alerts.failing == {"model"}
    assert noted.has_counted('part_failures_total{part="model"} 5.0')


def test_an_answer_that_a_reader_may_have_provoked_is_counted_and_calls_nobody() -> None:
    noted = Noted()
    noted.run(fail_with(BadAnswer("The answer cannot be used.")))
    assert noted.alerts.failing == frozenset()
    assert noted.has_counted('part_failures_total{part="model"} 1.0')


def test_what_a_model_did_is_kept_with_the_question_also_where_it_failed() -> None:
    noted = Noted()

    def note(journal: Journal) -> None:
        with contextlib.suppress(ModelFailed), journal.open_record(incoming()) as kept:
            kept.model = "maker/model"
            kept.usage.add(Usage(90, 10, 0.5))
            journal.count_sentence(kept, dropped=True)
            journal.count_sentence(kept, dropped=False)
            raise ModelFailed("It broke off.")

    noted.run(note)
    (entry,) = noted.records.kept
    assert (entry.model, entry.tokens, entry.usd) == ("maker/model", 100, 0.5)
    assert (entry.sentences_shown, entry.sentences_dropped) == (1, 1)
    assert noted.has_counted('model_sentences_total{model="maker/model",outcome="dropped"} 1.0')


def test_without_a_model_no_sentence_is_one_of_a_model() -> None:
    noted = Noted()

    def note(journal: Journal) -> None:
        with journal.open_record(incoming()) as kept:
            kept.outcome = REFUSED
            journal.count_sentence(kept, dropped=True)

    noted.run(note)
    assert noted.records.kept[0].model is None
    assert "model_sentences_total{" not in noted.metrics.write_page([])[0].decode()
