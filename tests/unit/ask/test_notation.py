"""One spelling for notations that mean the same, in what is searched only."""

import pytest

from bythebook.domain.text.notation import spell_notation


@pytest.mark.parametrize(
    ("spellings", "one"),
    [
        (["ℓ₁", "ℓ1", r"\ell_1", r"\ell_{1}", r"\ell_{ 1 }"], "l1"),
        (["L_1", "L_{1}", "L₁", "L1", r"\mathrm{L}_1"], "L1"),
        (["x²", "x^2", "x^{2}", "𝑥²", r"\mathbf{x}^2"], "x2"),
        (["α_t", "αₜ", r"\alpha_t", r"\alpha_{t}"], "alphat"),
        (["x_{ij}", "x_{i,j}", "x_{i j}"], "xij"),
    ],
)
def test_notations_that_mean_the_same_are_spelled_alike(spellings: list[str], one: str) -> None:
    assert {spell_notation(spelling).strip() for spelling in spellings} == {one}


@pytest.mark.parametrize(
    "text",
    ["my_list_1 is_a /opt/ros_x", "Straße, naïve café, 10^5 and 3 < 4", "λόγος και ήθος", "_x_ __init__"],
)  # fmt: skip
def test_words_and_names_are_left_alone(text: str) -> None:
    assert spell_notation(text) == text
