"""What every set is measured with: the product's own parts, and a cosine baseline."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.pipeline import answer_from
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.verdict import decide
from bythebook.ask.retrieve.passages import READ_AT_MOST, find_passages
from bythebook.calibrate.pipeline import QUICK, CalibrateOrder, calibrate
from bythebook.calibrate.product_search import CalibratePorts
from bythebook.domain.answers import Judgement, Passage
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Plan, Question, Scope
from bythebook.domain.text.units import selection_units
from bythebook.ingest.pipeline import IngestOrder, IngestPorts, ingest
from bythebook.ports import BookReader, Embedder, Vector

T = TypeVar("T")


class CosineScorer:
    """Cosines by the product's embedder; a text is embedded once per run."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions: dict[str, Vector] = {}
        self._texts: dict[str, Vector] = {}

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Compute the cosine of a question or claim with each text."""
        if question not in self._questions:
            self._questions[question] = _normalize(await self._embedder.embed_query(question))
        new = list(dict.fromkeys(text for text in texts if text not in self._texts))
        if new:
            vectors = await self._embedder.embed_passages(new)
            self._texts.update(zip(new, map(_normalize, vectors), strict=True))
        return [float(self._questions[question] @ self._texts[text]) for text in texts]

    async def find_nearest(self, question: str, texts: Sequence[str], most: int = 3) -> list[str]:
        """Find the texts nearest to a question, best first."""
        cosines = await self.score(question, texts)
        ranked = sorted(range(len(texts)), key=lambda place: -cosines[place])
        return [texts[place] for place in ranked[:most]]


def _normalize(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    scaled: Vector = vector / length if length else vector
    return scaled


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """The best scores of a question's passages, and whether the product would answer."""

    cosine: float
    relevance: float
    judgement: Judgement | None  # none if it was refused without reading
    answered: bool

    @property
    def answerable(self) -> float:
        """The judge's probability of an answer; 0 for passages that it did not read."""
        return self.judgement.answerable if self.judgement else 0.0


@dataclass(frozen=True, slots=True)
class Harness:
    """The product's parts, the baseline's one threshold for all sets, and how much is measured."""

    ask: AskPorts
    ingest: IngestPorts
    cosines: CosineScorer
    cosine_threshold: float
    calibrate: CalibratePorts | None = None  # none: books keep the default scores
    quick: bool = False
    on_progress: Callable[[int, int], None] = lambda _done, _total: None

    def sample(self, examples: Sequence[T], most: int) -> list[T]:
        """Take all examples, or in a quick run a few by a fixed seed, in their order."""
        if not self.quick or len(examples) <= most:
            return list(examples)
        places = random.Random(1).sample(range(len(examples)), most)  # noqa: S311 - a fixed seed
        return [examples[place] for place in sorted(places)]

    def name_book(self, book_id: str) -> str:
        """Name a book of which a quick run publishes only a part."""
        return f"{book_id}-quick" if self.quick else book_id

    async def publish(self, book_id: str, reader: BookReader) -> None:
        """Ingest a book and fit its scores as the product does; unchanged pages are kept."""
        order = IngestOrder(book_id, book_id)
        await ingest(order, replace(self.ingest, reader=reader), lambda _: None)
        await fit_scores(book_id, self.calibrate)

    async def retrieve(self, plan: Plan) -> tuple[Passage, ...]:
        """Find the passages of a plan as the product does."""
        return await find_passages(plan, self.ask)

    async def judge(self, plan: Plan, passages: tuple[Passage, ...]) -> JudgedQuestion:
        """Decide as the product does, and compose no answer."""
        read = passages[:READ_AT_MOST]
        verdict = await decide(plan, read, self.ask.judge, answer_from(read, self.ask))
        relevance = max((passage.relevance for passage in read), default=0.0)
        answered = verdict.answers
        return JudgedQuestion(get_best_cosine(read), relevance, verdict.judgement, answered)


async def fit_scores(book_id: str, ports: CalibratePorts | None) -> None:
    """Fit scores to a book as the product does after ingest."""
    if ports is not None:
        order = CalibrateOrder(book_id, effort=QUICK, compare=False)
        fitted = await calibrate(order, ports, lambda _done, _total: None)
        if fitted is not None:
            ports.calibrations.keep(book_id, fitted.calibration)


def make_book_plan(question: str, book_id: str, top_k: int = 5) -> Plan:
    """Plan a question to one book."""
    return make_plan(Question(question, Scope(book_id), top_k=top_k))


def get_best_cosine(passages: Sequence[Passage]) -> float:
    """Return the highest cosine of retrieved passages, by which the baseline decides."""
    return max((passage.cosine or 0.0 for passage in passages), default=0.0)


def find_threshold(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Find the threshold with the fewest mistakes, both sides counting equally."""
    values = sorted({*positives, *negatives})
    between = [(low + high) / 2 for low, high in pairwise(values)]
    high, low = np.asarray(positives), np.asarray(negatives)
    return min(
        between or values,
        key=lambda at: float((high < at).mean() + (low >= at).mean()),
    )


async def make_passages(
    question: str, texts: Sequence[tuple[str, str]], harness: Harness, most: int | None = None
) -> tuple[Passage, ...]:
    """Make passages of titles and texts that come with a question, nearest first."""
    cosines = await harness.cosines.score(question, [text for _, text in texts])
    passages = [
        _make_passage(text, number, title, cosine)
        for number, ((title, text), cosine) in enumerate(zip(texts, cosines, strict=True))
    ]
    return tuple(sorted(passages, key=lambda passage: -(passage.cosine or 0.0))[:most])


def _make_passage(text: str, number: int, title: str, cosine: float) -> Passage:
    """Make a passage that was given, not retrieved, and so counts as fully relevant."""
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
