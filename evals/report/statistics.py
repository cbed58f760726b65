"""Statistics with standard errors, risk-coverage curves and calibration."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bythebook.evaluate.figures import rank_values

_RESAMPLES = 400  # for the standard error of a figure that has no formula


def compute_auroc_error(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Compute the standard error of an AUROC, from how each example ranks against the other side.

    It is never 0: separating a few examples without a mistake can be chance too.
    """
    if len(positives) < 2 or len(negatives) < 2:
        return float("nan")
    high, low = np.asarray(positives, np.float64), np.asarray(negatives, np.float64)
    together = rank_values(np.concatenate([high, low]))
    above = (together[: len(high)] - rank_values(high)) / len(low)
    below = 1 - (together[len(high) :] - rank_values(low)) / len(high)
    spread = math.sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    return max(spread, compute_share_error([True] * min(len(high), len(low))))


def compute_share_error(flags: Sequence[bool]) -> float:
    """Compute the binomial standard error of a share; never 0, as all of a few can be chance."""
    if not flags:
        return float("nan")
    chance = (sum(flags) + 1) / (len(flags) + 2)
    return math.sqrt(chance * (1 - chance) / len(flags))


def compute_f1(flagged: Sequence[bool], truth: Sequence[bool]) -> float:
    """Compute the harmonic mean of precision and recall."""
    both = sum(one and other for one, other in zip(flagged, truth, strict=True))
    total = sum(flagged) + sum(truth)
    return 2 * both / total if total else float("nan")


def compute_f1_error(flagged: Sequence[bool], truth: Sequence[bool]) -> float:
    """Compute the standard error of an F1 by resampling its examples with a fixed seed."""
    if not any(truth):
        return float("nan")
    ours, theirs = np.asarray(flagged, bool), np.asarray(truth, bool)
    places = np.random.default_rng(1).integers(0, len(ours), (_RESAMPLES, len(ours)))
    both = (ours & theirs)[places].sum(axis=1)
    total = ours[places].sum(axis=1) + theirs[places].sum(axis=1)
    return float((2 * both[total > 0] / total[total > 0]).std(ddof=1))


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Coverage and risk of answering only above a threshold."""

    threshold: float
    coverage: float  # share of all examples that would be answered
    risk: float  # share of those that would be wrong, or should have been refused


def compute_risk_coverage(scores: Sequence[float], good: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """Lower the threshold from score to score; equal scores are answered together."""
    if not scores:
        return ()
    values = np.asarray(scores, np.float64)
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    wrong = np.cumsum(~np.asarray(good, bool)[order])
    ends = np.append(np.nonzero(np.diff(ranked))[0], len(ranked) - 1)
    return tuple(
        RiskPoint(float(ranked[end]), float((end + 1) / len(ranked)), float(wrong[end] / (end + 1)))
        for end in ends
    )


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Examples with a similar probability."""

    examples: int
    predicted: float  # mean probability
    observed: float  # share that came true


def compute_reliability(
    scores: Sequence[float], truth: Sequence[bool], bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Sort probabilities into bins of equal width, and drop empty bins."""
    values = np.asarray(scores, np.float64)
    places = np.minimum((values * bins).astype(int), bins - 1)
    filled = []
    for place in range(bins):
        inside = places == place
        if inside.any():
            predicted = float(values[inside].mean())
            observed = float(np.asarray(truth, float)[inside].mean())
            filled.append(ReliabilityBin(int(inside.sum()), predicted, observed))
    return tuple(filled)


def compute_calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Compute the expected calibration error: the mean gap of the bins, weighted by size."""
    total = sum(one.examples for one in bins)
    gaps = sum(one.examples * abs(one.predicted - one.observed) for one in bins)
    return gaps / total if total else float("nan")
