"""A question of several parts -> which of them are answered, as one verdict."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from bythebook.ask.read.verdict import Verdict
from bythebook.domain.answers import Evidence, Judgement, PartEvidence, Passage
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan, QuestionPart

DecidePart = Callable[[Plan], Awaitable[Verdict]]


async def decide_parts(plan: Plan, decide_part: DecidePart) -> Verdict | None:
    """Decide each part by itself; return None if no part is answered."""
    answered: list[tuple[QuestionPart, Verdict]] = []
    missing: list[str] = []
    for part in plan.parts:
        turns = (*plan.turns, Turn(part.before)) if part.before else plan.turns
        verdict = await decide_part(replace(plan, question=part.question, turns=turns, parts=()))
        if verdict.answers:
            answered.append((part, verdict))
        else:
            missing.append(part.words)
    if not answered:
        return None
    passages = _share_passages([one.judgement.evidence for _, one in answered], plan.top_k)
    return Verdict(
        None,
        _judge_together(answered, passages),
        passages,
        cautious=any(one.cautious for _, one in answered),
        missing=tuple(missing),
    )


def _share_passages(found: Sequence[Sequence[Evidence]], top_k: int) -> tuple[Passage, ...]:
    """Choose up to `top_k` passages: the parts take turns, each with its best first."""
    ranked = [dict.fromkeys(one.passage.chunk.chunk_id for one in evidence) for evidence in found]
    turns = chain.from_iterable(zip_longest(*ranked))
    kept = [name for name in dict.fromkeys(turns) if name is not None][:top_k]
    best: dict[str, Passage] = {}
    for one in chain.from_iterable(found):
        name = one.passage.chunk.chunk_id
        if name not in best or one.passage.relevance > best[name].relevance:
            best[name] = one.passage
    return tuple(sorted((best[name] for name in kept), key=lambda one: -one.relevance))


def _judge_together(
    answered: Sequence[tuple[QuestionPart, Verdict]], passages: Sequence[Passage]
) -> Judgement:
    """Combine the judgements of all parts: the lowest probability, and each passage's best support."""
    names = {passage.chunk.chunk_id: passage for passage in passages}
    parts = tuple(
        PartEvidence(part.question, tuple(_keep_named(verdict.judgement.evidence, names)))
        for part, verdict in answered
    )
    evidence = sorted(chain.from_iterable(p.evidence for p in parts), key=lambda e: -e.support)
    supports = tuple(
        max((one.support for one in evidence if one.passage == passage), default=0.0)
        for passage in passages
    )
    sure = min(verdict.judgement.answerable for _, verdict in answered)
    return Judgement(sure, supports, tuple(evidence), parts)


def _keep_named(evidence: Sequence[Evidence], names: dict[str, Passage]) -> Sequence[Evidence]:
    """Keep the evidence in passages of the answer, each passage as one object."""
    return [
        replace(one, passage=names[one.passage.chunk.chunk_id])
        for one in evidence
        if one.passage.chunk.chunk_id in names
    ]
