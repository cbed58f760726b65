"""A question -> what the product finds and decides, by the product's own rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.verdict import Verdict, decide, is_foreign
from bythebook.ask.retrieve.fusion import fuse, signal
from bythebook.ask.retrieve.passages import READ_AT_MOST, find_hits
from bythebook.domain.answers import Hit, Passage
from bythebook.domain.books import Book
from bythebook.domain.calibrations import RelevanceMap
from bythebook.domain.questions import Plan, Question, Scope
from bythebook.ports import Calibrations, ChunkIndex, Embedder, Judge, Library

_KEPT = 3 * READ_AT_MOST  # hits of a question: enough even if some are withheld


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
class FoundHits:
    """What retrieval finds for a question."""

    text: str
    hits: tuple[Hit, ...]  # best first

    @property
    def signal(self) -> float:
        """The signal of the best hit; 0 without hits."""
        return signal(self.hits[0]) if self.hits else 0.0


async def search_book(text: str, book: Book, ports: CalibratePorts) -> FoundHits:
    """Search one book as the answer path does."""
    hits = await find_hits(_plan(text, book), [book], ports)
    return FoundHits(text, tuple(sorted(hits, key=signal, reverse=True)[:_KEPT]))


def reaches_judge(
    found: FoundHits, book: Book, relevance: RelevanceMap, ports: CalibratePorts
) -> bool:
    """Return True if retrieval lets a question through to the judge."""
    return not is_foreign(_passages(found.hits, book, relevance, ports))


async def decide_with_open_threshold(
    text: str, hits: Sequence[Hit], book: Book, relevance: RelevanceMap, ports: CalibratePorts
) -> Verdict:
    """Decide as the answer path does, whatever the judge's probability."""
    passages = _passages(hits, book, relevance, ports)
    return await decide(_plan(text, book), passages, ports.judge, answer_from=0.0)


def score_of(verdict: Verdict) -> float:
    """Return the judge's probability; 0 if the product refuses at any threshold."""
    return verdict.judgement.answerable if verdict.answers else 0.0


def _plan(text: str, book: Book) -> Plan:
    return make_plan(Question(text, Scope(book.book_id)))


def _passages(
    hits: Sequence[Hit], book: Book, relevance: RelevanceMap, ports: CalibratePorts
) -> tuple[Passage, ...]:
    return fuse(hits, ports.embedder.model_id, {book.book_id: relevance})[:READ_AT_MOST]
