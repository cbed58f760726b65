"""A message and its thread -> an answer, stored with its question before it is sent."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from bythebook.ask import MOST_TURNS, make_plan, measure_confidence, topic_summary
from bythebook.ask.show import (
    answer_text,
    message_citations,
    remove_opening,
)
from bythebook.domain.answers import (
    SELECTED_TEXT,
    Answered,
    ConfidenceMetrics,
    Event,
    Outcome,
    Refused,
)
from bythebook.domain.conversations import Turn
from bythebook.domain.records import Exchange, Message, MessageCitation, Thread
from bythebook.operate.answerer import Answerer
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.ports import Threads

REFUSAL = "I don't have sufficient information in the textbook to answer that question."
OF_SELECTION = (
    "Answered from the selected text, which is not kept."  # in the thread, for the answer
)
SUMMED_UP_FROM = 5  # exchanges


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a message, stored in its thread."""

    session_id: uuid.UUID
    text: str
    outcome: Outcome
    metrics: ConfidenceMetrics
    citations: tuple[MessageCitation, ...]
    answered_at: datetime


class Conversations:
    """Answers messages in the context of their threads, one at a time in each thread."""

    def __init__(self, answerer: Answerer, threads: Threads) -> None:
        self.answerer = answerer
        self._threads = threads
        # Between processes, appends are ordered by the records; a lock lives while someone holds it.
        self._locks: WeakValueDictionary[tuple[str, uuid.UUID], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def answer(
        self, incoming: IncomingQuestion, metadata: Mapping[str, object] | None = None
    ) -> AsyncGenerator[Event | Reply]:
        """Yield the events of a message, ending in a Reply; leaving earlier stores nothing of it,
        unless it was being kept.
        """
        owner, session_id = incoming.caller.owner, incoming.session_id or uuid.uuid4()
        async with self._turn_of(owner, session_id):
            with self.answerer.journal.open_record(incoming) as record:
                thread = await self._threads.history(owner, session_id)
                question = replace(incoming.question, turns=tuple(last_turns(thread)))
                incoming = replace(incoming, question=question)
                async with aclosing(self.answerer.answer(incoming, record)) as events:
                    async for event in events:
                        match event:
                            case Answered() | Refused():
                                reply = await self._reply(session_id, event)
                                summary = _summary(thread, make_plan(question).question)
                                await _finish(self._keep(incoming, reply, metadata, summary))
                                yield reply
                            case _:
                                yield event

    async def collect(
        self, incoming: IncomingQuestion, metadata: Mapping[str, object] | None = None
    ) -> Reply:
        """Answer a message to the end."""
        async with aclosing(self.answer(incoming, metadata)) as events:
            async for event in events:
                if isinstance(event, Reply):
                    return event
        raise AssertionError("a turn always ends in a reply")

    async def history(self, owner: str, session_id: uuid.UUID) -> Thread | None:
        """Return a thread, or None if the owner has no such thread."""
        return await self._threads.history(owner, session_id)

    async def delete(self, owner: str, session_id: uuid.UUID) -> bool:
        """Remove a thread after its turn in progress; return False if the owner has no such thread."""
        async with self._lock_of(owner, session_id):
            await self.answerer.journal.settle(1.0)  # what is being stored is removed with it
            return await self._threads.delete(owner, session_id)

    def _lock_of(self, owner: str, session_id: uuid.UUID) -> asyncio.Lock:
        return self._locks.setdefault((owner, session_id), asyncio.Lock())

    @asynccontextmanager
    async def _turn_of(self, owner: str, session_id: uuid.UUID) -> AsyncIterator[None]:
        """Lock a thread for a with block; other messages to it wait no longer than any question."""
        lock, queue = self._lock_of(owner, session_id), self.answerer.queue
        try:
            async with asyncio.timeout(queue.max_wait_seconds):
                await lock.acquire()
        except TimeoutError:
            raise queue.refuse(queue.max_wait_seconds) from None
        try:
            yield
        finally:
            lock.release()

    async def _reply(self, session_id: uuid.UUID, outcome: Outcome) -> Reply:
        ports = self.answerer.ports
        metrics = await measure_confidence(outcome, ports.index)
        text = REFUSAL
        citations: tuple[MessageCitation, ...] = ()
        if isinstance(outcome, Answered):
            opened = f"{outcome.disclaimer} " if outcome.disclaimer else ""
            text = opened + answer_text(outcome.sentences)
            citations = message_citations(outcome.sentences, ports.reader_url)
        return Reply(session_id, text, outcome, metrics, citations, datetime.now(UTC))

    async def _keep(
        self,
        incoming: IncomingQuestion,
        reply: Reply,
        metadata: Mapping[str, object] | None,
        summary: str | None,
    ) -> None:
        question = Message("user", incoming.question.text, incoming.received_at)
        answer = Message(
            "assistant",
            _without_selection_text(reply),
            reply.answered_at,
            reply.metrics.average_similarity,
            tuple(map(_without_selection, reply.citations)),
        )
        await self._threads.append(
            incoming.caller.owner,
            reply.session_id,
            Exchange(question, answer),
            topic_summary=summary,
            metadata=metadata,
        )


def last_turns(thread: Thread | None) -> Sequence[Turn]:
    """Return the last turns of a thread; a reply without citations was a refusal, so its answer is empty."""
    messages = thread.messages if thread else ()
    answers = (_answer_in(message) for message in messages if message.role == "assistant")
    questions = (message.content for message in messages if message.role == "user")
    return [Turn(*pair) for pair in zip(questions, answers, strict=True)][-MOST_TURNS:]


def _answer_in(message: Message) -> str:
    if not message.citations or message.content == OF_SELECTION:
        return ""
    return remove_opening(message.content).strip()


async def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Finish work even if cancelled, so that the next step finds it done."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it: the caller has left
        raise


def _without_selection_text(reply: Reply) -> str:
    """Return a reply as it is stored: without the reader's selected text."""
    answered = isinstance(reply.outcome, Answered)
    from_selection = answered and reply.outcome.mode == "selected_text_only"
    return OF_SELECTION if from_selection else reply.text


def _without_selection(citation: MessageCitation) -> MessageCitation:
    """Blank the quote of a selection, which belongs to the reader and is not stored."""
    if citation.chunk_id != SELECTED_TEXT:
        return citation
    return replace(citation, referenced_text=None)


def _summary(thread: Thread | None, question: str) -> str | None:
    """Summarize a conversation that has become long."""
    if thread is None or thread.message_count // 2 + 1 < SUMMED_UP_FROM:
        return None
    asked = [message.content for message in thread.messages if message.role == "user"]
    return topic_summary([*asked, question])
