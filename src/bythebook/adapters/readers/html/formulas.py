"""Formulas on a page, each once: MathML, KaTeX and MathJax show the same one twice or thrice."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.visible import all_text, classes, is_element

_CONTAINERS = frozenset(
    {"katex", "katex-display", "mwe-math-element", "MathJax", "MathJax_Display"}
)
_RENDERINGS = frozenset({"MathJax", "MathJax_Display", "MathJax_Preview", "MathJax_SVG"})
_DISPLAYED = frozenset({"katex-display", "MathJax_Display", "mwe-math-element-block"})
_RAW = re.compile(r"^\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$)\s*$", re.DOTALL)
_TEX = re.compile(r"[\\^_{}]")
_STYLED = re.compile(r"^\{\\(?:display|text)style\s+(.*)\}$", re.DOTALL)
_MOST_PARTS = 50_000  # of one formula; more are no formula


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula: TeX where the page has it, else its signs in a line."""

    text: str
    is_tex: bool
    is_block: bool

    @property
    def inline(self) -> str:
        """How it stands within a sentence."""
        return f"${self.text}$" if self.is_tex and self.text else self.text


def formula_at(element: Element) -> Formula | None:
    """Give the formula that an element is, or none if it is no formula."""
    named = classes(element) if "class" in element.attrib else frozenset()
    if element.tag == "script":
        return _script(element)
    if element.tag == "img":
        return _image(element, named)
    if element.tag in {"math", "mjx-container"} or not _CONTAINERS.isdisjoint(named):
        return _rendered(element, named)
    if "math" in named and len(element) == 0 and (raw := _RAW.match(element.text or "")):
        inline, *display = raw.groups()
        text = inline or display[0] or display[1] or ""
        return Formula(_one_line(text), is_tex=True, is_block=inline is None)
    return None


def is_second_rendering(element: Element) -> bool:
    """Say whether MathJax shows here what a script after it holds as TeX."""
    if "class" not in element.attrib or _RENDERINGS.isdisjoint(classes(element)):
        return False
    following = islice(element.itersiblings(), 3)  # a preview, the rendering, the script
    return any(sibling.tag == "script" and _script(sibling) is not None for sibling in following)


def _script(element: Element) -> Formula | None:
    kind = element.get("type") or ""
    if not kind.startswith("math/tex") or not (element.text or "").strip():
        return None
    return Formula(_one_line(element.text or ""), is_tex=True, is_block="mode=display" in kind)


def _image(element: Element, named: frozenset[str]) -> Formula | None:
    words = (element.get("alt") or "").strip()
    if not words or not any("math" in name or name in {"tex", "latex"} for name in named):
        return None
    styled = _STYLED.match(words)
    is_block = any("display" in name or name.endswith("-block") for name in named)
    return Formula(_one_line(styled.group(1) if styled else words), is_tex=True, is_block=is_block)


def _rendered(element: Element, named: frozenset[str]) -> Formula:
    math = element if element.tag == "math" else next(element.iter("math"), None)
    is_block = not _DISPLAYED.isdisjoint(named) or element.get("display") == "true"
    if math is None:
        image = next(element.iter("img"), None)
        words = (image.get("alt") if image is not None else "") or all_text(element)
        return Formula(_one_line(words), image is not None, is_block)
    is_block = is_block or math.get("display") == "block" or math.get("mode") == "display"
    for annotation in math.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and (annotation.text or "").strip():
            words = (annotation.text or "").strip()
            styled = _STYLED.match(words)
            return Formula(
                _one_line(styled.group(1) if styled else words), is_tex=True, is_block=is_block
            )
    if line := in_a_line(math):
        return Formula(line, is_tex=False, is_block=is_block)
    words = math.get("alttext") or ""
    return Formula(_one_line(words), _TEX.search(words) is not None, is_block)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def in_a_line(math: Element) -> str:
    """Write MathML without TeX as a line of signs; rows of equations get a line each."""
    parts = list(_seen(math))
    if len(parts) > _MOST_PARTS:
        return _one_line(all_text(math))
    written: dict[Element, str] = {}
    # Children come before their parents, and no depth of nesting is too much.
    for element in reversed(parts):
        children = [written.pop(child) for child in element if child in written]
        written[element] = _write(element, children)
    lines = written.get(math, "").split("\n")
    joined = "\n".join(line for line in (_one_line(line) for line in lines) if line)
    return _tight(joined)


def _seen(math: Element) -> Iterator[Element]:
    stack = [math]
    while stack:
        element = stack.pop()
        if is_element(element) and element.tag not in {"annotation", "annotation-xml"}:
            yield element
            stack.extend(element)


def _write(element: Element, children: Sequence[str]) -> str:
    name = str(element.tag)
    if name in {"mi", "mn", "mo", "mtext", "ms", "mglyph"}:
        return _sign(name, _one_line(all_text(element) or element.get("alt") or ""))
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


def _sign(name: str, text: str) -> str:
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


def _tight(text: str) -> str:
    return _LEADING_MINUS.sub(r"\1\2", re.sub(r"(?<=[(\[{]) +| +(?=[)\]}])", "", text))


def _group(text: str) -> str:
    return text.strip() if _SIMPLE.match(text) else f"({text.strip()})"


def _index(text: str) -> str:
    return text.strip() if _INDEX.match(text) else f"({text.strip()})"


def _joined(sign: str) -> Callable[[Sequence[str]], str]:
    def write(children: Sequence[str]) -> str:
        base, *rest = children or [""]
        return base + "".join(f"{sign}{_index(child)}" for child in rest if child.strip())

    return write


def _fraction(children: Sequence[str]) -> str:
    return "/".join(_group(child) for child in children)


def _both(children: Sequence[str]) -> str:
    base, below, above = (*children, "", "", "")[:3]
    return _joined("^")([_joined("_")([base, below]), above])


def _cells(children: Sequence[str]) -> str:
    """Part cells by spaces; a minus must not seem to part them too."""
    return " ".join(_tight(child.strip()) for child in children if child.strip())


def _root(children: Sequence[str]) -> str:
    return f"√{_group(''.join(children))}"


def _nth_root(children: Sequence[str]) -> str:
    radicand, index = (*children, "", "")[:2]
    return f"{index}√{_group(radicand)}"


_WRITERS: dict[str, Callable[[Sequence[str]], str]] = {
    "mfrac": _fraction,
    "msup": _joined("^"),
    "msub": _joined("_"),
    "mover": "".join,
    "munder": _joined("_"),
    "msubsup": _both,
    "munderover": _both,
    "msqrt": _root,
    "mroot": _nth_root,
    "mtr": _cells,
    "mlabeledtr": _cells,
    "mspace": lambda _children: " ",
}
