"""Signals and scores of made-up books, fitted."""

import random
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from bythebook.calibrate.fit import GUESSED, fit_relevance, fit_threshold, risk_curve
from bythebook.calibrate.plot import risk_lines, risk_plot
from bythebook.domain.calibrations import Calibration, RelevanceMap

DEFAULT = RelevanceMap(midpoint=0.33, slope=20.0)


def spread(middle: float, deviation: float, count: int, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(middle, deviation) for _ in range(count)]


def test_own_and_foreign_signals_that_overlap_meet_where_both_are_equally_likely() -> None:
    own, foreign = spread(0.52, 0.06, 400), spread(0.32, 0.06, 400, seed=2)
    fitted = fit_relevance(own, foreign, DEFAULT)
    assert fitted.midpoint == pytest.approx(0.42, abs=0.015)
    assert fitted(0.52) > 0.85
    assert fitted(0.32) < 0.15


def test_a_side_with_more_questions_weighs_no_more() -> None:
    own, foreign = spread(0.52, 0.06, 400), spread(0.32, 0.06, 100, seed=2)
    assert fit_relevance(own, foreign, DEFAULT).midpoint == pytest.approx(0.42, abs=0.02)


def test_signals_far_apart_make_no_wall() -> None:
    fitted = fit_relevance([0.9] * 200, [0.1] * 200, DEFAULT)
    assert fitted.slope <= 2.1 * DEFAULT.slope
    assert 0.2 < fitted.midpoint < 0.5


def test_few_questions_move_the_map_little() -> None:
    own, foreign = spread(0.60, 0.05, 300), spread(0.36, 0.05, 300, seed=2)
    few = fit_relevance(own[:3], foreign[:3], DEFAULT)
    many = fit_relevance(own, foreign, DEFAULT)
    assert abs(few.midpoint - 0.33) < abs(many.midpoint - 0.33)
    assert abs(few.midpoint - 0.33) < 0.09
    assert few.slope == pytest.approx(20.0, rel=0.25)


def test_a_book_that_knows_everything_gets_a_map_within_bounds() -> None:
    fitted = fit_relevance(spread(1.2, 0.1, 200), spread(0.9, 0.1, 200), DEFAULT)
    assert fitted.midpoint <= 0.33 + 0.15 + 1e-9


def test_a_map_that_was_guessed_is_moved_as_far_as_the_questions_speak_for() -> None:
    own, foreign = spread(0.86, 0.03, 60), spread(0.74, 0.03, 60, seed=2)
    fitted = fit_relevance(own, foreign, DEFAULT, GUESSED)
    assert fitted.midpoint == pytest.approx(0.80, abs=0.02)
    assert fitted(0.86) > 0.85
    assert fitted(0.74) < 0.15


def test_without_questions_the_default_stays() -> None:
    assert fit_relevance([], [0.1], DEFAULT) == DEFAULT
    assert fit_relevance([0.9], [], DEFAULT) == DEFAULT


def threshold(
    own: list[float], others: list[float], *, rate: float = 0.05, prior: int = 0
) -> float:
    return fit_threshold(own, others, rate, default=0.4, prior=prior)


def test_the_threshold_answers_just_the_stated_share_of_the_unanswerable() -> None:
    others = [n / 1000 for n in range(200, 600)]
    fitted = threshold([0.95] * 100, others)
    assert sum(score >= fitted for score in others) == 20
    looser = threshold([0.95] * 100, others, rate=0.2)
    assert sum(score >= looser for score in others) == 80


def test_few_unanswerable_questions_leave_the_threshold_near_the_default() -> None:
    few = threshold([0.95] * 10, [0.8] * 10, prior=40)
    many = threshold([0.95] * 10, [0.8] * 400, prior=40)
    assert few == pytest.approx(0.48, abs=0.001)
    assert many > 0.75
    assert threshold([], [], prior=40) == 0.4
    assert threshold([], []) == 0.2  # nothing speaks at all: the least there is


def test_a_book_is_never_muted() -> None:
    own = [0.5, 0.6, 0.7, 0.8]
    fitted = threshold(own, [0.99] * 400)
    assert sum(score >= fitted for score in own) == 3
    assert threshold([0.3, 0.1], [0.99] * 400) == 0.4  # nothing to keep: as it was
    assert threshold([0.99] * 50, [0.98] * 400) == 0.9
    assert threshold([0.99] * 50, [0.0] * 400) == 0.2


def test_the_curve_falls_from_all_to_nothing_and_counts_no_refusal_by_retrieval() -> None:
    curve = risk_curve([0.9, 0.5, 0.0, 1.0], [0.4, 0.0])
    assert (curve[0].threshold, curve[0].answered, curve[0].false_answers) == (0.0, 0.75, 0.5)
    assert (curve[-1].threshold, curve[-1].answered, curve[-1].false_answers) == (1.0, 0.25, 0.0)
    assert [p.answered for p in curve] == sorted((p.answered for p in curve), reverse=True)


FIT = Calibration(
    "g1", "model", "judge", 0.05, DEFAULT, 0.55, 4, 4, risk_curve([0.9, 0.7], [0.6, 0.3])
)


def test_the_plot_is_a_picture_that_needs_nothing_else() -> None:
    plot = risk_plot("Salt & <Sand>", FIT)
    root = ET.fromstring(plot)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Salt & <Sand>: what it answers, and what it should not" in texts
    assert "answers from 0.55" in texts
    assert "5% false answers" in texts
    assert "href" not in plot


def test_the_terminal_names_the_fitted_threshold_once() -> None:
    lines = [line for line in risk_lines(FIT) if line.endswith("<- fitted")]
    assert len(lines) == 1
    assert lines[0].split()[:2] == ["0.55", "100%"]


@pytest.mark.parametrize(
    "wrong", [{"answer_from": 0.0}, {"answer_from": 1.0}, {"false_answer_rate": float("nan")}]
)
def test_a_fit_that_makes_no_sense_cannot_be_made(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        replace(FIT, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("midpoint", "slope"), [(float("inf"), 20.0), (0.3, 0.0), (0.3, -1.0)])
def test_a_map_that_makes_no_sense_cannot_be_made(midpoint: float, slope: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        RelevanceMap(midpoint, slope)


def test_no_map_runs_over() -> None:
    assert RelevanceMap(1e6, 1e6)(0.0) == pytest.approx(0.0)
    assert RelevanceMap(-1e6, 1e6)(0.0) == 1.0
