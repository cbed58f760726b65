"""Statistics of a question set: shares, percentiles and the area under the ROC curve."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Return the probability that a positive scores above a negative; a tie counts half."""
    if not positives or not negatives:
        return float("nan")
    ranks = rank_values(np.asarray([*positives, *negatives], np.float64))
    first = len(positives)
    return float((ranks[:first].sum() - first * (first + 1) / 2) / (first * len(negatives)))


def rank_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank values from 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def share(flags: Sequence[bool]) -> float:
    """Return the share of flags that are true."""
    return sum(flags) / len(flags) if flags else float("nan")


def percentile(values: Sequence[float], at: float) -> float:
    """Return a percentile; 50 is the median."""
    return float(np.percentile(np.asarray(values, float), at)) if values else float("nan")
