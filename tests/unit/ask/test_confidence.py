import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.unit.fakes import FakeIndex, UntouchableIndex, make_chunk

from bythebook.ask.read.confidence import (
    DIGITS,
    confidence_metrics,
    diversity,
    keep_near,
    measure_confidence,
    merge_duplicates,
    similarities,
)
from bythebook.ask.read.verdict import CLEAR_FROM, SURE_FROM
from bythebook.ask.retrieve.passages import selection_passage
from bythebook.domain.answers import NOTHING_READ, Answered, Judgement, Outcome, Passage, Refused
from bythebook.ports import Vectors

SELECTION = selection_passage("The cook baked bread. He sold it.")
RELEVANCES = st.lists(st.floats(0, 1), max_size=10)


def passages(*relevances: float) -> tuple[Passage, ...]:
    """Make passages of different texts."""
    return tuple(
        Passage(make_chunk(f"Step {number}.", char_start=number), relevance)
        for number, relevance in enumerate(relevances)
    )


def similar(*scores: float) -> tuple[Passage, ...]:
    """Make passages that have these scores on the contract's scale."""
    return passages(*(s / 1.4 if s < 0.7 else 0.5 + (s - 0.7) / 0.6 for s in scores))


def make_answered(given: Sequence[Passage], answerable: float = 0.9) -> Answered:
    judgement = Judgement(answerable, (answerable,) * len(given), ())
    return Answered((), tuple(given), judgement, None, "standard_rag", {})


def make_refused(given: Sequence[Passage]) -> Refused:
    return Refused("insufficient_grounding", (), tuple(given), NOTHING_READ, "standard_rag", {})


# Similarities


@given(RELEVANCES, st.booleans())
def test_the_average_lies_between_the_least_and_the_most(values: list[float], ends: bool) -> None:
    outcome: Outcome = (make_answered if ends else make_refused)(passages(*values))
    metrics = confidence_metrics(outcome, None)
    assert 0 <= metrics.min_similarity <= metrics.average_similarity <= metrics.max_similarity <= 1
    assert metrics.num_chunks == len(values)


@pytest.mark.parametrize("relevance", [0.1, 0.3, 0.55, 0.7000000000000001, 0.99])
@pytest.mark.parametrize("count", [3, 6, 7, 10])
def test_equal_scores_have_themselves_for_average(relevance: float, count: int) -> None:
    metrics = confidence_metrics(make_answered(passages(*[relevance] * count)), None)
    assert metrics.min_similarity == metrics.average_similarity == metrics.max_similarity


def test_the_average_is_the_mean_on_the_contracts_scale() -> None:
    metrics = confidence_metrics(make_answered(similar(0.9, 0.8, 0.4)), None)
    assert metrics.average_similarity == pytest.approx(0.7)
    assert metrics.min_similarity == pytest.approx(0.4)
    assert metrics.max_similarity == pytest.approx(0.9)


def test_nothing_retrieved_is_all_zero() -> None:
    metrics = confidence_metrics(make_refused(()), None)
    assert metrics.average_similarity == metrics.min_similarity == metrics.max_similarity == 0
    assert metrics.num_chunks == metrics.chunk_diversity == 0
    assert metrics.confidence_level == "insufficient"
    assert metrics.should_answer is False


@given(RELEVANCES, st.floats(0, 1))
def test_thresholds_go_by_the_scores_that_are_shown(values: list[float], least: float) -> None:
    given = passages(*values)
    scores = similarities(given)
    metrics = confidence_metrics(make_answered(given), None)
    assert [round(score, DIGITS) for score in scores] == scores
    assert round(metrics.average_similarity, DIGITS) == metrics.average_similarity
    assert len(keep_near(given, least)) == sum(score >= least for score in scores)


# Levels


@pytest.mark.parametrize(
    ("chance", "level"),
    [
        (CLEAR_FROM, "high"),
        (CLEAR_FROM - 0.01, "medium"),
        (SURE_FROM, "medium"),
        (SURE_FROM - 0.01, "low"),
        (0.0, "low"),
    ],
)
@pytest.mark.parametrize("found", [similar(0.95, 0.95), similar(0.2), [SELECTION]])
def test_the_level_of_an_answer_is_its_chance_of_being_right_however_near_its_passages(
    found: list[Passage], chance: float, level: str
) -> None:
    assert confidence_metrics(make_answered(found, chance), None).confidence_level == level


@given(RELEVANCES)
def test_only_what_is_answered_should_be(values: list[float]) -> None:
    yes, no = make_answered(passages(*values)), make_refused(passages(*values))
    assert confidence_metrics(yes, None).should_answer is True
    assert confidence_metrics(yes, None).confidence_level != "insufficient"
    assert confidence_metrics(no, None).should_answer is False
    assert confidence_metrics(no, None).confidence_level == "insufficient"


def test_a_selection_is_one_source_that_is_wholly_similar() -> None:
    metrics = confidence_metrics(make_answered([SELECTION], 0.9), None)
    assert metrics.average_similarity == metrics.min_similarity == metrics.max_similarity == 1.0
    assert (metrics.num_chunks, metrics.chunk_diversity) == (1, 0.0)


def test_a_selection_that_does_not_answer_is_insufficient() -> None:
    assert confidence_metrics(make_refused([SELECTION]), None).confidence_level == "insufficient"


# Duplicates


def test_one_text_counts_once_by_its_best_passage() -> None:
    twice = [Passage(make_chunk("Same.", book_id=name), r) for name, r in (("a", 0.6), ("b", 0.9))]
    given = (*passages(0.8), *twice)
    assert merge_duplicates(given) == (given[0], given[2])
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    metrics = confidence_metrics(make_answered(given), vectors)
    assert metrics.num_chunks == 2
    assert metrics.max_similarity == similarities(given[2:])[0]
    assert metrics.chunk_diversity == pytest.approx(1.0)  # between the first and the third


# Diversity


def test_alike_chunks_are_not_diverse_and_unlike_ones_are() -> None:
    assert diversity(np.ones((4, 3), np.float32)) == pytest.approx(0.0, abs=1e-6)
    assert diversity(np.eye(4, dtype=np.float32)) == pytest.approx(1.0)
    half = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert diversity(half) == pytest.approx(2 / 3)


def test_diversity_does_not_depend_on_length() -> None:
    vectors = np.array([[1, 0.5], [0.2, 1]], np.float32)
    assert diversity(vectors) == pytest.approx(
        diversity(vectors * np.array([[3], [7]], np.float32))
    )


def test_a_chunk_whose_vector_is_gone_says_nothing_about_diversity() -> None:
    rows = np.array([[1, 0], [0, 0], [0, 1]], np.float32)
    assert diversity(rows) == pytest.approx(1.0)
    assert diversity(rows[:2]) == 0.0
    assert diversity(np.zeros((3, 0), np.float32)) == 0.0


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 8), st.integers(1, 5)),
        elements=st.floats(-10, 10, width=32),
    )
)
def test_diversity_lies_between_zero_and_one(vectors: Vectors) -> None:
    value = diversity(vectors)
    assert 0.0 <= value <= 1.0
    assert len(vectors) > 1 or value == 0.0


# Where the vectors come from


def test_vectors_are_read_for_the_passages_of_the_outcome() -> None:
    metrics = asyncio.run(measure_confidence(make_answered(passages(0.9, 0.8)), FakeIndex()))
    assert metrics.chunk_diversity == pytest.approx(1.0)


@pytest.mark.parametrize("given", [(), (SELECTION,), passages(0.9)])
def test_no_index_is_asked_where_there_are_no_pairs(given: tuple[Passage, ...]) -> None:
    metrics = asyncio.run(measure_confidence(make_answered(given), UntouchableIndex()))
    assert metrics.chunk_diversity == 0.0


# The least similarity


def test_without_a_least_similarity_all_passages_stay() -> None:
    given = passages(0.9, 0.0)
    assert keep_near(given, None) == given


@given(RELEVANCES, st.floats(0, 1))
def test_passages_below_the_least_similarity_go(values: list[float], least: float) -> None:
    given = passages(*values)
    kept = keep_near(given, least)
    assert [one for one in given if one in kept] == list(kept)
    assert all(score >= least for score in similarities(kept))
    assert all(score < least for score in similarities([one for one in given if one not in kept]))


def test_a_selection_is_always_similar_enough() -> None:
    assert keep_near([SELECTION], 1.0) == (SELECTION,)
