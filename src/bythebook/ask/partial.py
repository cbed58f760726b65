"""A question of several parts -> which of them are answered, as one verdict."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from bythebook.ask.judge import Clearance, Refusal
from bythebook.domain.answers import Evidence, Judgement, PartEvidence, Passage
from bythebook.domain.questions import Part, Plan

Look = Callable[[Plan], Awaitable[Refusal | Clearance]]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What an answer will rest on."""

    passages: tuple[Passage, ...]
    judgement: Judgement
    disclaimer: str | None
    missing: tuple[str, ...] = ()  # parts that are not answered, as they were asked


async def decide_parts(plan: Plan, look: Look) -> Cleared | None:
    """Look for each part by itself; None where no part is answered."""
    covered: list[tuple[Part, Clearance]] = []
    missing: list[str] = []
    for part in plan.parts:
        verdict = await look(replace(plan, question=part.question, parts=()))
        if isinstance(verdict, Clearance):
            covered.append((part, verdict))
        else:
            missing.append(part.words)
    if not covered:
        return None
    cautions = [clearance.disclaimer for _, clearance in covered if clearance.disclaimer]
    passages = _shared([clearance.judgement.evidence for _, clearance in covered], plan.top_k)
    judgement = _together(covered, passages)
    return Cleared(passages, judgement, next(iter(cautions), None), tuple(missing))


def _shared(found: Sequence[Sequence[Evidence]], top_k: int) -> tuple[Passage, ...]:
    """Choose as many passages as were asked for, the parts taking turns, each its best first."""
    ranked = [dict.fromkeys(one.passage.chunk.chunk_id for one in evidence) for evidence in found]
    turns = chain.from_iterable(zip_longest(*ranked))
    kept = [name for name in dict.fromkeys(turns) if name is not None][:top_k]
    best: dict[str, Passage] = {}
    for one in chain.from_iterable(found):
        name = one.passage.chunk.chunk_id
        if name not in best or one.passage.relevance > best[name].relevance:
            best[name] = one.passage
    return tuple(sorted((best[name] for name in kept), key=lambda one: -one.relevance))


def _together(covered: Sequence[tuple[Part, Clearance]], passages: Sequence[Passage]) -> Judgement:
    """Judge all parts as one: as sure as of the least sure, each passage for what it answers best."""
    names = {passage.chunk.chunk_id: passage for passage in passages}
    parts = tuple(
        PartEvidence(part.question, tuple(_among(clearance.judgement.evidence, names)))
        for part, clearance in covered
    )
    evidence = sorted(chain.from_iterable(p.evidence for p in parts), key=lambda e: -e.support)
    supports = tuple(
        max((one.support for one in evidence if one.passage == passage), default=0.0)
        for passage in passages
    )
    sure = min(clearance.judgement.answerable for _, clearance in covered)
    return Judgement(sure, supports, tuple(evidence), parts)


def _among(evidence: Sequence[Evidence], names: dict[str, Passage]) -> Sequence[Evidence]:
    """Keep what stands in passages of the answer, under one name each."""
    return [
        replace(one, passage=names[one.passage.chunk.chunk_id])
        for one in evidence
        if one.passage.chunk.chunk_id in names
    ]
