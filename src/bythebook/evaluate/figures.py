"""Figures over measured runs, and how far chance may move them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DRAWS = 400  # resamples for the noise of a figure that has no formula


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Give the chance that a positive scores above a negative, ties counting half."""
    if not positives or not negatives:
        return float("nan")
    ranks = _ranks(np.concatenate([_array(positives), _array(negatives)]))
    first = len(positives)
    return float((ranks[:first].sum() - first * (first + 1) / 2) / (first * len(negatives)))


def auroc_error(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Give the standard error of an AUROC, from how each example stands to the other side.

    Never 0: that a few are told apart without a mistake is chance too.
    """
    if len(positives) < 2 or len(negatives) < 2:
        return float("nan")
    high, low = _array(positives), _array(negatives)
    together = _ranks(np.concatenate([high, low]))
    above = (together[: len(high)] - _ranks(high)) / len(low)
    below = 1 - (together[len(high) :] - _ranks(low)) / len(high)
    spread = math.sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    return max(spread, share_error([True] * min(len(high), len(low))))


def _array(values: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(values, np.float64)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank from 1, equal values sharing the mean of their places."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def share(flags: Sequence[bool]) -> float:
    """Give the share of true ones."""
    return sum(flags) / len(flags) if flags else float("nan")


def share_error(flags: Sequence[bool]) -> float:
    """Give the binomial standard error of a share, never 0: none or all of a few is chance too."""
    if not flags:
        return float("nan")
    chance = (sum(flags) + 1) / (len(flags) + 2)
    return math.sqrt(chance * (1 - chance) / len(flags))


def f1(flagged: Sequence[bool], truth: Sequence[bool]) -> float:
    """Give the harmonic mean of precision and recall."""
    both = sum(one and other for one, other in zip(flagged, truth, strict=True))
    total = sum(flagged) + sum(truth)
    return 2 * both / total if total else float("nan")


def f1_error(flagged: Sequence[bool], truth: Sequence[bool]) -> float:
    """Give the spread of an F1 over resamples of its examples, drawn by a fixed seed."""
    if not any(truth):
        return float("nan")
    ours, theirs = np.asarray(flagged, bool), np.asarray(truth, bool)
    places = np.random.default_rng(1).integers(0, len(ours), (_DRAWS, len(ours)))
    both = (ours & theirs)[places].sum(axis=1)
    total = ours[places].sum(axis=1) + theirs[places].sum(axis=1)
    return float((2 * both[total > 0] / total[total > 0]).std(ddof=1))


def percentile(values: Sequence[float], at: float) -> float:
    """Give a percentile, 50 being the median."""
    return float(np.percentile(np.asarray(values, float), at)) if values else float("nan")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What answering only from a score on would have meant."""

    threshold: float
    coverage: float  # share of all examples that would be answered
    risk: float  # share of those that would be wrong, or should have been refused


def risk_coverage(scores: Sequence[float], good: Sequence[bool]) -> tuple[Coverage, ...]:
    """Lower the threshold from score to score; equal scores are answered together."""
    if not scores:
        return ()
    values = _array(scores)
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    wrong = np.cumsum(~np.asarray(good, bool)[order])
    ends = np.append(np.nonzero(np.diff(ranked))[0], len(ranked) - 1)
    return tuple(
        Coverage(float(ranked[end]), float((end + 1) / len(ranked)), float(wrong[end] / (end + 1)))
        for end in ends
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """Examples whose probability was alike."""

    examples: int
    predicted: float  # mean probability
    observed: float  # share that was so


def reliability(scores: Sequence[float], truth: Sequence[bool], bins: int = 10) -> tuple[Bin, ...]:
    """Sort probabilities into bins of equal width; empty bins are left out."""
    places = np.minimum((_array(scores) * bins).astype(int), bins - 1)
    found = []
    for place in range(bins):
        inside = places == place
        if inside.any():
            predicted = float(_array(scores)[inside].mean())
            observed = float(np.asarray(truth, float)[inside].mean())
            found.append(Bin(int(inside.sum()), predicted, observed))
    return tuple(found)


def calibration_error(bins: Sequence[Bin]) -> float:
    """Give the expected calibration error: the mean gap of the bins, by their size."""
    total = sum(one.examples for one in bins)
    gaps = sum(one.examples * abs(one.predicted - one.observed) for one in bins)
    return gaps / total if total else float("nan")
