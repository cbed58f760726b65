import math
import random

import pytest
from evals.report.statistics import (
    compute_auroc_error,
    compute_calibration_error,
    compute_f1,
    compute_f1_error,
    compute_reliability,
    compute_risk_coverage,
    compute_share_error,
)
from hypothesis import given
from hypothesis import strategies as st

from bythebook.evaluate.figures import auroc, percentile, share
from bythebook.evaluate.report import summarise
from bythebook.evaluate.run import QuestionResult, overlaps
from bythebook.evaluate.sets import EvalQuestion, Kind


def test_auroc_is_one_when_told_apart_and_zero_when_reversed() -> None:
    assert auroc([0.8, 0.9], [0.1, 0.2]) == 1.0
    assert auroc([0.1, 0.2], [0.8, 0.9]) == 0.0
    assert auroc([0.5, 0.5], [0.5]) == 0.5


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_auroc_is_the_share_of_pairs_in_order(positives: list[int], negatives: list[int]) -> None:
    pairs = [(p > n) + (p == n) / 2 for p in positives for n in negatives]
    assert auroc(positives, negatives) == pytest.approx(sum(pairs) / len(pairs))


def test_figures_of_nothing_are_not_numbers() -> None:
    assert math.isnan(auroc([], [1.0]))
    assert math.isnan(auroc([1.0], []))
    assert math.isnan(share([]))
    assert math.isnan(percentile([], 50))


def test_the_error_of_an_auroc_is_how_much_it_varies_from_draw_to_draw() -> None:
    draw = random.Random(3)

    def sample() -> tuple[list[float], list[float]]:
        high = [round(draw.gauss(1, 1), 1) for _ in range(60)]
        return high, [round(draw.gauss(0, 1), 1) for _ in range(40)]

    drawn = [sample() for _ in range(400)]
    values = [auroc(*one) for one in drawn]
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    errors = [compute_auroc_error(*one) for one in drawn]
    assert sum(errors) / len(errors) == pytest.approx(spread, rel=0.1)
    assert 0 < compute_auroc_error([1.0] * 20, [0.0] * 30) == compute_share_error([True] * 20)
    assert math.isnan(compute_auroc_error([1.0], [0.0, 0.0]))


def test_the_error_of_a_share_is_binomial_and_never_nothing() -> None:
    assert compute_share_error([True, False] * 50) == pytest.approx(0.05, rel=0.01)
    assert 0 < compute_share_error([True] * 20) < compute_share_error([True] * 5)
    assert math.isnan(compute_share_error([]))


def test_f1_weighs_what_was_missed_and_what_was_flagged_wrongly_alike() -> None:
    truth = [True, True, True, False, False, False]
    assert compute_f1([True, True, False, True, False, False], truth) == pytest.approx(2 / 3)
    assert compute_f1([False] * 6, truth) == 0
    assert compute_f1(truth, truth) == 1
    assert compute_f1_error(truth, truth) == 0
    many = [place % 4 == 0 for place in range(400)]
    half = [place % 8 == 0 for place in range(400)]
    assert 0 < compute_f1_error(half, many) < compute_f1_error(half[:40], many[:40])
    assert compute_f1_error(half, many) == compute_f1_error(half, many)


def test_risk_is_counted_from_the_surest_on_and_equal_scores_go_together() -> None:
    points = compute_risk_coverage([0.2, 0.9, 0.5, 0.5], [False, True, True, False])
    assert [(point.threshold, point.coverage) for point in points] == [
        (0.9, 0.25),
        (0.5, 0.75),
        (0.2, 1.0),
    ]
    assert [point.risk for point in points] == pytest.approx([0, 1 / 3, 1 / 2])
    assert compute_risk_coverage([], []) == ()


def test_probabilities_that_come_true_have_no_calibration_error() -> None:
    calibrated = compute_reliability(
        [0.25] * 4 + [1.0] * 2, [True, False, False, False, True, True]
    )
    assert [(one.examples, one.predicted, one.observed) for one in calibrated] == [
        (4, 0.25, 0.25),
        (2, 1.0, 1.0),
    ]
    assert compute_calibration_error(calibrated) == 0
    overconfident = compute_reliability([0.95] * 3 + [0.05], [True, False, False, False])
    expected = (3 * (0.95 - 1 / 3) + 0.05) / 4
    assert compute_calibration_error(overconfident) == pytest.approx(expected)
    assert math.isnan(compute_calibration_error([]))


def test_shares_and_percentiles_are_counted() -> None:
    assert share([True, True, False, True]) == 0.75
    assert percentile([3, 1, 2], 50) == 2
    assert percentile(list(range(101)), 99) == 99


@pytest.mark.parametrize(
    ("sentence", "gold", "expected"),
    [
        ("A gait is a pattern of steps.", "pattern of steps", True),
        ("a pattern", "A gait is a pattern of steps.", True),
        ("A “gait” — is it?", 'a "gait" is it', True),
        ("A gait is a pattern.", "A gait is no pattern.", False),
        ("It took 100 years.", "10", False),
        ("", "A gait.", False),
        ("A gait.", "…", False),
    ],
)
def test_a_sentence_overlaps_the_gold_by_containing_or_being_in_it(
    sentence: str, gold: str, expected: bool
) -> None:
    assert overlaps(sentence, gold) is expected


def make_result(
    kind: Kind, *, answered: bool, gold: bool = False, ms: float = 1.0
) -> QuestionResult:
    return QuestionResult(
        question=EvalQuestion("q", "test", kind, "What?", reworded=gold),
        answered=answered,
        refusal_type=None if answered else "low_relevance",
        text="four words of text" if answered else "",
        words=4 if answered else 0,
        gold_in_answer=gold,
        gold_in_key=gold,
        gold_first=gold,
        gold_among_three=gold,
        gold_retrieved=gold,
        quotes=2 if answered else 0,
        exact_quotes=1 if answered else 0,
        relevance=0.9 if answered else 0.1,
        cosine=0.5,
        answerable=0.9 if answered else 0.1,
        milliseconds=ms,
    )


def test_a_set_is_summarised_by_kind() -> None:
    figures = summarise(
        [
            make_result("answered", answered=True, gold=True, ms=10),
            make_result("answered", answered=True, ms=20),
            make_result("answered", answered=False),
            make_result("foreign", answered=False, ms=2),
            make_result("look_alike", answered=True, ms=30),
        ]
    )
    assert figures["questions"] == 5
    assert figures["answered: gold quote in the answer"] == pytest.approx(1 / 3)
    assert figures["answered: not refused"] == pytest.approx(2 / 3)
    assert figures["answered, reworded: gold quote in the answer"] == 1
    assert figures["foreign: refused"] == 1
    assert figures["look-alikes: refused"] == 0
    assert figures["foreign: AUROC of relevance"] == pytest.approx(2.5 / 3)
    assert figures["quotes exact"] == 0.5
    assert figures["words in an answer, median"] == 4
    assert figures["milliseconds when answered, median"] == 20


def test_a_kind_that_the_set_does_not_contain_has_no_row() -> None:
    figures = summarise([make_result("foreign", answered=False)])
    assert "answered: not refused" not in figures
    assert "quotes exact" not in figures
    assert figures["foreign: refused"] == 1
