"""Formulas on a page, each read once: MathML, KaTeX and MathJax render the same formula several times."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from lxml import etree
from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.visible import extract_all_text, get_classes, is_element
from bythebook.adapters.readers.tex import convert_tex

_CONTAINERS = frozenset(
    {"katex", "katex-display", "mwe-math-element", "MathJax", "MathJax_Display"}
)
_RENDERINGS = frozenset({"MathJax", "MathJax_Display", "MathJax_Preview", "MathJax_SVG"})
_DISPLAYED = frozenset({"katex-display", "MathJax_Display", "mwe-math-element-block"})
_RAW = re.compile(r"^\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$)\s*$", re.DOTALL)
_TEX = re.compile(r"[\\^_{}]")
_STYLED = re.compile(r"^\{\\(?:display|text)style\s+(.*)\}$", re.DOTALL)
_MAX_MARKUP = 100_000  # characters of MathML that are kept
_MAX_PARTS = 50_000  # per formula; anything larger is not a formula


@dataclass(frozen=True, slots=True)
class PageFormula:
    """A formula: TeX if the page has it, otherwise its symbols on one line."""

    text: str
    is_tex: bool
    is_block: bool
    drawn: str = ""  # the page's own MathML

    @property
    def mathml(self) -> str:
        """The formula as MathML: from its TeX if possible, otherwise the page's own."""
        found = convert_tex(self.text, display=self.is_block) if self.is_tex else ""
        return found or self.drawn

    @property
    def inline(self) -> str:
        """The formula as written inside a sentence."""
        return f"${self.text}$" if self.is_tex and self.text else self.text


def read_formula(element: Element) -> PageFormula | None:
    """Return the formula of an element, or None if it is not a formula."""
    named = get_classes(element) if "class" in element.attrib else frozenset()
    if element.tag == "script":
        return _read_script(element)
    if element.tag == "img":
        return _read_image(element, named)
    if element.tag in {"math", "mjx-container"} or not _CONTAINERS.isdisjoint(named):
        return _read_rendering(element, named)
    if "math" in named and len(element) == 0 and (raw := _RAW.match(element.text or "")):
        inline, *display = raw.groups()
        text = inline or display[0] or display[1] or ""
        return PageFormula(_collapse_spaces(text), is_tex=True, is_block=inline is None)
    return None


def is_second_rendering(element: Element) -> bool:
    """Return True if MathJax renders a formula here whose TeX is in a script after it."""
    if "class" not in element.attrib or _RENDERINGS.isdisjoint(get_classes(element)):
        return False
    following = islice(element.itersiblings(), 3)  # a preview, the rendering, the script
    return any(
        sibling.tag == "script" and _read_script(sibling) is not None for sibling in following
    )


def _read_script(element: Element) -> PageFormula | None:
    kind = element.get("type") or ""
    if not kind.startswith("math/tex") or not (element.text or "").strip():
        return None
    return PageFormula(
        _collapse_spaces(element.text or ""), is_tex=True, is_block="mode=display" in kind
    )


def _read_image(element: Element, named: frozenset[str]) -> PageFormula | None:
    words = (element.get("alt") or "").strip()
    if not words or not any("math" in name or name in {"tex", "latex"} for name in named):
        return None
    styled = _STYLED.match(words)
    is_block = any("display" in name or name.endswith("-block") for name in named)
    return PageFormula(
        _collapse_spaces(styled.group(1) if styled else words), is_tex=True, is_block=is_block
    )


def _read_rendering(element: Element, named: frozenset[str]) -> PageFormula:
    math = element if element.tag == "math" else next(element.iter("math"), None)
    is_block = not _DISPLAYED.isdisjoint(named) or element.get("display") == "true"
    if math is None:
        image = next(element.iter("img"), None)
        words = (image.get("alt") if image is not None else "") or extract_all_text(element)
        return PageFormula(_collapse_spaces(words), image is not None, is_block)
    is_block = is_block or math.get("display") == "block" or math.get("mode") == "display"
    for annotation in math.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and (annotation.text or "").strip():
            words = (annotation.text or "").strip()
            styled = _STYLED.match(words)
            return PageFormula(
                _collapse_spaces(styled.group(1) if styled else words),
                is_tex=True,
                is_block=is_block,
                drawn=_copy_mathml(math),
            )
    drawn = _copy_mathml(math)
    if line := write_mathml(math):
        return PageFormula(line, is_tex=False, is_block=is_block, drawn=drawn)
    words = math.get("alttext") or ""
    return PageFormula(_collapse_spaces(words), _TEX.search(words) is not None, is_block, drawn)


def _copy_mathml(math: Element) -> str:
    """Return the markup of a formula, for the renderer to clean; empty if it is too large."""
    markup = etree.tostring(math, encoding="unicode", with_tail=False)
    return markup if len(markup) <= _MAX_MARKUP else ""


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def write_mathml(math: Element) -> str:
    """Write MathML without TeX as a line of symbols; rows of equations get a line each."""
    parts = list(_iterate_elements(math))
    if len(parts) > _MAX_PARTS:
        return _collapse_spaces(extract_all_text(math))
    written: dict[Element, str] = {}
    # Children come before their parents, so any nesting depth works.
    for element in reversed(parts):
        children = [written.pop(child) for child in element if child in written]
        written[element] = _write_element(element, children)
    lines = written.get(math, "").split("\n")
    joined = "\n".join(line for line in (_collapse_spaces(line) for line in lines) if line)
    return _remove_extra_spaces(joined)


def _iterate_elements(math: Element) -> Iterator[Element]:
    stack = [math]
    while stack:
        element = stack.pop()
        if is_element(element) and element.tag not in {"annotation", "annotation-xml"}:
            yield element
            stack.extend(element)


def _write_element(element: Element, children: Sequence[str]) -> str:
    name = str(element.tag)
    if name in {"mi", "mn", "mo", "mtext", "ms", "mglyph"}:
        return _write_token(
            name, _collapse_spaces(extract_all_text(element) or element.get("alt") or "")
        )
    if write := _WRITERS.get(name):
        return write(children)
    if name == "mtable":
        is_alone = all(
            len(parent) == 1 for parent in takewhile(_is_inside, element.iterancestors())
        )
        return ("\n" if is_alone else "; ").join(row for row in children if row.strip())
    if name == "mfenced":
        opening, closing = element.get("open", "("), element.get("close", ")")
        return f"{opening}{(element.get('separators', ',')[:1] + ' ').join(children)}{closing}"
    return "".join(children)


def _is_inside(element: Element) -> bool:
    return str(element.tag).startswith("m")


def _write_token(name: str, text: str) -> str:
    if name == "mo" and text in {",", ";"}:
        return f"{text} "
    if name == "mtext":
        return f" {text} "
    is_spaced = text in _SPACED if name == "mo" and len(text) == 1 else text.isalpha()
    return f" {text} " if is_spaced and (name == "mo" or len(text) > 1) else text


_SPACED = "=<>≤≥≠≈≡+−-±×·∈∉⊂⊆∪∩→⇒⇔∧∨∣|"
_SIMPLE = re.compile(r"^\s*[\w.√]*\s*$")
_INDEX = re.compile(r"^\s*(?:\S|\d+)\s*$")
_LEADING_MINUS = re.compile(r"(^|[=(\[{,;:<>≤≥→/^_]\s*)([−-]) (?=[\w(√])", re.MULTILINE)


def _remove_extra_spaces(text: str) -> str:
    return _LEADING_MINUS.sub(r"\1\2", re.sub(r"(?<=[(\[{]) +| +(?=[)\]}])", "", text))


def _parenthesize(text: str) -> str:
    return text.strip() if _SIMPLE.match(text) else f"({text.strip()})"


def _parenthesize_index(text: str) -> str:
    return text.strip() if _INDEX.match(text) else f"({text.strip()})"


def _join_with(sign: str) -> Callable[[Sequence[str]], str]:
    def write(children: Sequence[str]) -> str:
        base, *rest = children or [""]
        return base + "".join(
            f"{sign}{_parenthesize_index(child)}" for child in rest if child.strip()
        )

    return write


def _write_fraction(children: Sequence[str]) -> str:
    return "/".join(_parenthesize(child) for child in children)


def _write_sub_and_superscript(children: Sequence[str]) -> str:
    base, below, above = (*children, "", "", "")[:3]
    return _join_with("^")([_join_with("_")([base, below]), above])


def _write_cells(children: Sequence[str]) -> str:
    """Separate cells by spaces; a minus sign must not look like a separator."""
    return " ".join(_remove_extra_spaces(child.strip()) for child in children if child.strip())


def _write_root(children: Sequence[str]) -> str:
    return f"√{_parenthesize(''.join(children))}"


def _write_nth_root(children: Sequence[str]) -> str:
    radicand, index = (*children, "", "")[:2]
    return f"{index}√{_parenthesize(radicand)}"


_WRITERS: dict[str, Callable[[Sequence[str]], str]] = {
    "mfrac": _write_fraction,
    "msup": _join_with("^"),
    "msub": _join_with("_"),
    "mover": "".join,
    "munder": _join_with("_"),
    "msubsup": _write_sub_and_superscript,
    "munderover": _write_sub_and_superscript,
    "msqrt": _write_root,
    "mroot": _write_nth_root,
    "mtr": _write_cells,
    "mlabeledtr": _write_cells,
    "mspace": lambda _children: " ",
}
