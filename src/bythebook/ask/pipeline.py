"""Question -> plan -> passages -> verdict -> verified sentences: the one path of every answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.book_words import BookWords
from bythebook.ask.compose.room import anchor_drafts, keep_within_room
from bythebook.ask.consult import plan_question, search_further, second_opinion
from bythebook.ask.guard import neutralize
from bythebook.ask.outcome import end_run, refuse
from bythebook.ask.read.confidence import keep_near
from bythebook.ask.read.multi_part import decide_parts
from bythebook.ask.read.verdict import ANSWER_FROM, Verdict, decide, narrow
from bythebook.ask.retrieve.passages import find_passages
from bythebook.ask.run import AnswerRun
from bythebook.ask.show.formatting import needs_mark, with_mark
from bythebook.ask.show.wording import answer_opening
from bythebook.ask.verify.sentences import verify
from bythebook.domain.answers import (
    Answered,
    Draft,
    Event,
    Fault,
    Judged,
    Outcome,
    Passage,
    Planned,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.questions import Plan, Question
from bythebook.errors import UnknownBook

READ_OF_PART = 5  # passages that the judge reads for each part of a question of several


async def answer(run: AnswerRun) -> AsyncGenerator[Event]:
    """Yield the events of a question, ending in exactly one Answered or Refused.

    The outcome comes after all work in progress has ended.
    """
    outcome: Outcome | None = None
    async with run.resources, aclosing(_steps(run)) as steps:
        async for event in steps:
            if isinstance(event, Answered | Refused):
                outcome = event
            else:
                yield event
    if outcome is None:
        raise AssertionError("the answer path always ends in an outcome")
    yield outcome


async def collect(question: Question, ports: AskPorts) -> Outcome:
    """Run the path to its end and return the outcome."""
    async with aclosing(answer(AnswerRun(question, ports))) as events:
        async for event in events:
            if isinstance(event, Answered | Refused):
                return event
    raise AssertionError("the answer path always ends in an outcome")


async def _steps(run: AnswerRun) -> AsyncGenerator[Event]:
    ports = run.ports
    if ports.planner is not None:
        async with run.forgive_failure():
            await plan_question(run, ports.planner)
        run.clock.lap("plan")
    yield Planned(run.plan)

    run.found = await find_passages(run.plan, ports)
    if ports.searcher is not None and run.failure is None:
        async with run.forgive_failure():
            await search_further(run, ports.searcher)
    candidates = keep_near(run.found, run.plan.least_similarity)
    run.clock.lap("retrieve")
    passages = candidates[: run.plan.top_k]
    yield Retrieved(passages)

    verdict = await _decide(run, candidates)
    run.clock.lap("judge")
    if verdict.refusal_type is not None:
        yield refuse(run, verdict.refusal_type, passages, verdict.judgement)
        return
    disclaimer = answer_opening(
        cautious=verdict.cautious, missing=verdict.missing, selection=run.in_selection
    )
    yield Judged(verdict.judgement, disclaimer, verdict.passages, verdict.missing)

    async with aclosing(_compose(run, verdict)) as composed:
        async for event in composed:
            if isinstance(event, Sentence):
                run.sentences.append(event)
            yield event
    run.clock.lap("compose")
    yield end_run(run, verdict, disclaimer)


async def _decide(run: AnswerRun, candidates: tuple[Passage, ...]) -> Verdict:
    """Decide part by part if a question has several; otherwise, or if none is answered, on the whole."""
    plan, ports = run.plan, run.ports

    async def decide_on(part: Plan, passages: tuple[Passage, ...]) -> Verdict:
        verdict = await decide(part, passages, ports.judge, answer_from(passages, ports))
        if ports.validator is not None and run.failure is None:
            async with run.forgive_failure():
                return await second_opinion(run, part, passages, verdict, ports.validator)
        return verdict

    async def decide_part(part: Plan) -> Verdict:
        near = keep_near(await find_passages(part, ports), part.least_similarity)[:READ_OF_PART]
        return await decide_on(part, near)

    if plan.parts and (verdict := await decide_parts(plan, decide_part)):
        return verdict
    verdict = await decide_on(plan, candidates)
    if not verdict.answers:
        return verdict
    passages, judgement = narrow(candidates, verdict.judgement, plan.top_k)
    return replace(verdict, passages=passages, judgement=judgement)


async def _compose(run: AnswerRun, verdict: Verdict) -> AsyncGenerator[Sentence | Fault]:
    """Yield the sentences of the answer; where none of a model's lines stands, the book's excerpt."""
    by_model = run.uses_model
    async with run.forgive_failure(), aclosing(_write(run, verdict)) as written:
        async for event in written:
            yield event
    if by_model and not run.sentences:
        if run.failure is None:
            run.answer_by_excerpt("none of its lines stands")
        async with aclosing(_write(run, verdict)) as written:
            async for event in written:
                yield event


async def _write(run: AnswerRun, verdict: Verdict) -> AsyncGenerator[Sentence | Fault]:
    """Yield sentences that the passages support, formatted as in the book; leaving early stops the writing."""
    ports, plan = run.ports, run.plan
    in_book_words = run.uses_model and not ports.own_words
    evidence, most = verdict.judgement.evidence, plan.most_sentences
    book = BookWords(plan.question, evidence, most) if in_book_words else None
    drafts = _draft(run, verdict, book)
    verified = verify(drafts, verdict.passages, ports.support)
    async with aclosing(drafts), aclosing(verified):
        async for event in verified:
            if isinstance(event, Fault):
                yield event
                continue
            if (
                ports.uses_model
                and not run.uses_model
                and neutralize(event.text, plan.question) != event.text
            ):
                continue  # an order that a model met is no evidence in its place either
            for sentence in book.of(event) if book else (event,):
                yield (
                    await asyncio.to_thread(with_mark, sentence, ports.library)
                    if needs_mark(sentence)
                    else sentence
                )


def _draft(run: AnswerRun, verdict: Verdict, book: BookWords | None) -> AsyncGenerator[Draft]:
    """Return the drafts of the answer; a model may write no more than fits."""
    drafts = run.usage.take_drafts(run.generator.compose(run.plan, verdict.judgement))
    if not run.uses_model:
        return drafts
    anchored = anchor_drafts(drafts, verdict.passages, book)
    return keep_within_room(anchored, run.plan.most_sentences, run.sentences)


def answer_from(passages: tuple[Passage, ...], ports: AskPorts) -> float:
    """Return the judge's threshold as fitted to the book of the best passage, or the default."""
    if not passages or passages[0].is_selection:
        return ANSWER_FROM
    try:
        fitted = ports.calibrations.of(ports.library.book(passages[0].chunk.book_id))
    except UnknownBook:  # removed after the search
        fitted = None
    return fitted.answer_from if fitted else ANSWER_FROM
