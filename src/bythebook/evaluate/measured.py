"""What measuring a set gives: figures with their noise, and the verdicts behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bythebook.evaluate.figures import (
    auroc,
    auroc_error,
    f1,
    f1_error,
    percentile,
    share,
    share_error,
)

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the table, beside what the cosine alone would give."""

    name: str
    value: float
    examples: int
    error: float | None = None  # one standard error; none where no drop counts
    baseline: float | None = None
    better: Better = "higher"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An example: how sure the product was, how near the best text was, and the truth."""

    score: float  # probability that the passages answer, or support
    cosine: float
    positive: bool  # it should be answered, or is supported
    right: bool  # ... and what would be shown is right
    cosine_right: bool
    answered: bool  # by the product's own decision, or let through


@dataclass(frozen=True, slots=True)
class Measured:
    """A set, measured."""

    name: str
    about: str  # what was done, in a sentence or two
    figures: tuple[Figure, ...]
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A set that was not measured, and why."""

    name: str
    reason: str


def rate(
    name: str,
    flags: Sequence[bool],
    baseline: Sequence[bool] | None = None,
    *,
    better: Better = "higher",
) -> Figure:
    """Make a figure of a share."""
    beside = share(baseline) if baseline else None
    return Figure(name, share(flags), len(flags), share_error(flags), beside, better)


def apart(
    name: str,
    positives: Sequence[float],
    negatives: Sequence[float],
    baseline: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Figure:
    """Make a figure of how well scores tell two kinds apart."""
    enough = min(len(positives), len(negatives)) > 1
    error = auroc_error(positives, negatives) if enough else None
    beside = auroc(*baseline) if baseline else None
    examples = len(positives) + len(negatives)
    return Figure(f"{name}, AUROC", auroc(positives, negatives), examples, error, beside)


def harmonic(
    name: str, flagged: Sequence[bool], truth: Sequence[bool], baseline: Sequence[bool]
) -> Figure:
    """Make a figure of an F1."""
    beside = f1(baseline, truth)
    return Figure(name, f1(flagged, truth), len(truth), f1_error(flagged, truth), beside)


def median(name: str, values: Sequence[float]) -> Figure:
    """Make a figure that only informs."""
    return Figure(name, percentile(values, 50), len(values), better="neither")


def known(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Leave out what the set holds no example of."""
    return tuple(figure for figure in figures if figure.value == figure.value)


def verdicts_apart(name: str, verdicts: Sequence[Verdict]) -> Figure:
    """Make a figure of how well the score tells what to answer, beside the cosine."""
    yes, no = [v for v in verdicts if v.positive], [v for v in verdicts if not v.positive]
    return apart(
        name,
        [one.score for one in yes],
        [one.score for one in no],
        ([one.cosine for one in yes], [one.cosine for one in no]),
    )


def mistakes(verdicts: Sequence[Verdict], cosine_from: float) -> tuple[Figure, ...]:
    """Count both ways of being wrong, and their mean."""
    yes, no = [v for v in verdicts if v.positive], [v for v in verdicts if not v.positive]
    answered = rate(
        "wrongly answered",
        [one.answered for one in no],
        [one.cosine >= cosine_from for one in no],
        better="lower",
    )
    refused = rate(
        "wrongly refused",
        [not one.answered for one in yes],
        [one.cosine < cosine_from for one in yes],
        better="lower",
    )
    return answered, refused, _mean("mean of both", answered, refused)


def _mean(name: str, one: Figure, other: Figure) -> Figure:
    error = ((one.error or 0) ** 2 + (other.error or 0) ** 2) ** 0.5 / 2
    baseline = ((one.baseline or 0) + (other.baseline or 0)) / 2
    value = (one.value + other.value) / 2
    return Figure(name, value, one.examples + other.examples, error, baseline, "lower")
