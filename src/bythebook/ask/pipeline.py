"""Question -> plan -> passages -> verdict -> verified sentences: the one path of every answer."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.bill import Bill
from bythebook.ask.compose.book_words import BookWords
from bythebook.ask.compose.room import within_room
from bythebook.ask.confidence import near_enough
from bythebook.ask.consult import planned, reviewed, searched
from bythebook.ask.ending import Clock, Ending
from bythebook.ask.judge import ANSWER_FROM, Clearance, Refusal, decide, narrow
from bythebook.ask.marks import needs_mark, with_mark
from bythebook.ask.partial import Cleared, decide_parts
from bythebook.ask.retrieve import retrieve
from bythebook.ask.verify.sentences import verify
from bythebook.ask.wording import opening
from bythebook.domain.answers import (
    Answered,
    Draft,
    Event,
    Fault,
    Judged,
    Judgement,
    Outcome,
    Passage,
    Planned,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.questions import Plan, Question
from bythebook.errors import UnknownBook
from bythebook.ports import Generator

__all__ = ["AskPorts", "answer", "answer_from", "collect"]

READ_OF_PART = 5  # passages that the judge reads for each part of a question of several


async def answer(
    question: Question, ports: AskPorts, bill: Bill | None = None
) -> AsyncGenerator[Event]:
    """Tell what happens to a question, ending in exactly one Answered or Refused.

    The outcome is told once all that was under way has ended. What models took is put on `bill`,
    also where none comes to an outcome.
    """
    outcome: Outcome | None = None
    async with aclosing(_steps(question, ports, bill or Bill())) as steps:
        async for event in steps:
            if isinstance(event, Answered | Refused):
                outcome = event
            else:
                yield event
    if outcome is None:
        raise AssertionError("the answer path always ends in an outcome")
    yield outcome


async def _steps(question: Question, ports: AskPorts, bill: Bill) -> AsyncGenerator[Event]:
    clock = Clock()
    plan = await planned(question, ports, bill)
    if ports.planner is not None:
        clock.lap("plan")
    yield Planned(plan)

    async with AsyncExitStack() as journeys:
        found = await retrieve(plan, ports)
        plan, found, generator = await searched(question, plan, found, ports, bill, journeys)
        candidates = near_enough(found, plan.least_similarity)
        clock.lap("retrieve")
        passages = candidates[: plan.top_k]
        yield Retrieved(passages)

        verdict = await _decided(plan, candidates, ports, bill)
        clock.lap("judge")
        ending = Ending(plan, found, ports, clock, bill)
        if isinstance(verdict, Refusal):
            yield ending.refused(verdict.refusal_type, passages, verdict.judgement)
            return
        yield Judged(verdict.judgement, verdict.disclaimer, verdict.passages, verdict.missing)

        said: list[Sentence] = []
        drafts = _drafted(generator, plan, verdict.judgement, ports, bill, said)
        async with aclosing(_verified(drafts, plan, verdict, ports)) as verified:
            async for told in verified:
                if isinstance(told, Sentence):
                    said.append(told)
                yield told
        clock.lap("compose")
        yield ending.answered(said, verdict)


def _drafted(
    generator: Generator,
    plan: Plan,
    judgement: Judgement,
    ports: AskPorts,
    bill: Bill,
    said: Sequence[Sentence],
) -> AsyncGenerator[Draft]:
    """Have the answer written; a model is held to its room beside what was said."""
    drafts = bill.drafts(generator.compose(plan, judgement))
    return within_room(drafts, plan.most_sentences, said) if ports.uses_model else drafts


async def _verified(
    drafts: AsyncGenerator[Draft], plan: Plan, cleared: Cleared, ports: AskPorts
) -> AsyncGenerator[Sentence | Fault]:
    """Let through what the passages bear out, set as the book sets it; leaving early stops the writing."""
    in_book_words = ports.uses_model and not ports.own_words
    evidence, most = cleared.judgement.evidence, plan.most_sentences
    book = BookWords(plan.question, evidence, most) if in_book_words else None
    verified = verify(drafts, cleared.passages, ports.support)
    async with aclosing(drafts), aclosing(verified):
        async for told in verified:
            if isinstance(told, Fault):
                yield told
                continue
            for sentence in book.of(told) if book else (told,):
                marked = needs_mark(sentence)
                yield (
                    await asyncio.to_thread(with_mark, sentence, ports.library)
                    if marked
                    else sentence
                )


async def _decided(
    plan: Plan, candidates: tuple[Passage, ...], ports: AskPorts, bill: Bill
) -> Refusal | Cleared:
    """Decide part by part where a question has several; else, or if none is answered, on the whole."""

    async def judged(part: Plan, passages: tuple[Passage, ...]) -> Refusal | Clearance:
        verdict = await decide(part, passages, ports.judge, answer_from(passages, ports))
        return await reviewed(part, passages, verdict, ports, bill)

    async def look(part: Plan) -> Refusal | Clearance:
        near = near_enough(await retrieve(part, ports), part.least_similarity)[:READ_OF_PART]
        return await judged(part, near)

    cleared = await decide_parts(plan, look) if plan.parts else None
    if cleared is None:
        verdict = await judged(plan, candidates)
        if isinstance(verdict, Refusal):
            return verdict
        passages, judgement = narrow(candidates, verdict.judgement, plan.top_k)
        cleared = Cleared(passages, judgement, verdict.disclaimer)
    selection = plan.mode == "selected_text_only"
    told_first = opening(cleared.disclaimer, cleared.missing, selection=selection)
    return replace(cleared, disclaimer=told_first)


def answer_from(passages: tuple[Passage, ...], ports: AskPorts) -> float:
    """Give the judge's threshold as fitted to the book of the best passage, or the default."""
    if not passages or passages[0].is_selection:
        return ANSWER_FROM
    try:
        fitted = ports.calibrations.of(ports.library.book(passages[0].chunk.book_id))
    except UnknownBook:  # removed since it was searched
        fitted = None
    return fitted.answer_from if fitted else ANSWER_FROM


async def collect(question: Question, ports: AskPorts) -> Outcome:
    """Run the path to its end and give the outcome."""
    async with aclosing(answer(question, ports)) as events:
        async for event in events:
            if isinstance(event, Answered | Refused):
                return event
    raise AssertionError("the answer path always ends in an outcome")
