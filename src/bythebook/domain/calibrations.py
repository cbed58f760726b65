"""What scores mean for one generation of one book."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelevanceMap:
    """A monotone map of an embedder's retrieval signal; r = 0.5 at the midpoint."""

    midpoint: float
    slope: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.midpoint) and math.isfinite(self.slope) and self.slope > 0):
            raise ValueError("a relevance map has a finite midpoint and a slope above 0")

    def __call__(self, signal: float) -> float:
        """Return r for a signal."""
        power = -self.slope * (signal - self.midpoint)
        return 1.0 / (1.0 + math.exp(min(power, 700.0)))  # a larger exponent overflows a float


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """The effect of one threshold on the questions of a calibration."""

    threshold: float
    answered: float  # share of the book's own questions that it lets through
    false_answers: float  # the same of questions that the book does not answer


@dataclass(frozen=True, slots=True)
class Calibration:
    """Relevance and the judge's threshold, fitted to a book for a stated rate of false answers."""

    generation: str
    embedding_model: str
    judge_model: str
    false_answer_rate: float  # what it was fitted for
    relevance: RelevanceMap
    answer_from: float  # the judge's probability from which to answer
    own_questions: int
    other_questions: int
    curve: tuple[RiskPoint, ...] = ()
    changed: float = 0.0  # share of the book's chunks that changed since it was fitted
    quick: bool = False  # made by an ingest, of few questions
    reached: RiskPoint | None = None  # on questions held out of the fit; None: not measured

    def __post_init__(self) -> None:
        shares = (self.false_answer_rate, self.answer_from)
        if not all(0.0 < share < 1.0 for share in shares):
            raise ValueError("a rate of false answers and a threshold lie between 0 and 1")
