"""A message and what was said before -> an answer, kept with its question before it is told."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from bythebook.ask.answer_text import answer_text
from bythebook.ask.confidence import answer_level, measure
from bythebook.ask.conversation.standalone import MOST_TURNS, standalone_question
from bythebook.ask.conversation.topic_summary import topic_summary
from bythebook.ask.judge import DISCLAIMER
from bythebook.ask.links import message_citation
from bythebook.ask.plan import make_plan
from bythebook.ask.verify.sentences import numbered
from bythebook.ask.wording import opening, without_opening
from bythebook.domain.answers import (
    SELECTED_TEXT,
    Answered,
    ConfidenceLevel,
    ConfidenceMetrics,
    Event,
    Judged,
    Outcome,
    Refused,
)
from bythebook.domain.conversations import Turn
from bythebook.domain.records import Exchange, Message, MessageCitation, Thread
from bythebook.operate.asked import Asked
from bythebook.operate.desk import Desk
from bythebook.ports import Threads

REFUSAL = "I don't have sufficient information in the textbook to answer that question."
OF_SELECTION = (
    "Answered from the selected text, which is not kept."  # in the thread, for the answer
)
SUMMED_UP_FROM = 5  # exchanges


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a message, kept in its thread."""

    session_id: uuid.UUID
    text: str
    outcome: Outcome
    metrics: ConfidenceMetrics
    citations: tuple[MessageCitation, ...]
    answered_at: datetime


class Conversations:
    """Answers messages in the light of their threads, one at a time in each thread."""

    def __init__(self, desk: Desk, threads: Threads) -> None:
        self.desk = desk
        self._threads = threads
        # Between processes, appends are ordered by the records; a lock lives while someone holds it.
        self._locks: WeakValueDictionary[tuple[str, uuid.UUID], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def answer(
        self, asked: Asked, metadata: Mapping[str, object] | None = None
    ) -> AsyncGenerator[Event | Reply]:
        """Tell what happens to a message, ending in a Reply; leaving earlier keeps nothing of it,
        unless it was being kept.
        """
        owner, session_id = asked.caller.owner, asked.session_id or uuid.uuid4()
        async with self._turn_of(owner, session_id):
            with self.desk.journal.noting(asked) as note:
                thread = await self._threads.history(owner, session_id)
                asked = _standing_alone(asked, turns_of(thread))
                async with aclosing(self.desk.answer(asked, note)) as events:
                    async for event in events:
                        match event:
                            case Answered() | Refused():
                                reply = await self._reply(session_id, event)
                                await _to_the_end(self._keep(asked, thread, reply, metadata))
                                yield reply
                            case Judged():
                                level = answer_level(event.passages, event.judgement)
                                yield replace(event, disclaimer=_disclaimer(event, level))
                            case _:
                                yield event

    async def collect(self, asked: Asked, metadata: Mapping[str, object] | None = None) -> Reply:
        """Answer a message to the end."""
        async with aclosing(self.answer(asked, metadata)) as events:
            async for event in events:
                if isinstance(event, Reply):
                    return event
        raise AssertionError("a turn always ends in a reply")

    async def history(self, owner: str, session_id: uuid.UUID) -> Thread | None:
        """Give a thread, if the owner has it."""
        return await self._threads.history(owner, session_id)

    async def delete(self, owner: str, session_id: uuid.UUID) -> bool:
        """Remove a thread once its turn under way is over; False if the owner has none."""
        async with self._turn_of(owner, session_id):
            await self.desk.journal.settled(1.0)  # what is on its way to the records goes with it
            return await self._threads.delete(owner, session_id)

    def _turn_of(self, owner: str, session_id: uuid.UUID) -> asyncio.Lock:
        return self._locks.setdefault((owner, session_id), asyncio.Lock())

    async def _reply(self, session_id: uuid.UUID, outcome: Outcome) -> Reply:
        ports = self.desk.ports
        metrics = await measure(outcome, ports.index)
        text = REFUSAL
        citations: tuple[MessageCitation, ...] = ()
        if isinstance(outcome, Answered):
            disclaimer = _disclaimer(outcome, metrics.confidence_level)
            outcome = replace(outcome, disclaimer=disclaimer)
            opened = f"{disclaimer} " if disclaimer else ""
            text = opened + answer_text(outcome.sentences)
            citations = tuple(
                message_citation(sentence, citation, ports.reader_url)
                for sentence, citation in numbered(outcome.sentences)
            )
        return Reply(session_id, text, outcome, metrics, citations, datetime.now(UTC))

    async def _keep(
        self,
        asked: Asked,
        thread: Thread | None,
        reply: Reply,
        metadata: Mapping[str, object] | None,
    ) -> None:
        question = Message("user", asked.text, asked.asked_at)
        answer = Message(
            "assistant",
            _without_selection_text(reply),
            reply.answered_at,
            reply.metrics.average_similarity,
            tuple(map(_without_selection, reply.citations)),
        )
        await self._threads.append(
            asked.caller.owner,
            reply.session_id,
            Exchange(question, answer),
            topic_summary=_summary(thread, asked.question.text),
            metadata=metadata,
        )


def turns_of(thread: Thread | None) -> Sequence[Turn]:
    """Give the last turns of a thread; what was refused has no citation, and counts as no answer."""
    messages = thread.messages if thread else ()
    answers = (_answer_in(message) for message in messages if message.role == "assistant")
    questions = (message.content for message in messages if message.role == "user")
    return [Turn(*pair) for pair in zip(questions, answers, strict=True)][-MOST_TURNS:]


def _answer_in(message: Message) -> str:
    if not message.citations or message.content == OF_SELECTION:
        return ""
    return without_opening(message.content).strip()


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do work to its end before giving way to being cancelled, so that what follows finds it done."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # taken note of: the one who would be told has left
        raise


def _standing_alone(asked: Asked, turns: Sequence[Turn]) -> Asked:
    """Ask what the message means; a selection is what a message that comes with it is about."""
    question, text = asked.question, asked.text or asked.question.text
    if question.scope.selected_text is None and not make_plan(question).overview:
        question = replace(
            question,
            text=standalone_question(question.text, turns),
            turns=tuple(turns),
            asked=question.text,
        )
    return replace(asked, question=question, text=text)


def _disclaimer(answer: Judged | Answered, level: ConfidenceLevel) -> str | None:
    """Give what an answer opens with here, where the level says whether caution is due."""
    selection = any(passage.is_selection for passage in answer.passages)
    caution = DISCLAIMER if level == "low" else None
    return opening(caution, answer.missing, selection=selection)


def _without_selection_text(reply: Reply) -> str:
    """Give what is kept of a reply: the text that was selected is the reader's, and is not."""
    answered = isinstance(reply.outcome, Answered)
    from_selection = answered and reply.outcome.mode == "selected_text_only"
    return OF_SELECTION if from_selection else reply.text


def _without_selection(citation: MessageCitation) -> MessageCitation:
    """Blank the quote of a selection, which is the reader's and not kept."""
    if citation.chunk_id != SELECTED_TEXT:
        return citation
    return replace(citation, referenced_text=None)


def _summary(thread: Thread | None, question: str) -> str | None:
    """Sum up a conversation that has become long."""
    if thread is None or thread.message_count // 2 + 1 < SUMMED_UP_FROM:
        return None
    asked = [message.content for message in thread.messages if message.role == "user"]
    return topic_summary([*asked, question])
