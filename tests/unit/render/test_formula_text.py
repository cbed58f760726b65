"""Formulas as a line of text, for terminals."""

import pytest

from bythebook.adapters.readers.tex import convert_tex
from bythebook.render import write_formula_text


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\sqrt{3 g L} \approx 7.1", "√(3gL) ≈ 7.1"),
        (r"\cos q_2 = \frac{x^2 - l_1^2}{2 l_1 l_2}", "cos q₂ = (x² − l₁²)/(2l₁l₂)"),
        (r"\sum_{i=1}^{n} x_i^2", "∑ᵢ₌₁ⁿxᵢ²"),
        (r"e^{-t/\tau}", "e^(-t/τ)"),
        (r"\hat{x} \in \mathbb{R}^n", "x\u0302 ∈ ℝⁿ"),
        (r"\text{if } x < 0", "if x < 0"),
        (r"\begin{bmatrix}1 & 2\\3 & 4\end{bmatrix}", "[1 2; 3 4]"),
    ],
)
def test_a_formula_is_written_on_one_line(tex: str, text: str) -> None:
    assert write_formula_text(convert_tex(tex, display=False)) == text


@pytest.mark.parametrize("mathml", ["", "<p>x</p>", f"<math>{'<mi>x</mi>' * 1000}</math>"])
def test_what_is_no_formula_or_too_long_is_left_to_its_source(mathml: str) -> None:
    assert write_formula_text(mathml) == ""
