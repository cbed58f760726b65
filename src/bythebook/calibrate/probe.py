"""A question -> what retrieval finds and what the judge makes of it, by the product's own rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.judge import BOUNDARY, REFUSE_BELOW, Clearance, decide
from bythebook.ask.plan import make_plan
from bythebook.ask.relevance import on_scale
from bythebook.ask.retrieve import CANDIDATES, READ_AT_MOST, fuse, signal
from bythebook.domain.answers import Hit, Judgement
from bythebook.domain.books import Book
from bythebook.domain.calibrations import RelevanceMap
from bythebook.domain.questions import Question, Scope
from bythebook.ports import Calibrations, ChunkIndex, Embedder, Judge, Library, Lookup

_KEPT = 3 * READ_AT_MOST  # hits of a question: enough to read on where some are withheld


@dataclass(frozen=True, slots=True)
class CalibratePorts:
    """The parts that a calibration needs."""

    library: Library
    embedder: Embedder
    index: ChunkIndex
    judge: Judge
    judge_model: str
    calibrations: Calibrations


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval finds for a question."""

    text: str
    hits: tuple[Hit, ...]  # best first

    @property
    def signal(self) -> float:
        """The strength of the best hit; 0 where there is none."""
        return signal(self.hits[0]) if self.hits else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What would be said to a question."""

    score: float  # the judge's probability; 0 where it would be refused whatever the threshold
    judgement: Judgement | None = None


async def search(text: str, book: Book, ports: CalibratePorts) -> Found:
    """Search one book as the answer path does."""
    vector = await ports.embedder.embed_query(text)
    hits = await ports.index.search(Lookup(text, vector, [book], CANDIDATES))
    return Found(text, tuple(sorted(hits, key=signal, reverse=True)[:_KEPT]))


def passes(found: Found, relevance: RelevanceMap) -> bool:
    """Say whether retrieval lets a question through to the judge."""
    return on_scale(relevance(found.signal), BOUNDARY) >= REFUSE_BELOW


async def give_verdict(
    text: str, hits: Sequence[Hit], book: Book, relevance: RelevanceMap, ports: CalibratePorts
) -> Verdict:
    """Decide as the answer path does, with the threshold left open."""
    fitted = {book.book_id: relevance}
    passages = fuse(hits, ports.embedder.model_id, fitted)[:READ_AT_MOST]
    plan = make_plan(Question(text, Scope(book.book_id)))
    verdict = await decide(plan, passages, ports.judge, answer_from=0.0)
    if isinstance(verdict, Clearance):
        return Verdict(verdict.judgement.answerable, verdict.judgement)
    return Verdict(0.0)
