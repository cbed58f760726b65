"""Passages -> a verdict: answer, answer with caution, or refuse by type."""

from dataclasses import dataclass

from bythebook.ask.read.follow_up import judge_follow_up
from bythebook.ask.retrieve.passages import READ_AT_MOST
from bythebook.ask.retrieve.relevance import QUERY_BOUNDARY, on_scale
from bythebook.domain.answers import (
    NOTHING_READ,
    Evidence,
    Judgement,
    Passage,
    RefusalType,
)
from bythebook.domain.questions import Plan
from bythebook.ports import Judge

REFUSE_BELOW = 0.30  # on contract A's scale: refused without reading
ANSWER_FROM = 0.25  # probability of an answer; chosen for excerpts on dev questions
SURE_FROM = 0.5  # the same, where retrieval doubts; below it an answer is cautious
CLEAR_FROM = 0.75  # from here on nine in ten answers to dev questions were right


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether passages answer a question, and what an answer may rest on."""

    refusal_type: RefusalType | None  # None: there will be an answer
    judgement: Judgement = NOTHING_READ
    passages: tuple[Passage, ...] = ()
    cautious: bool = False  # the reader should check the quotes
    missing: tuple[str, ...] = ()  # parts of the question that are not answered, as asked

    @property
    def answers(self) -> bool:
        """True if there will be an answer."""
        return self.refusal_type is None


async def decide(
    plan: Plan,
    passages: tuple[Passage, ...],
    judge: Judge,
    answer_from: float = ANSWER_FROM,
) -> Verdict:
    """Decide once for all contracts whether the passages answer."""
    if not passages:
        return Verdict("empty_retrieval")
    if plan.overview and passages[0].chunk.units:
        return Verdict(None, _judge_opening(passages[0]), passages)
    best = _best_score(passages)
    if best < REFUSE_BELOW:
        return Verdict("low_relevance")
    judgement = await _read(plan, passages[:READ_AT_MOST], judge)
    doubtful = is_doubtful(passages)
    least = max(SURE_FROM, answer_from) if doubtful else answer_from
    if judgement.answerable < least or not judgement.evidence:
        return Verdict(refusal_after_reading(passages, doubtful=doubtful), judgement)
    cautious = doubtful or judgement.answerable < SURE_FROM
    return Verdict(None, judgement, passages, cautious=cautious)


async def _read(plan: Plan, passages: tuple[Passage, ...], judge: Judge) -> Judgement:
    if plan.turns and any(passage.in_context for passage in passages):
        return await judge_follow_up(judge, plan.question, plan.turns, passages)
    return await judge.judge(plan.question, passages)


def refusal_after_reading(passages: tuple[Passage, ...], *, doubtful: bool) -> RefusalType:
    """Return the refusal type for passages that were read and do not answer."""
    if passages[0].is_selection:
        return "selected_text_missing"
    return "low_relevance" if doubtful else "insufficient_grounding"


def is_doubtful(passages: tuple[Passage, ...]) -> bool:
    """Return True if even the nearest passage is hardly about the question."""
    return _best_score(passages) < QUERY_BOUNDARY


def is_foreign(passages: tuple[Passage, ...]) -> bool:
    """Return True if retrieval found nothing relevant."""
    return not passages or _best_score(passages) < REFUSE_BELOW


def _best_score(passages: tuple[Passage, ...]) -> float:
    return on_scale(max(passage.relevance for passage in passages), QUERY_BOUNDARY)


def narrow(
    candidates: tuple[Passage, ...], judgement: Judgement, top_k: int
) -> tuple[tuple[Passage, ...], Judgement]:
    """Keep the `top_k` passages that the judge ranks best, in the order found."""
    read = range(len(judgement.supports))
    best = sorted(read, key=lambda place: -judgement.supports[place])[:top_k]
    unread = range(len(judgement.supports), top_k)
    kept = tuple(candidates[place] for place in (*sorted(best), *unread) if place < len(candidates))
    evidence = tuple(found for found in judgement.evidence if found.passage in kept)
    supports = tuple(judgement.supports[place] for place in sorted(best))
    return kept, Judgement(judgement.answerable, supports, evidence)


def _judge_opening(selection: Passage) -> Judgement:
    """Judge a request to explain the selection: its own beginning answers."""
    units = selection.chunk.units
    share = 1 / (1 + len(units))  # no unit answers better than another
    return Judgement(1.0, (1.0,), tuple(Evidence(selection, unit, share) for unit in units))
