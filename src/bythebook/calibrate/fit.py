"""Signals and verdicts -> the relevance map and the judge's threshold of a book."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bythebook.domain.calibrations import RelevanceMap, RiskPoint

Values = NDArray[np.float64]

_STEPS = 121  # of the grid in each direction

LEAST_SHARE = 0.5  # of the default threshold: lower ones were never measured
THRESHOLD_MOST = 0.9
KEPT_ANSWERS = 0.75  # of the book's own questions that the default would answer
_CURVE_POINTS = 41


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a book's map may lie from its embedder's, and how freely: a prior's standard deviations.

    In units of the signal for the midpoint, of log(slope) for the slope.
    """

    midpoint_spread: float
    midpoint_most: float
    slope_spread: float
    slope_most: float


MEASURED = Trust(midpoint_spread=0.05, midpoint_most=0.15, slope_spread=0.4, slope_most=0.7)
GUESSED = Trust(midpoint_spread=0.3, midpoint_most=0.6, slope_spread=0.7, slope_most=1.2)


def fit_relevance(
    own: Sequence[float],
    foreign: Sequence[float],
    default: RelevanceMap,
    trust: Trust = MEASURED,
) -> RelevanceMap:
    """Fit r by logistic regression of own against foreign signals, both sides with the same weight.

    It is the most probable map given the signals and a normal prior around the embedder's own, over
    a grid that ends where no sane map lies: few questions move it little, separable ones do not make
    it infinitely steep, and there is no descent that could fail.
    """
    if not own or not foreign:
        return default
    most = trust.midpoint_most
    midpoints = default.midpoint + np.linspace(-most, most, _STEPS)
    logs = np.linspace(-trust.slope_most, trust.slope_most, _STEPS)
    slopes = default.slope * np.exp(logs)
    prior = (
        ((midpoints[:, None] - default.midpoint) / trust.midpoint_spread) ** 2
        + (logs[None, :] / trust.slope_spread) ** 2
    ) / 2
    each = min(len(own), len(foreign))  # questions that either side counts for
    loss = prior.copy()
    for signals, sign in ((own, 1.0), (foreign, -1.0)):
        weight = each / len(signals)
        for signal in signals:
            odds = sign * slopes[None, :] * (signal - midpoints[:, None])
            loss += weight * np.logaddexp(0.0, -odds)
    row, column = np.unravel_index(int(np.argmin(loss)), loss.shape)
    return RelevanceMap(round(float(midpoints[row]), 6), round(float(slopes[column]), 6))


def fit_threshold(
    own: Sequence[float],
    unanswerable: Sequence[float],
    rate: float,
    *,
    default: float,
    prior: int,
) -> float:
    """Find the lowest threshold at which at most `rate` of the unanswerable questions is answered.

    A score is the judge's probability, 0 where retrieval refuses. The threshold is the plain
    quantile of the scores, drawn towards the default as if `prior` more questions had spoken for it:
    a bound that is sure for 30 questions would be far too strict; some of these questions are
    answered elsewhere in the book, which makes the quantile too high rather than too low; and
    readers word their questions less like the book than these are, so that a threshold which all
    of the book's own questions pass may still be too high for theirs. It stays between
    `LEAST_SHARE` of the default and `THRESHOLD_MOST`, and never refuses more than a quarter of what
    the default answers of the book's own questions, so that no book is muted.
    """
    scores = np.sort(np.asarray(unanswerable, np.float64))[::-1]
    allowed = int(rate * len(scores) + 1e-9)
    least = LEAST_SHARE * default
    quantile = float(np.nextafter(scores[allowed], 1.0)) if allowed < len(scores) else least
    drawn = (len(scores) * quantile + prior * default) / max(1, len(scores) + prior)
    most = min(THRESHOLD_MOST, _find_highest_threshold(own, default))
    return float(np.clip(drawn, least, max(most, default)))


def measure_held_out(
    own: Sequence[float],
    unanswerable: Sequence[float],
    rate: float,
    *,
    default: float,
    prior: int,
) -> RiskPoint:
    """Fit a threshold to one half of the questions and try it on the other, both ways.

    This is what a fit reaches on questions that it has not seen; the fit itself uses all of them.
    """
    tried = []
    for half in (0, 1):
        threshold = fit_threshold(
            own[half::2], unanswerable[half::2], rate, default=default, prior=prior
        )
        others = own[1 - half :: 2], unanswerable[1 - half :: 2]
        tried.append((threshold, *(share_from(scores, threshold) for scores in others)))
    return RiskPoint(*(round(float(np.mean(column)), 4) for column in zip(*tried, strict=True)))


def _find_highest_threshold(own: Sequence[float], default: float) -> float:
    """Find the highest threshold that keeps the answers which must be kept."""
    answered = sorted((score for score in own if score >= default), reverse=True)
    kept = int(np.ceil(KEPT_ANSWERS * len(answered)))
    return answered[kept - 1] if answered else default


def risk_curve(own: Sequence[float], unanswerable: Sequence[float]) -> tuple[RiskPoint, ...]:
    """Return, for thresholds from 0 to 1, the shares that would be answered rightly and wrongly."""
    return tuple(
        RiskPoint(
            round(float(threshold), 4),
            round(share_from(own, float(threshold)), 4),
            round(share_from(unanswerable, float(threshold)), 4),
        )
        for threshold in np.linspace(0.0, 1.0, _CURVE_POINTS)
    )


def share_from(scores: Sequence[float], threshold: float) -> float:
    """Return the share of scores that a threshold lets through; what retrieval refused never passes."""
    passed = sum(score > 0.0 and score >= threshold for score in scores)
    return passed / len(scores) if scores else 0.0
