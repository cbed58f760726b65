"""Question -> plan -> passages -> verdict -> verified sentences: the one path of every answer."""

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from bythebook.ask.compose import EXTRACTIVE
from bythebook.ask.confidence import near_enough
from bythebook.ask.judge import Refusal, decide, narrow, nearest_sections
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve
from bythebook.ask.verify import verify
from bythebook.domain.answers import (
    Answered,
    Event,
    Judged,
    Judgement,
    Outcome,
    Planned,
    RefusalType,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.questions import Question
from bythebook.ports import ChunkIndex, Embedder, Generator, Judge, Library


@dataclass(frozen=True, slots=True)
class AskPorts:
    """The parts an answer needs."""

    library: Library
    embedder: Embedder
    index: ChunkIndex
    judge: Judge
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

    found = await retrieve(plan, library=ports.library, embedder=ports.embedder, index=ports.index)
    candidates = near_enough(found, plan.least_similarity)
    clock.lap("retrieve")
    passages = candidates[: plan.top_k]
    yield Retrieved(passages)

    verdict = await decide(plan, candidates, ports.judge)
    clock.lap("judge")

    def refused(refusal_type: RefusalType, judgement: Judgement | None) -> Refused:
        nearest = nearest_sections(passages or found[: plan.top_k], ports.reader_url)
        timings = clock.timings
        return Refused(refusal_type, nearest, passages, judgement, plan.mode, timings, ports.model)

    if isinstance(verdict, Refusal):
        yield refused(verdict.refusal_type, verdict.judgement)
        return
    passages, judgement = narrow(candidates, verdict.judgement, plan.top_k)
    yield Judged(judgement, verdict.disclaimer, passages)

    sentences: list[Sentence] = []
    async for sentence in verify(ports.generator.compose(plan, judgement)):
        sentences.append(sentence)
        yield sentence
    clock.lap("compose")
    if not sentences:
        selection = plan.mode == "selected_text_only"
        kind: RefusalType = "selected_text_missing" if selection else "insufficient_grounding"
        yield refused(kind, judgement)
        return
    yield Answered(
        tuple(sentences),
        passages,
        judgement,
        verdict.disclaimer,
        plan.mode,
        clock.timings,
        ports.model,
    )


async def collect(question: Question, ports: AskPorts) -> Outcome:
    """Run the path to its end and give the outcome."""
    async for event in answer(question, ports):
        if isinstance(event, Answered | Refused):
            return event
    raise AssertionError("the answer path always ends in an outcome")
