"""Question -> plan -> passages -> verdict -> verified sentences: the one path of every answer."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from bythebook.ask.compose.extractive import EXTRACTIVE
from bythebook.ask.confidence import near_enough
from bythebook.ask.judge import ANSWER_FROM, Clearance, Refusal, decide, narrow, nearest_sections
from bythebook.ask.marks import needs_mark, with_mark
from bythebook.ask.partial import Cleared, decide_parts
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve
from bythebook.ask.verify.sentences import verify
from bythebook.ask.wording import opening
from bythebook.domain.answers import (
    Answered,
    Event,
    Fault,
    Judged,
    Judgement,
    Outcome,
    Passage,
    Planned,
    RefusalType,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.questions import Plan, Question
from bythebook.errors import UnknownBook
from bythebook.ports import Calibrations, ChunkIndex, Embedder, Generator, Judge, Library, Support

READ_OF_PART = 5  # passages that the judge reads for each part of a question of several


@dataclass(frozen=True, slots=True)
class AskPorts:
    """The parts an answer needs."""

    library: Library
    embedder: Embedder
    index: ChunkIndex
    calibrations: Calibrations
    judge: Judge
    support: Support
    generator: Generator
    reader_url: str
    model: str = EXTRACTIVE  # what the generator is


class _Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.timings[stage] = (now - self._last) * 1000
        self._last = now


async def answer(question: Question, ports: AskPorts) -> AsyncGenerator[Event]:
    """Tell what happens to a question, ending in exactly one Answered or Refused."""
    clock = _Clock()
    plan = make_plan(question)
    yield Planned(plan)

    found = await _found(plan, ports)
    candidates = near_enough(found, plan.least_similarity)
    clock.lap("retrieve")
    passages = candidates[: plan.top_k]
    yield Retrieved(passages)

    verdict = await _decided(plan, candidates, ports)
    clock.lap("judge")

    def refused(refusal_type: RefusalType, judgement: Judgement | None) -> Refused:
        nearest = nearest_sections(passages or found[: plan.top_k], ports.reader_url)
        timings = clock.timings
        return Refused(refusal_type, nearest, passages, judgement, plan.mode, timings, ports.model)

    if isinstance(verdict, Refusal):
        yield refused(verdict.refusal_type, verdict.judgement)
        return
    passages, judgement, missing = verdict.passages, verdict.judgement, verdict.missing
    selection = plan.mode == "selected_text_only"
    disclaimer = opening(verdict.disclaimer, missing, selection=selection)
    yield Judged(judgement, disclaimer, passages, missing)

    sentences: list[Sentence] = []
    drafts = ports.generator.compose(plan, judgement)
    async for sentence in verify(drafts, passages, ports.support):
        if isinstance(sentence, Fault):
            yield sentence
            continue
        if needs_mark(sentence):
            sentence = await asyncio.to_thread(with_mark, sentence, ports.library)
        sentences.append(sentence)
        yield sentence
    clock.lap("compose")
    if not sentences:
        kind: RefusalType = "selected_text_missing" if selection else "insufficient_grounding"
        yield refused(kind, judgement)
        return
    yield Answered(
        tuple(sentences),
        passages,
        judgement,
        disclaimer,
        plan.mode,
        clock.timings,
        ports.model,
        missing=missing,
    )


async def _found(plan: Plan, ports: AskPorts) -> tuple[Passage, ...]:
    return await retrieve(
        plan,
        library=ports.library,
        embedder=ports.embedder,
        index=ports.index,
        calibrations=ports.calibrations,
    )


async def _decided(
    plan: Plan, candidates: tuple[Passage, ...], ports: AskPorts
) -> Refusal | Cleared:
    """Decide part by part where a question has several; else, or if none is answered, on the whole."""

    async def look(part: Plan) -> Refusal | Clearance:
        near = near_enough(await _found(part, ports), part.least_similarity)[:READ_OF_PART]
        return await decide(part, near, ports.judge, answer_from(near, ports))

    if plan.parts and (cleared := await decide_parts(plan, look)):
        return cleared
    verdict = await decide(plan, candidates, ports.judge, answer_from(candidates, ports))
    if isinstance(verdict, Refusal):
        return verdict
    passages, judgement = narrow(candidates, verdict.judgement, plan.top_k)
    return Cleared(passages, judgement, verdict.disclaimer)


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
    async for event in answer(question, ports):
        if isinstance(event, Answered | Refused):
            return event
    raise AssertionError("the answer path always ends in an outcome")
