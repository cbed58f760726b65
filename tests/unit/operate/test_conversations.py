"""Turns of conversations over parts that are watched, held up or broken."""

import asyncio
import gc
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.contracts.fakes import (
    FakeIndex,
    FakeJudge,
    MemoryThreads,
    NoRecords,
    fake_service,
    hits,
)
from tests.unit.fakes import make_chunk

from bythebook.ask.read.verdict import SURE_FROM
from bythebook.ask.show.wording import DISCLAIMER
from bythebook.domain.access import Caller
from bythebook.domain.answers import Answered, Judged, Judgement, Passage, Refused
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Question, Scope
from bythebook.domain.records import (
    ApiKey,
    Exchange,
    KeyTerms,
    Message,
    MessageCitation,
    QueryEntry,
    Thread,
)
from bythebook.errors import RecordsFailed
from bythebook.operate.conversation import OF_SELECTION, REFUSAL, Conversations, Reply, last_turns
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.ports import Judge, Threads

SESSION = UUID("550e8400-e29b-41d4-a716-446655440000")
URDF = make_chunk("URDF is an XML format.", document_id="urdf")
OTHER = make_chunk("Herons fish at the river.", document_id="herons")
CITED = MessageCitation(0, "c", 0, 1, section="S")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class ListeningJudge:
    """Remembers what it was asked; finds the answer unless set to find none."""

    answerable: float = 0.9
    asked: list[str] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.asked.append(question)
        judgement = await FakeJudge().judge(question, passages)
        return Judgement(self.answerable, judgement.supports, judgement.evidence)


@dataclass
class HeldJudge(ListeningJudge):
    """Judges once it is let go."""

    began: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    most_at_once: int = 0
    at_once: int = 0

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.began.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.let_go.wait()
            return await super().judge(question, passages)
        finally:
            self.at_once -= 1


def conversations(
    judge: Judge | None = None, threads: Threads | None = None, relevance: float = 0.9
) -> Conversations:
    found = hits((URDF, relevance), (OTHER, relevance / 2))
    service = fake_service(index=FakeIndex(hits=found), judge=judge)
    return Conversations(service.answerer, threads or MemoryThreads())


def incoming(
    text: str, session_id: UUID = SESSION, *, caller: Caller | None = None, **more: Any
) -> IncomingQuestion:
    scope = Scope(**more)
    return IncomingQuestion(
        Question(text, scope), "chat", uuid.uuid4(), caller or Caller(), session_id, text
    )


def run(turns: Callable[[], Awaitable[Any]]) -> Any:
    async def within() -> Any:
        async with asyncio.timeout(60):
            return await turns()

    return asyncio.run(within())


def test_a_follow_up_is_read_with_the_question_before_and_kept_as_written() -> None:
    judge, threads = ListeningJudge(), MemoryThreads()
    answerer = conversations(judge, threads)

    async def turns() -> None:
        await answerer.collect(incoming("What is URDF?"))
        await answerer.collect(incoming("Who made it?"))
        await answerer.collect(incoming("When did they make it?"))

    run(turns)
    assert judge.asked[:3] == ["What is URDF?", "Who made it?", "Who made it? What is URDF?"]
    assert judge.asked[3:] == ["When did they make it?", "When did they make it? Who made it?"]
    kept = threads.threads["open", SESSION].messages
    assert [message.content for message in kept[::2]] == [
        "What is URDF?",
        "Who made it?",
        "When did they make it?",
    ]


def test_what_the_log_keeps_is_what_the_reader_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    answerer = conversations()
    kept: list[QueryEntry] = []
    monkeypatch.setattr(answerer.answerer.journal, "_record", lambda entry, *_: kept.append(entry))

    async def turns() -> None:
        await answerer.collect(incoming("What is URDF?"))
        await answerer.collect(incoming("Who made it?"))

    run(turns)
    assert [entry.query_text for entry in kept] == ["What is URDF?", "Who made it?"]
    assert {(entry.contract, entry.session_id) for entry in kept} == {("chat", SESSION)}


def test_a_message_about_a_selection_is_about_nothing_said_before() -> None:
    judge = ListeningJudge()
    answerer = conversations(judge)

    async def turns() -> None:
        await answerer.collect(incoming("What is URDF?"))
        await answerer.collect(
            incoming("Where does it fish?", selected_text="The heron fishes at dawn.")
        )

    run(turns)
    assert judge.asked == ["What is URDF?", "Where does it fish?"]


def make_exchange(
    question: str, answer: str, *citations: MessageCitation
) -> tuple[Message, Message]:
    return Message("user", question, NOW), Message("assistant", answer, NOW, 0.5, citations)


def thread_of(*exchanges: tuple[Message, Message]) -> Thread:
    said = tuple(message for exchange in exchanges for message in exchange)
    return Thread(SESSION, said, len(said), NOW, NOW, "active", None, {})


def test_the_last_five_turns_count_and_a_refused_one_has_no_answer() -> None:
    answered = [make_exchange(f"Question {n}?", f"Answer {n}.", CITED) for n in range(5)]
    refused = make_exchange("Who won?", REFUSAL)
    cautious = make_exchange("What else?", f"{DISCLAIMER} Herons.", CITED)
    turns = last_turns(thread_of(*answered, refused, cautious))
    assert [turn.question for turn in turns] == [
        "Question 2?",
        "Question 3?",
        "Question 4?",
        "Who won?",
        "What else?",
    ]
    assert [turn.answer for turn in turns][-3:] == ["Answer 4.", "", "Herons."]
    assert last_turns(None) == []


def test_what_was_said_before_never_makes_an_answer_of_a_refusal() -> None:
    judge = ListeningJudge()
    answerer = conversations(judge)

    async def turns() -> tuple[Reply, Reply]:
        first = await answerer.collect(incoming("What is URDF?"))
        judge.answerable = 0.1
        return first, await answerer.collect(incoming("Who is its favourite singer?"))

    first, second = run(turns)
    assert isinstance(first.outcome, Answered)
    assert isinstance(second.outcome, Refused)
    assert (second.text, second.citations) == (REFUSAL, ())
    assert second.metrics.should_answer is False


class HeldThreads(MemoryThreads):
    """Keeps nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()
        self.began = asyncio.Event()

    async def append(
        self,
        owner: str,
        session_id: UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        self.began.set()
        await self.let_go.wait()
        return await super().append(
            owner, session_id, exchange, topic_summary=topic_summary, metadata=metadata
        )


def test_an_answer_is_told_only_once_it_is_kept() -> None:
    async def turns() -> None:
        threads = HeldThreads()
        turn = asyncio.create_task(
            conversations(threads=threads).collect(incoming("What is URDF?"))
        )
        await threads.began.wait()
        await asyncio.sleep(0.05)
        assert not turn.done()
        threads.let_go.set()
        reply = await turn
        assert threads.threads["open", SESSION].messages[-1].content == reply.text

    run(turns)


def test_a_turn_left_while_it_is_kept_ends_before_the_next_one_begins() -> None:
    async def turns() -> None:
        threads = HeldThreads()
        answerer = conversations(threads=threads)
        turn = asyncio.create_task(answerer.collect(incoming("What is URDF?")))
        await threads.began.wait()
        turn.cancel()
        deleting = asyncio.create_task(answerer.delete("open", SESSION))
        await asyncio.sleep(0.05)
        assert not turn.done()
        threads.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert await deleting is True
        assert threads.threads == {}

    run(turns)


def test_a_thread_that_cannot_be_read_is_a_failure_of_the_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answerer = conversations(threads=NoRecords())
    kept: list[QueryEntry] = []
    monkeypatch.setattr(answerer.answerer.journal, "_record", lambda entry, *_: kept.append(entry))

    async def turns() -> None:
        with pytest.raises(RecordsFailed):
            await answerer.collect(incoming("What is URDF?"))

    run(turns)
    assert [entry.status for entry in kept] == ["error"]


def test_an_answer_from_a_selection_is_no_context_of_the_next_question() -> None:
    exchange = make_exchange("What is it?", OF_SELECTION, CITED)
    (turn,) = last_turns(thread_of(exchange))
    assert turn.answer == ""


def test_leaving_early_keeps_nothing_and_lets_the_next_turn_begin() -> None:
    threads = MemoryThreads()
    answerer = conversations(threads=threads)

    async def turns() -> None:
        async with aclosing(answerer.answer(incoming("What is URDF?"))) as events:
            async for event in events:
                if isinstance(event, Judged):
                    break
        assert threads.threads == {}
        await answerer.collect(incoming("What is a heron?"))

    run(turns)
    assert threads.threads["open", SESSION].message_count == 2


def test_a_cancelled_turn_keeps_nothing_and_lets_the_next_one_begin() -> None:
    threads = MemoryThreads()

    async def turns() -> None:
        judge = HeldJudge()
        answerer = conversations(judge, threads)
        turn = asyncio.create_task(answerer.collect(incoming("What is URDF?")))
        await judge.began.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        assert (judge.at_once, threads.threads) == (0, {})
        judge.let_go.set()
        await answerer.collect(incoming("What is a heron?"))

    run(turns)


def test_without_records_nothing_is_searched() -> None:
    index = FakeIndex(hits=hits((URDF, 0.9)))
    answerer = Conversations(fake_service(index=index).answerer, NoRecords())
    with pytest.raises(RecordsFailed):
        run(lambda: answerer.collect(incoming("What is URDF?")))
    assert index.calls == 0


def test_an_answer_that_cannot_be_kept_is_not_told() -> None:
    answerer = conversations(threads=MemoryThreads(failure=RecordsFailed("full")))

    told: list[object] = []

    async def turn() -> None:
        async for event in answerer.answer(incoming("What is URDF?")):
            told.append(event)  # noqa: PERF401 - what came before the failure counts

    with pytest.raises(RecordsFailed):
        run(turn)
    assert told
    assert not any(isinstance(event, Reply) for event in told)


def other_caller() -> Caller:
    return Caller(key=ApiKey(uuid.uuid4(), "btb_1234", KeyTerms("ask"), NOW))


@pytest.mark.parametrize(
    ("second", "at_once"),
    [
        (lambda: incoming("What is a heron?"), 1),
        (lambda: incoming("What is a heron?", uuid.uuid4()), 2),
        (lambda: incoming("What is a heron?", caller=other_caller()), 2),
    ],
    ids=["one thread", "two threads", "two owners of one id"],
)
def test_only_last_turns_one_thread_wait_for_each_other(
    second: Callable[[], IncomingQuestion], at_once: int
) -> None:
    async def turns() -> int:
        judge = HeldJudge()
        answerer = conversations(judge)
        both = [asyncio.create_task(answerer.collect(one)) for one in (incoming("URDF?"), second())]
        while judge.most_at_once < at_once:  # noqa: ASYNC110 - it is nobody's event
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        judge.let_go.set()
        await asyncio.gather(*both)
        return judge.most_at_once

    assert run(turns) == at_once


def test_last_turns_one_thread_are_answered_in_the_order_they_came() -> None:
    threads = MemoryThreads()
    answerer = conversations(threads=threads)

    async def turns() -> None:
        await asyncio.gather(*(answerer.collect(incoming(f"What is URDF {n}?")) for n in range(20)))

    run(turns)
    kept = threads.threads["open", SESSION].messages
    assert [message.content for message in kept[::2]] == [f"What is URDF {n}?" for n in range(20)]
    assert {message.role for message in kept[1::2]} == {"assistant"}


def test_nothing_is_left_of_a_thread_that_nobody_talks_in() -> None:
    answerer = conversations()

    async def turns() -> None:
        await asyncio.gather(
            *(answerer.collect(incoming("URDF?", uuid.uuid4())) for _ in range(20))
        )
        await asyncio.gather(*(answerer.delete("open", uuid.uuid4()) for _ in range(20)))

    run(turns)
    gc.collect()
    assert len(answerer._locks) == 0


def test_a_thread_is_deleted_after_the_turn_under_way() -> None:
    threads = MemoryThreads()

    async def turns() -> None:
        judge = HeldJudge()
        answerer = conversations(judge, threads)
        turn = asyncio.create_task(answerer.collect(incoming("What is URDF?")))
        await judge.began.wait()
        removal = asyncio.create_task(answerer.delete("open", SESSION))
        await asyncio.sleep(0.05)
        assert not removal.done()
        judge.let_go.set()
        await turn
        assert await removal

    run(turns)
    assert threads.threads == {}


def test_a_conversation_is_summed_up_from_its_fifth_exchange_on() -> None:
    threads = MemoryThreads()
    answerer = conversations(threads=threads)
    summaries = []

    async def turns() -> None:
        for _ in range(6):
            await answerer.collect(incoming("What is URDF?"))
            summaries.append(threads.threads["open", SESSION].topic_summary)

    run(turns)
    assert summaries[:4] == [None] * 4
    for summary in summaries[4:]:
        assert summary is not None
        assert "URDF" in summary
        assert len(summary) <= 200


def test_a_selection_is_quoted_to_the_reader_and_not_in_what_is_kept() -> None:
    threads = MemoryThreads()
    answerer = conversations(threads=threads)
    selected = "The heron fishes at dawn."
    reply = run(lambda: answerer.collect(incoming("When?", selected_text=selected)))
    assert [citation.referenced_text for citation in reply.citations] == [selected]
    kept = threads.threads["open", SESSION].messages[-1].citations
    assert [(one.chunk_id, one.section, one.referenced_text) for one in kept] == [
        ("selected_text", "Selected text", None)
    ]


def test_a_quote_of_the_book_is_kept_whole() -> None:
    threads = MemoryThreads()
    reply = run(lambda: conversations(threads=threads).collect(incoming("What is URDF?")))
    assert threads.threads["open", SESSION].messages[-1].citations == reply.citations
    assert reply.citations[0].referenced_text == "URDF is an XML format."


def test_an_answer_of_level_low_is_known_to_need_a_disclaimer_before_its_first_sentence() -> None:
    answerer = conversations(ListeningJudge(SURE_FROM - 0.01))

    async def collect_events() -> list[Any]:
        return [event async for event in answerer.answer(incoming("What is URDF?"))]

    events = run(collect_events)
    reply = events[-1]
    assert reply.metrics.confidence_level == "low"
    judged = next(event for event in events if isinstance(event, Judged))
    assert judged.disclaimer == reply.outcome.disclaimer == DISCLAIMER
    assert reply.text == f"{DISCLAIMER} URDF is an XML format."


def five_chunks() -> list[Chunk]:
    return [make_chunk(f"Fact {n} is here.", document_id=f"d{n}") for n in range(5)]


def test_an_answer_of_level_high_has_no_disclaimer() -> None:
    index = FakeIndex(hits=hits(*((chunk, 0.9) for chunk in five_chunks())))
    answerer = Conversations(fake_service(index=index).answerer, MemoryThreads())
    reply = run(lambda: answerer.collect(incoming("What is fact 0?")))
    assert reply.metrics.confidence_level == "high"
    assert reply.outcome.disclaimer is None
    assert not reply.text.startswith(DISCLAIMER)
