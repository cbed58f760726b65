"""What is kept, logged and counted of a question, and that no answer waits for it."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest
from tests.unit.ask.test_answer_path import CLOSE, DOUBTFUL, FOREIGN, GAIT, QUESTION, SELECTION, hit
from tests.unit.ask.test_answer_path import ports as ask_ports
from tests.unit.fakes import FakeJudge, make_chunk, wide_queue

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.ask.ask_ports import AskPorts
from bythebook.domain.access import Caller
from bythebook.domain.answers import Answered, Evidence, Judgement, Passage, Planned
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from bythebook.domain.records import CitedSection, QueryEntry, QueryStats
from bythebook.errors import RecordsFailed, UnknownBook
from bythebook.operate.answerer import Answerer
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.operate.journal import MOST_TOGETHER, MOST_WAITING, Journal


@dataclass
class KeptEntries:
    """A query log in memory; fails or waits if asked to."""

    entries: list[QueryEntry] = field(default_factory=list)
    before: Callable[[], Awaitable[None]] | None = None

    async def log(self, *entries: QueryEntry) -> None:
        if self.before is not None:
            await self.before()
        self.entries.extend(entries)

    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        raise NotImplementedError


def incoming(question: Question = QUESTION, *, text: str = "") -> IncomingQuestion:
    return IncomingQuestion(
        question, "query", uuid.uuid4(), Caller("192.0.2.7"), uuid.uuid4(), text
    )


def entry_of(question: Question, ports: AskPorts) -> QueryEntry:
    """Ask, and give what was kept of it."""
    kept = KeptEntries()

    async def ask() -> None:
        answerer = Answerer(ports, Journal(kept, PrometheusMetrics()), wide_queue())
        writer = asyncio.create_task(answerer.journal.run())
        await answerer.collect(incoming(question))
        await answerer.journal.settle()
        writer.cancel()

    asyncio.run(ask())
    (entry,) = kept.entries
    return entry


def test_an_answer_is_kept_by_its_scores_and_sections_but_not_its_words() -> None:
    entry = entry_of(QUESTION, ask_ports([hit()]))
    assert (entry.status, entry.contract, entry.mode) == ("success", "query", "standard_rag")
    assert entry.cited_sections == (CitedSection(GAIT.book_id, GAIT.chapter, GAIT.section),)
    assert {name.partition(".")[0] for name in entry.citation_ids} == {GAIT.book_id}
    assert entry.raw_cosine == pytest.approx(CLOSE)
    assert entry.top_chunk_score == pytest.approx(0.976)
    assert (entry.owner, entry.user_ip, entry.chunks_retrieved) == ("open", "192.0.2.7", 1)
    assert "pattern of steps" not in repr(entry)


def test_a_refusal_is_kept_by_its_type_and_the_nearest_section() -> None:
    entry = entry_of(QUESTION, ask_ports([hit(FOREIGN)]))
    assert (entry.status, entry.refusal_type) == ("refused", "low_relevance")
    assert entry.nearest_section is not None
    assert entry.nearest_section.section == GAIT.section
    assert not entry.borderline


def test_a_score_near_the_boundary_is_flagged() -> None:
    assert entry_of(QUESTION, ask_ports([hit(DOUBTFUL)])).borderline


def test_of_a_selection_only_the_length_is_kept() -> None:
    entry = entry_of(SELECTION, ask_ports())
    assert entry.mode == "selected_text_only"
    assert entry.selected_text_length == len(SELECTION.scope.selected_text or "")
    assert "bread" not in repr(entry)
    assert (entry.raw_cosine, entry.borderline, entry.cited_sections) == (None, False, ())


def test_what_the_reader_wrote_is_kept_rather_than_what_it_was_rewritten_to() -> None:
    question = replace(
        QUESTION, text="And what is it?", turns=(Turn("What is a gait?", "A gait is."),)
    )
    assert entry_of(question, ask_ports()).query_text == "And what is it?"


async def leave(kept: KeptEntries, on: type[Planned] | type[Answered]) -> None:
    """Ask, and go away at an event."""
    journal = Journal(kept, PrometheusMetrics())
    writer = asyncio.create_task(journal.run())
    with contextlib.suppress(asyncio.CancelledError), journal.open_record(incoming()) as note:
        async for event in Answerer(ask_ports(), journal, wide_queue()).answer(incoming(), note):
            if isinstance(event, on):
                raise asyncio.CancelledError
    await journal.settle()
    writer.cancel()


def test_a_question_whose_reader_leaves_is_kept_as_an_error_once() -> None:
    kept = KeptEntries()
    asyncio.run(leave(kept, Planned))
    assert [entry.status for entry in kept.entries] == ["error"]


def test_a_reader_who_leaves_after_the_answer_leaves_an_answer() -> None:
    kept = KeptEntries()
    asyncio.run(leave(kept, Answered))
    assert [entry.status for entry in kept.entries] == ["success"]


def test_what_fails_after_the_answer_was_found_makes_it_an_error() -> None:
    kept, metrics = KeptEntries(), PrometheusMetrics()

    async def ask() -> None:
        journal = Journal(kept, metrics)
        writer = asyncio.create_task(journal.run())
        with contextlib.suppress(RecordsFailed), journal.open_record(incoming()) as note:
            async for _ in Answerer(ask_ports(), journal, wide_queue()).answer(incoming(), note):
                pass
            raise RecordsFailed("the thread cannot be kept")
        await journal.settle()
        writer.cancel()

    asyncio.run(ask())
    assert [entry.status for entry in kept.entries] == ["error"]
    assert (
        'bythebook_part_failures_total{part="database"} 1.0' in metrics.write_page(())[0].decode()
    )


def test_the_callers_mistake_is_not_kept() -> None:
    kept = KeptEntries()

    async def ask() -> None:
        journal = Journal(kept, PrometheusMetrics())
        writer = asyncio.create_task(journal.run())
        with pytest.raises(UnknownBook):
            await Answerer(ask_ports(), journal, wide_queue()).collect(
                incoming(Question("What?", Scope("no-such")))
            )
        await journal.settle()
        writer.cancel()

    asyncio.run(ask())
    assert kept.entries == []


def test_a_book_that_may_not_be_read_is_as_if_it_did_not_exist() -> None:
    book = GAIT.book_id
    scopes = [Scope(book, None, ("other",)), Scope(book, "The cook baked bread.", ("other",))]
    for scope in scopes:
        with pytest.raises(UnknownBook):
            entry_of(Question("What is a gait?", scope), ask_ports())
    readable = Question("What is a gait?", Scope(book, None, (book,)))
    assert entry_of(readable, ask_ports()).status == "success"


def test_an_entry_that_cannot_be_kept_costs_a_warning_but_no_other_entry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failures = iter([True, True, False])  # both together, the first, the second

    async def fail_once() -> None:
        if next(failures):
            refused = RecordsFailed("cannot be kept")
            refused.retryable = False
            raise refused

    kept = KeptEntries(before=fail_once)
    metrics = PrometheusMetrics()

    async def ask_twice() -> None:
        answerer = Answerer(ask_ports(), Journal(kept, metrics), wide_queue())
        writer = asyncio.create_task(answerer.journal.run())
        for _ in range(2):
            await answerer.collect(incoming())
        await answerer.journal.settle()
        writer.cancel()

    asyncio.run(ask_twice())
    assert len(kept.entries) == 1
    assert "bythebook_entries_lost_total 1.0" in metrics.write_page(())[0].decode()
    assert any("not recorded: cannot be kept" in line.getMessage() for line in caplog.records)


def test_records_that_are_away_are_not_tried_for_each_entry_again() -> None:
    tries = 0

    async def be_away() -> None:
        nonlocal tries
        tries += 1
        raise RecordsFailed("away")

    metrics = PrometheusMetrics()

    async def ask_often() -> None:
        answerer = Answerer(
            ask_ports(), Journal(KeptEntries(before=be_away), metrics), wide_queue()
        )
        for _ in range(20):
            await answerer.collect(incoming())
        writer = asyncio.create_task(answerer.journal.run())
        await answerer.journal.settle()
        writer.cancel()

    asyncio.run(ask_often())
    assert tries == 1
    assert "bythebook_entries_lost_total 20.0" in metrics.write_page(())[0].decode()


def test_what_waits_is_written_together() -> None:
    kept = KeptEntries()
    writes: list[int] = []

    async def count_writes() -> None:
        writes.append(len(kept.entries))

    kept.before = count_writes

    async def ask_often() -> None:
        answerer = Answerer(ask_ports(), Journal(kept, PrometheusMetrics()), wide_queue())
        for _ in range(MOST_TOGETHER + 20):
            await answerer.collect(incoming())
        writer = asyncio.create_task(answerer.journal.run())
        await answerer.journal.settle()
        writer.cancel()

    asyncio.run(ask_often())
    assert writes == [0, MOST_TOGETHER]
    assert len(kept.entries) == MOST_TOGETHER + 20


def test_what_still_waits_when_the_service_stops_is_lost_and_said_to_be(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    metrics = PrometheusMetrics()

    async def stop() -> None:
        answerer = Answerer(ask_ports(), Journal(KeptEntries(before=wait), metrics), wide_queue())
        writer = asyncio.create_task(answerer.journal.run())
        await answerer.collect(incoming())
        await asyncio.sleep(0)
        for _ in range(3):
            await answerer.collect(incoming())
        await answerer.journal.settle(0.05)
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)

    asyncio.run(stop())
    assert "bythebook_entries_lost_total 3.0" in metrics.write_page(())[0].decode()
    assert caplog.text.count("the service stopped") == 3


def test_records_that_hang_hold_up_no_answer_and_fill_no_memory() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    metrics = PrometheusMetrics()

    async def ask_much() -> None:
        journal = Journal(KeptEntries(before=wait), metrics)
        writer = asyncio.create_task(journal.run())
        answerer = Answerer(ask_ports(), journal, wide_queue())
        for _ in range(MOST_WAITING + 11):
            await answerer.collect(incoming())
            await asyncio.sleep(0)
        assert "bythebook_entries_lost_total 10.0" in metrics.write_page(())[0].decode()
        writer.cancel()

    asyncio.run(asyncio.wait_for(ask_much(), 600))


def test_the_log_tells_how_it_went_and_not_what_was_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "bythebook.questions"):
        entry_of(QUESTION, ask_ports([hit(FOREIGN)]))
    (line,) = (one for one in caplog.records if one.getMessage() == "question")
    told = vars(line)
    assert told["verdict"] == "low_relevance"
    assert set(told["timings_ms"]) >= {"retrieve", "judge"}
    assert told["score"] == pytest.approx(0.24)
    assert "gait" not in repr({name: told[name] for name in ("msg", "verdict", "timings_ms")})


def test_scores_are_of_what_was_found_and_not_of_what_the_judge_chose() -> None:
    near = make_chunk("Nothing of use stands here.", anchor="near")
    far = make_chunk("A gait is a pattern of steps.", anchor="far")

    class Choosy(FakeJudge):
        async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
            chosen = tuple(0.9 * (passage.chunk == far) for passage in passages)
            evidence = [
                Evidence(one, one.chunk.units[0], 0.9) for one in passages if one.chunk == far
            ]
            return Judgement(0.9, chosen, tuple(evidence))

    question = Question("What is a gait?", top_k=1)
    entry = entry_of(
        question, ask_ports([hit(CLOSE, near), hit(CLOSE - 0.05, far)], judge=Choosy())
    )
    assert entry.status == "success"
    assert entry.raw_cosine == pytest.approx(CLOSE)
