"""Passages -> a verdict: answer, answer with caution, or refuse by type."""

from dataclasses import dataclass

from bythebook.ask.links import section_url
from bythebook.ask.relevance import on_scale
from bythebook.ask.retrieve import READ_AT_MOST
from bythebook.domain.answers import Evidence, Judgement, NearestSection, Passage, RefusalType
from bythebook.domain.questions import Plan
from bythebook.ports import Judge

BOUNDARY = 0.40  # on contract A's scale, on which the rules for refusing are stated
REFUSE_BELOW = 0.30  # on the same scale: refused without reading
ANSWER_FROM = 0.35  # probability of an answer; chosen on dev questions and on pages held back
SURE_FROM = 0.5  # the same, where retrieval doubts
DISCLAIMER = "The book may cover this only in part; please check the quoted passage."


@dataclass(frozen=True, slots=True)
class Refusal:
    """The passages do not answer."""

    refusal_type: RefusalType
    judgement: Judgement | None  # none where nothing had to be read


@dataclass(frozen=True, slots=True)
class Clearance:
    """The passages answer; `disclaimer` is what a cautious answer must open with."""

    judgement: Judgement
    disclaimer: str | None = None


async def decide(
    plan: Plan,
    passages: tuple[Passage, ...],
    judge: Judge,
    answer_from: float = ANSWER_FROM,
) -> Refusal | Clearance:
    """Decide once for all contracts whether the passages answer."""
    if not passages:
        return Refusal("empty_retrieval", None)
    if plan.overview and passages[0].chunk.units:
        return Clearance(_opening(passages[0]))
    best = _best(passages)
    if best < REFUSE_BELOW:
        return Refusal("low_relevance", None)
    judgement = await judge.judge(plan.question, passages[:READ_AT_MOST])
    if best < BOUNDARY:
        sure = judgement.answerable >= max(SURE_FROM, answer_from) and bool(judgement.evidence)
        return Clearance(judgement, DISCLAIMER) if sure else Refusal("low_relevance", judgement)
    if judgement.answerable < answer_from or not judgement.evidence:
        selection = passages[0].is_selection
        return Refusal(
            "selected_text_missing" if selection else "insufficient_grounding", judgement
        )
    return Clearance(judgement)


def is_foreign(passages: tuple[Passage, ...]) -> bool:
    """Say whether nothing was found that is worth reading."""
    return not passages or _best(passages) < REFUSE_BELOW


def _best(passages: tuple[Passage, ...]) -> float:
    return on_scale(max(passage.relevance for passage in passages), BOUNDARY)


def narrow(
    candidates: tuple[Passage, ...], judgement: Judgement, top_k: int
) -> tuple[tuple[Passage, ...], Judgement]:
    """Keep as many passages as were asked for, those the judge finds best, in the order found."""
    read = range(len(judgement.supports))
    best = sorted(read, key=lambda place: -judgement.supports[place])[:top_k]
    unread = range(len(judgement.supports), top_k)
    kept = tuple(candidates[place] for place in (*sorted(best), *unread) if place < len(candidates))
    evidence = tuple(found for found in judgement.evidence if found.passage in kept)
    supports = tuple(judgement.supports[place] for place in sorted(best))
    return kept, Judgement(judgement.answerable, supports, evidence)


def _opening(selection: Passage) -> Judgement:
    """Take the selection at its word: asked to explain itself, it answers with how it begins."""
    units = selection.chunk.units
    share = 1 / (1 + len(units))  # none is the answer more than another
    return Judgement(1.0, (1.0,), tuple(Evidence(selection, unit, share) for unit in units))


def nearest_sections(
    passages: tuple[Passage, ...], reader_url: str, most: int = 3
) -> tuple[NearestSection, ...]:
    """Name the sections nearest to a question that the book does not answer."""
    found: dict[tuple[str, str, str], NearestSection] = {}
    for passage in passages:
        chunk = passage.chunk
        if not passage.is_selection:
            near = NearestSection(
                chunk.book_id,
                chunk.document_id,
                chunk.chapter,
                chunk.section,
                section_url(chunk, reader_url),
            )
            found.setdefault((chunk.book_id, chunk.document_id, chunk.anchor), near)
    return tuple(found.values())[:most]
