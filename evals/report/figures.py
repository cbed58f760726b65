"""Make figures from examples: shares, AUROC, F1 and medians."""

from collections.abc import Sequence

from bythebook.evaluate.figures import auroc, percentile, share
from evals.report.results import Better, Decision, Figure
from evals.report.statistics import (
    compute_auroc_error,
    compute_f1,
    compute_f1_error,
    compute_share_error,
)


def make_share_figure(
    name: str,
    flags: Sequence[bool],
    baseline: Sequence[bool] | None = None,
    *,
    better: Better = "higher",
) -> Figure:
    """Make a figure of the share of flags that are true."""
    cosine = share(baseline) if baseline else None
    return Figure(name, share(flags), len(flags), compute_share_error(flags), cosine, better)


def make_auroc_figure(
    name: str,
    positives: Sequence[float],
    negatives: Sequence[float],
    baseline: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Figure:
    """Make a figure of how well scores separate positives from negatives."""
    enough = min(len(positives), len(negatives)) > 1
    error = compute_auroc_error(positives, negatives) if enough else None
    cosine = auroc(*baseline) if baseline else None
    examples = len(positives) + len(negatives)
    return Figure(name, auroc(positives, negatives), examples, error, cosine)


def make_f1_figure(
    name: str, flagged: Sequence[bool], truth: Sequence[bool], baseline: Sequence[bool]
) -> Figure:
    """Make a figure of an F1."""
    error, cosine = compute_f1_error(flagged, truth), compute_f1(baseline, truth)
    return Figure(name, compute_f1(flagged, truth), len(truth), error, cosine)


def make_median_figure(name: str, values: Sequence[float]) -> Figure:
    """Make a figure that is shown for information only."""
    return Figure(name, percentile(values, 50), len(values), better="neither")


def drop_empty_figures(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Drop the figures of which the set has no example."""
    return tuple(figure for figure in figures if figure.value == figure.value)


def make_decision_figure(name: str, decisions: Sequence[Decision]) -> Figure:
    """Make a figure of how well the score, and the cosine, separate what should be answered."""
    positive, negative = split_decisions(decisions)
    return make_auroc_figure(
        name,
        [one.score for one in positive],
        [one.score for one in negative],
        ([one.cosine for one in positive], [one.cosine for one in negative]),
    )


def make_mistake_figures(
    decisions: Sequence[Decision], cosine_threshold: float
) -> tuple[Figure, ...]:
    """Make figures of wrong answers, wrong refusals, and the mean of both."""
    positive, negative = split_decisions(decisions)
    answered = make_share_figure(
        "wrongly answered",
        [one.answered for one in negative],
        [one.cosine >= cosine_threshold for one in negative],
        better="lower",
    )
    refused = make_share_figure(
        "wrongly refused",
        [not one.answered for one in positive],
        [one.cosine < cosine_threshold for one in positive],
        better="lower",
    )
    return answered, refused, _make_mean_figure("mean of both", answered, refused)


def split_decisions(decisions: Sequence[Decision]) -> tuple[list[Decision], list[Decision]]:
    """Split decisions into those that should be answered and those that should not."""
    positive = [one for one in decisions if one.positive]
    return positive, [one for one in decisions if not one.positive]


def _make_mean_figure(name: str, one: Figure, other: Figure) -> Figure:
    error = ((one.error or 0) ** 2 + (other.error or 0) ** 2) ** 0.5 / 2
    baseline = ((one.baseline or 0) + (other.baseline or 0)) / 2
    value = (one.value + other.value) / 2
    return Figure(name, value, one.examples + other.examples, error, baseline, "lower")
