"""MathML -> one line of plain text, for places that draw no formulas: \\sqrt{3gL} becomes √(3gL)."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from lxml import etree, html

_SUBSCRIPTS = str.maketrans("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_SUPERSCRIPTS = str.maketrans("0123456789+-=()nijTxyabk", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵀˣʸᵃᵇᵏ")
_SPACED = frozenset("=≠≈≡≤≥<>∼≃∝∈∉⊂⊆∪∩→←↔⇒⇔↦+−±×⋅∧∨:")
_APPLIED = re.compile("\u2061(?=(\\()?)")  # unseen, between a function and what it applies to
_ACCENTS = dict(zip("ˆ^¯‾~˜→˙", "\u0302\u0302\u0304\u0304\u0303\u0303\u20d7\u0307", strict=True))
_LONGEST = 4000  # characters of MathML; what is longer is shown as its source


@lru_cache(maxsize=1024)
def write_formula_text(mathml: str) -> str:
    """Write a formula on one line; an empty string if it cannot be read."""
    if not mathml.startswith("<math") or len(mathml) > _LONGEST:
        return ""
    try:
        tree = html.fragment_fromstring(mathml)
    except (etree.ParserError, etree.XMLSyntaxError):
        return ""
    applied = _APPLIED.sub(lambda found: "" if found[1] else " ", _write(tree))
    return " ".join(applied.split())


def _write(node: html.HtmlElement) -> str:
    if not isinstance(node.tag, str) or node.tag in {"annotation", "annotation-xml"}:
        return ""
    if writer := _WRITERS.get(node.tag):
        return writer([_write(child) for child in node])
    text = "" if len(node) else (node.text or "")
    text = text if node.tag == "mtext" else text.strip()
    if node.tag == "mo" and text in _SPACED:
        return f" {text} "
    if node.tag == "mspace":
        return " "
    return text + "".join(_write(child) for child in node)


def _group(text: str) -> str:
    """Put a part in brackets if it has more than one sign."""
    text = text.strip()
    is_one = len(text) < 2 or text.replace(".", "").isdecimal()
    return text if is_one else f"({text})"


def _script(text: str, table: Mapping[int, int], sign: str) -> str:
    text = text.replace(" ", "").replace("−", "-")
    small = text.translate(table)
    is_small = all(one not in text for one in small)
    return small if is_small else f"{sign}{_group(text)}"


def _write_fraction(parts: list[str]) -> str:
    return "/".join(map(_group, parts))


def _write_root(parts: list[str]) -> str:
    return f"{_script(parts[1], _SUPERSCRIPTS, '^')}√{_group(parts[0])}" if parts[1:] else "√"


def _write_lowered(parts: list[str]) -> str:
    return parts[0].strip() + "".join(_script(one, _SUBSCRIPTS, "_") for one in parts[1:2])


def _write_raised(parts: list[str]) -> str:
    return parts[0].strip() + "".join(_script(one, _SUPERSCRIPTS, "^") for one in parts[1:2])


def _write_both(parts: list[str]) -> str:
    return _write_lowered(parts) + "".join(_script(one, _SUPERSCRIPTS, "^") for one in parts[2:3])


def _write_over(parts: list[str]) -> str:
    accent = _ACCENTS.get(parts[1].strip()) if parts[1:] else None
    return parts[0].strip() + accent if accent else _write_raised(parts)


_WRITERS: Mapping[str, Callable[[list[str]], str]] = {
    "mfrac": _write_fraction,
    "msqrt": lambda parts: f"√{_group(''.join(parts))}",
    "mroot": _write_root,
    "msub": _write_lowered,
    "munder": _write_lowered,
    "msup": _write_raised,
    "mover": _write_over,
    "msubsup": _write_both,
    "munderover": _write_both,
    "mtr": "  ".join,
    "mtable": "; ".join,
}
