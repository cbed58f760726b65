"""What an evaluation produces: figures with standard errors, and the decisions behind them."""

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table, with the value that the cosine alone would reach."""

    name: str
    value: float
    examples: int
    error: float | None = None  # one standard error; none where a drop does not count
    baseline: float | None = None
    better: Better = "higher"


@dataclass(frozen=True, slots=True)
class Decision:
    """One example: the product's score, the best cosine, and what would have been right."""

    score: float  # probability that the passages answer the question, or support the claim
    cosine: float
    positive: bool  # the question should be answered, or the claim is supported
    right: bool  # ... and what would be shown is right
    cosine_right: bool
    answered: bool  # what the product decided


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that the book answers and whose answer does not show a gold."""

    question_id: str
    question: str
    golds: tuple[str, ...]
    answer: str  # empty if it was refused
    lost: str  # the stage at which the gold was lost


@dataclass(frozen=True, slots=True)
class SetResult:
    """What was measured on one set."""

    name: str
    about: str  # how it was measured, in a sentence or two
    figures: tuple[Figure, ...]
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    misses: tuple[Miss, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedSet:
    """A set that was not measured, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Everything that a run measured."""

    results: tuple[SetResult, ...]
    skipped: tuple[SkippedSet, ...]
    cosine_threshold: float  # of the baseline
    quick: bool
    seconds: float
