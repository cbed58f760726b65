"""Formulas: TeX of real books becomes MathML; bombs stay TeX, at once."""

import pytest

from bythebook.adapters.readers.tex import convert_tex

BOMBS = {
    "macros that double each other": r"\newcommand{\aa}{xx}"
    + "".join(
        rf"\newcommand{{\{chr(98 + n) * 2}}}{{\{chr(97 + n) * 2}\{chr(97 + n) * 2}}}"
        for n in range(24)
    )
    + r"\yy",
    "a macro that calls itself": r"\newcommand{\aa}{\aa\aa}\aa",
    "a megabyte": "a" * 1_000_000,
    "braces": "{" * 5_000 + "x" + "}" * 5_000,
    "delimiters": r"\left(" * 3_000 + "x" + r"\right)" * 3_000,
    "roots": r"\sqrt " * 3_000 + "x",
    "environments": r"\begin{matrix}" * 2_000 + r"\end{matrix}" * 2_000,
    "an unknown command": r"\nonsense{x}",
    "a link": r"\href{javascript:alert(1)}{x}",
    "nothing": "  ",
}


@pytest.mark.parametrize(
    "tex",
    [
        r"\ell_1 + \|x\|_2^2",
        r"\begin{bmatrix} a & b \cr c & d \end{bmatrix}",
        r"\begin{align*} a &= b \\ c &= d \label{eq:x} \end{align*}",
        r"\begin{aligned}\begin{split} a &= b \end{split}\end{aligned}",
        r"\text{if $x > 0$ then} \quad \mbox{else } \widetilde R",
        r"\mathbb{E}[X] = \sum_{i=1}^n \frac{x_i}{n} \tag{1}",
    ],
)
@pytest.mark.parametrize("display", [True, False])
def test_what_books_write_is_converted(tex: str, display: bool) -> None:
    mathml = convert_tex(tex, display=display)
    assert mathml.startswith("<math")
    assert "merror" not in mathml
    assert "(1)" not in mathml  # numbers are the book's own business


@pytest.mark.parametrize("tex", BOMBS.values(), ids=BOMBS)
def test_a_bomb_stays_tex(tex: str) -> None:
    assert convert_tex(tex, display=True) == ""


def test_words_of_a_formula_are_words() -> None:
    assert "<script" not in convert_tex(r"\text{<script>alert(1)</script>}", display=False)
