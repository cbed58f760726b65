"""TeX -> MathML, within bounds; what cannot be converted stays TeX."""

import re
from functools import cache, lru_cache

from math_core import LatexError, LatexToMathML

_MAX_CHARACTERS = 20_000  # of one formula
_MAX_DEPTH = 60  # braces, environments and delimiters inside each other
_MAX_EXPANSIONS = 1_000  # of macros in one formula
_MAX_MATHML = 400_000  # characters
# What books use and the converter does not know, or numbers.
_RENAMED = (
    (re.compile(r"\\cr(?![a-zA-Z])"), r"\\\\"),
    (re.compile(r"\\(begin|end)\{(?:align|alignat|eqnarray|split|flalign)\*?\}"), r"\\\1{aligned}"),
    (re.compile(r"\\(begin|end)\{(?:gather|multline)\*?\}"), r"\\\1{gathered}"),
    (re.compile(r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}"), ""),
    (re.compile(r"\\(?:label|tag\*?)\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])"), ""),
    (re.compile(r"\\(?:mbox|hbox|textnormal)(?![a-zA-Z])"), r"\\text"),
    (re.compile(r"\\widetilde(?![a-zA-Z])"), r"\\tilde"),
)
_TEXT = re.compile(r"\\text(?:rm|bf|it)?\{([^{}]*\$[^{}]*)\}")
_NESTING = re.compile(r"\\[a-zA-Z]+|\\.|[{}]", re.DOTALL)
_OPENING = frozenset({"{", r"\left", r"\begin"})
_CLOSING = frozenset({"}", r"\right", r"\end"})
_CHAINED = re.compile(r"(?:\\[a-zA-Z]+\s*){200}")  # each may be the argument of the one before


@lru_cache(maxsize=4096)
def convert_tex(tex: str, *, display: bool) -> str:
    """Return a formula as MathML; empty if it cannot be converted, or not within bounds."""
    if not tex.strip() or len(tex) > _MAX_CHARACTERS or _is_deep(tex):
        return ""
    try:
        mathml: str = _get_converter().convert_with_local_state(_prepare(tex), displaystyle=display)
    except LatexError:
        return ""
    return mathml if len(mathml) <= _MAX_MATHML else ""


@cache
def _get_converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False, max_expansions=_MAX_EXPANSIONS)


def _prepare(tex: str) -> str:
    """Write a formula in the commands that the converter knows."""
    for pattern, new in _RENAMED:
        tex = pattern.sub(new, tex)
    return _TEXT.sub(_split_text, tex).strip() if "$" in tex else tex.strip()


def _split_text(found: re.Match[str]) -> str:
    r"""Take formulas out of words: \text{if $x$} becomes \text{if }x."""
    parts = found.group(1).split("$")
    return "".join(
        f"{{{part}}}" if is_formula else rf"\text{{{part}}}"
        for is_formula, part in zip([False, True] * len(parts), parts, strict=False)
        if part
    )


def _is_deep(tex: str) -> bool:
    depth = 0
    for sign in _NESTING.findall(tex):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth > _MAX_DEPTH:
            return True
    return _CHAINED.search(tex) is not None
