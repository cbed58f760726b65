"""What every set is measured with: the product's parts, and the baseline beside them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from bythebook.ask.judge import Clearance, decide
from bythebook.ask.pipeline import AskPorts, answer_from
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import READ_AT_MOST
from bythebook.calibrate.pipeline import QUICK, CalibrateOrder, calibrate
from bythebook.calibrate.probe import CalibratePorts
from bythebook.domain.answers import Judgement, Passage
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Plan, Question, Scope
from bythebook.domain.units import selection_units
from bythebook.ingest.pipeline import IngestOrder, IngestPorts, ingest
from bythebook.ports import BookReader, Embedder, Vector

T = TypeVar("T")


class Cosines:
    """Cosines by the product's own embedder; no text is embedded twice in a run."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions: dict[str, Vector] = {}
        self._texts: dict[str, Vector] = {}

    async def of(self, question: str, texts: Sequence[str]) -> list[float]:
        """Give the cosine of a question or claim with each text."""
        if question not in self._questions:
            self._questions[question] = _unit(await self._embedder.embed_query(question))
        unknown = list(dict.fromkeys(text for text in texts if text not in self._texts))
        if unknown:
            vectors = await self._embedder.embed_passages(unknown)
            self._texts.update(zip(unknown, map(_unit, vectors), strict=True))
        return [float(self._questions[question] @ self._texts[text]) for text in texts]

    async def nearest(self, question: str, texts: Sequence[str], most: int = 3) -> list[str]:
        """Give the texts nearest to a question, best first."""
        cosines = await self.of(question, texts)
        ranked = sorted(range(len(texts)), key=lambda place: -cosines[place])
        return [texts[place] for place in ranked[:most]]


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    scaled: Vector = vector / length if length else vector
    return scaled


@dataclass(frozen=True, slots=True)
class Bench:
    """The parts, the baseline's one threshold for all sets, and how much of each set is measured."""

    ask: AskPorts
    ingest: IngestPorts
    cosines: Cosines
    cosine_from: float
    calibrate: CalibratePorts | None = None  # none: books are left at the default scores
    quick: bool = False
    on_done: Callable[[int, int], None] = lambda _done, _total: None

    def draw(self, examples: Sequence[T], most: int) -> list[T]:
        """Take all examples, or in a quick run a few by a fixed seed, in their order."""
        if not self.quick or len(examples) <= most:
            return list(examples)
        places = random.Random(1).sample(range(len(examples)), most)  # noqa: S311 - a fixed draw
        return [examples[place] for place in sorted(places)]

    async def publish(self, book_id: str, reader: BookReader) -> None:
        """Ingest a book and fit its scores as the product does; what is there already is taken over."""
        order = IngestOrder(book_id, book_id)
        await ingest(order, replace(self.ingest, reader=reader), lambda _: None)
        await fit_scores(book_id, self.calibrate)


async def fit_scores(book_id: str, ports: CalibratePorts | None) -> None:
    """Fit scores to a book as the product does after ingest."""
    if ports is not None:
        order = CalibrateOrder(book_id, effort=QUICK, compare=False)
        fitted = await calibrate(order, ports, lambda _done, _total: None)
        if fitted is not None:
            ports.calibrations.keep(book_id, fitted.calibration)


def plan_for(question: str, book_id: str, top_k: int = 5) -> Plan:
    """Plan a question to one book."""
    return make_plan(Question(question, Scope(book_id), top_k=top_k))


@dataclass(frozen=True, slots=True)
class Seen:
    """How a question looked to the product: how near, how well answered, and what it decided."""

    cosine: float
    relevance: float
    judgement: Judgement | None  # none where it was refused without reading
    answered: bool

    @property
    def answerable(self) -> float:
        """The judge's probability; what was not read is not answered at all."""
        return self.judgement.answerable if self.judgement else 0.0


async def look(plan: Plan, passages: tuple[Passage, ...], ports: AskPorts) -> Seen:
    """Decide as the product does, and compose nothing."""
    read = passages[:READ_AT_MOST]
    verdict = await decide(plan, read, ports.judge, answer_from(read, ports))
    relevance = max((passage.relevance for passage in read), default=0.0)
    decided = isinstance(verdict, Clearance)
    return Seen(best_cosine(read), relevance, verdict.judgement, decided)


def best_cosine(passages: Sequence[Passage]) -> float:
    """Give what the baseline decides by; passages were scored by the index."""
    return max((passage.cosine or 0.0 for passage in passages), default=0.0)


def best_threshold(wanted: Sequence[float], others: Sequence[float]) -> float:
    """Find where a score is wrong the least on both sides, the two counting alike."""
    values = sorted({*wanted, *others})
    between = [(low + high) / 2 for low, high in pairwise(values)]
    high, low = np.asarray(wanted), np.asarray(others)
    return min(
        between or values,
        key=lambda at: float((high < at).mean() + (low >= at).mean()),
    )


def given_passage(text: str, number: int, title: str, cosine: float) -> Passage:
    """Make a passage of a text that comes with its question; nothing retrieved it, so it is relevant."""
    chunk = Chunk(
        book_id="given",
        document_id=f"given-{number}",
        chunk_index=number,
        text=text,
        chapter=title,
        section=title,
        heading_path=(title,) if title else (),
        anchor="",
        source_url="",
        char_start=0,
        char_end=len(text),
        token_count=0,
        units=selection_units(text),
    )
    return Passage(chunk, relevance=1.0, cosine=cosine)


async def given_passages(
    question: str, texts: Sequence[tuple[str, str]], bench: Bench, most: int | None = None
) -> tuple[Passage, ...]:
    """Make passages of titles and texts, nearest to the question first, as retrieval would."""
    cosines = await bench.cosines.of(question, [text for _, text in texts])
    passages = [
        given_passage(text, number, title, cosine)
        for number, ((title, text), cosine) in enumerate(zip(texts, cosines, strict=True))
    ]
    return tuple(sorted(passages, key=lambda passage: -(passage.cosine or 0.0))[:most])
