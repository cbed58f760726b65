import pytest

from bythebook.ask.retrieve.relevance import (
    as_the_judge_knows_it,
    is_measured,
    on_scale,
    relevance_map,
)
from bythebook.domain.calibrations import RelevanceMap
from bythebook.errors import WrongEmbedder


def test_relevance_is_a_half_at_the_midpoint_and_rises() -> None:
    to_relevance = RelevanceMap(midpoint=0.4, slope=10)
    assert to_relevance(0.4) == pytest.approx(0.5)
    values = [to_relevance(signal / 20) for signal in range(-20, 40)]
    assert values == sorted(values)
    assert all(0 < value < 1 for value in values)


def test_a_steeper_map_tells_more_apart() -> None:
    assert RelevanceMap(0.4, 20)(0.5) > RelevanceMap(0.4, 5)(0.5)


def test_the_bundled_embedder_has_its_map_by_family_name() -> None:
    bundled = relevance_map("all-MiniLM-L6-v2-int8-1")
    assert bundled == relevance_map("all-MiniLM-L6-v2")
    assert bundled(bundled.midpoint) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "model",
    [
        "cohere/embed-english-v3.0",
        "cohere/embed-multilingual-light-v3.0",
        "openai/text-embedding-3-small@512",
        "openai/text-embedding-ada-002",
        "openai/nomic-embed-text",
    ],
)
def test_embedders_on_the_network_have_guessed_maps(model: str) -> None:
    assert not is_measured(model)
    assert 0.3 < relevance_map(model).midpoint < 0.9
    assert is_measured("all-MiniLM-L6-v2-int8-1")


def test_the_more_special_guess_is_taken_before_that_for_any_server() -> None:
    maps = {relevance_map(f"openai/{name}") for name in ("text-embedding-3-large", "other")}
    assert len(maps) == 2


def test_signals_of_the_same_relevance_look_the_same_to_the_judge() -> None:
    bundled, other = relevance_map("all-MiniLM-L6-v2"), RelevanceMap(midpoint=0.8, slope=40.0)
    for signal in (0.7, 0.8, 0.83, 0.9):
        known = as_the_judge_knows_it(signal, other)
        assert bundled(known) == pytest.approx(other(signal))
    assert as_the_judge_knows_it(0.31, bundled) == pytest.approx(0.31)


@pytest.mark.parametrize("boundary", [0.3, 0.4, 0.5, 0.7])
def test_a_scale_goes_through_its_three_points(boundary: float) -> None:
    assert on_scale(0, boundary) == 0
    assert on_scale(0.5, boundary) == pytest.approx(boundary)
    assert on_scale(1, boundary) == pytest.approx(1)
    assert on_scale(0.25, boundary) == pytest.approx(boundary / 2)
    assert on_scale(0.75, boundary) == pytest.approx((1 + boundary) / 2)


def test_contract_a_shows_the_refusal_boundary_as_three_tenths() -> None:
    assert on_scale(0.375, 0.4) == pytest.approx(0.30)


def test_an_embedder_whose_scores_were_never_measured_is_refused() -> None:
    with pytest.raises(WrongEmbedder, match="some-other-model"):
        relevance_map("some-other-model")
