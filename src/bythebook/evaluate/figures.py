"""Figures over measured runs."""

from collections.abc import Sequence

import numpy as np


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Give the chance that a positive scores above a negative, ties counting half."""
    if not positives or not negatives:
        return float("nan")
    values = np.concatenate([np.asarray(positives, float), np.asarray(negatives, float)])
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    first = len(positives)
    return float((ranks[:first].sum() - first * (first + 1) / 2) / (first * len(negatives)))


def share(flags: Sequence[bool]) -> float:
    """Give the share of true ones."""
    return sum(flags) / len(flags) if flags else float("nan")


def percentile(values: Sequence[float], at: float) -> float:
    """Give a percentile, 50 being the median."""
    return float(np.percentile(np.asarray(values, float), at)) if values else float("nan")
