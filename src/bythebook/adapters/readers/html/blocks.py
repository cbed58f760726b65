"""Elements -> plain text with typed blocks at exact offsets, as a person sees them."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.code import code_language, code_text, line_numbers
from bythebook.adapters.readers.html.flow import Flow
from bythebook.adapters.readers.html.formulas import formula_at, is_second_rendering
from bythebook.adapters.readers.html.layout import (
    HEADINGS,
    is_caption,
    is_data_table,
    is_short_glossary,
    is_verse,
)
from bythebook.adapters.readers.html.parse import parse_html
from bythebook.adapters.readers.html.visible import (
    drawing_text,
    is_element,
    is_line_number,
    is_only_heard,
    is_page_number,
    is_permalink,
    is_unseen,
    visible_text,
)
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.books import Link

__all__ = ["LinkTo", "add_blocks", "parse_html", "split_blocks", "visible_text"]

LinkTo = Callable[[str], Link | None]

_BLOCKS = frozenset(
    """address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav
    ol p pre search section summary table tbody td tfoot th thead tr ul""".split()
)
_CONTROLS = frozenset({"button", "select", "textarea", "progress", "meter"})


def add_blocks(plain: PlainText, root: Element, *, link: LinkTo) -> None:
    """Append what a person sees of an element, as typed blocks."""
    _Walk(Flow(plain, root), link).element(root)


def split_blocks(root: Element, cuts: Collection[str], *, link: LinkTo) -> dict[str, PlainText]:
    """Read an element as several texts: a new one begins where an id among the cuts stands."""
    flow = Flow(PlainText(), root, frozenset(cuts))
    _Walk(flow, link).element(root)
    return flow.pieces


class _Walk:
    """One pass over a tree, without recursion."""

    def __init__(self, flow: Flow, link: LinkTo) -> None:
        self.flow = flow
        self.link = link
        # Each says whether to go on into the element.
        self.openers: dict[str, Callable[[Element], bool]] = {
            **dict.fromkeys(HEADINGS, self._heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._list),
            **dict.fromkeys(("td", "th"), self._cell),
            **dict.fromkeys(("caption", "figcaption"), self._caption),
            **dict.fromkeys(("div", "section", "blockquote", "p"), self._division),
            "dl": self._glossary,
            "dd": self._definition,
            "table": self._table,
            "pre": self._code,
            "br": self._break,
            "img": self._image,
            "svg": self._drawing,
            "a": self._link,
            "rt": self._reading,
            "sup": self._raised,
            "case": lambda element: next(element.iter("math"), None) is not None,
            "default": self._fallback,
        }

    def element(self, root: Element) -> None:
        """Walk an element and all in it."""
        stack: list[tuple[Element, Iterator[Element]]] = []
        if self._open(root):
            self.flow.say(root.text)
            stack.append((root, iter(root)))
        while stack:
            element, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._close(element)
                self.flow.say(element.tail if stack else None)
            elif self._open(child):
                self.flow.say(child.text)
                stack.append((child, iter(child)))
            else:
                self.flow.say(child.tail)
        self.flow.part()

    def _open(self, element: Element) -> bool:
        """Begin an element; false if what is in it was dealt with."""
        if not is_element(element) or self._left_out(element):
            return False
        self._name(element)
        formula = formula_at(element)
        if formula is not None:
            self.flow.formula(formula.text, formula.inline, is_block=formula.is_block)
            return False
        if element.tag in _BLOCKS:
            self.flow.end_block()
        if element.get("role") == "heading":
            return self._heading(element)
        opener = self.openers.get(str(element.tag))
        return opener(element) if opener else True

    def _left_out(self, element: Element) -> bool:
        if is_unseen(element):
            return formula_at(element) is None
        if is_second_rendering(element):
            return True
        if is_line_number(element) or is_page_number(element):
            self._name(element)
            self.flow.plain.leave_out("page number", visible_text(element))
            return True
        is_control = element.tag in _CONTROLS and element.get("role") != "tab"
        if (is_control and self.flow.frame.kind != "heading") or is_only_heard(element):
            self.flow.plain.leave_out("navigation", visible_text(element))
            return True
        return False

    def _close(self, element: Element) -> None:
        flow = self.flow
        if element.tag in _BLOCKS:
            flow.end_block()
        if element.tag == "rt":
            flow.runs.append(")")
        elif element.tag == "tr" and flow.frame.kind == "table":
            flow.end_row()
        elif element.tag == "dd" and flow.frame.term:
            flow.frame.lines.append(flow.frame.term)
            flow.frame.term = ""
        if flow.frame.element is element and len(flow.frames) > 1:
            flow.close_frame()

    def _name(self, element: Element) -> None:
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name:
            self.flow.name(name)

    def _name_all_in(self, element: Element) -> None:
        for inner in element.iterdescendants():
            if is_element(inner):
                self._name(inner)

    def _heading(self, element: Element) -> bool:
        if not self.flow.is_line:
            level = HEADINGS.get(str(element.tag)) or _level(element.get("aria-level"))
            self.flow.open_frame(element, "heading", level=level)
        return True

    def _list(self, element: Element) -> bool:
        if self.flow.frame.kind in {"paragraph", "caption"}:
            self.flow.open_frame(element, "list")
        return True

    def _glossary(self, element: Element) -> bool:
        return self._list(element) if is_short_glossary(element) else True

    def _definition(self, element: Element) -> bool:
        """Put a term and what it means in one line."""
        frame, before = self.flow.frame, element.getprevious()
        if frame.kind == "list" and frame.element.tag == "dl" and frame.lines:
            frame.term = frame.lines.pop() if before is not None and before.tag == "dt" else ""
        return True

    def _table(self, element: Element) -> bool:
        if not self.flow.is_line and is_data_table(element):
            self.flow.open_frame(element, "table")
        return True

    def _cell(self, element: Element) -> bool:
        if self.flow.frame.kind == "table":
            self.flow.open_frame(element, "cell")
        return True

    def _caption(self, element: Element) -> bool:
        if not self.flow.is_line:
            self.flow.open_frame(element, "caption")
        return True

    def _division(self, element: Element) -> bool:
        if self.flow.frame.kind == "paragraph":
            if is_caption(element):
                self.flow.open_frame(element, "caption")
            elif is_verse(element):
                self.flow.open_frame(element, "verse")
        return True

    def _code(self, element: Element) -> bool:
        if self.flow.is_line:
            return True
        self._name_all_in(element)
        self.flow.part()
        self.flow.plain.leave_out("page number", line_numbers(element))
        self.flow.plain.add("code", code_text(element), language=code_language(element))
        self.flow.near = None
        return False

    def _break(self, _element: Element) -> bool:
        is_kept = self.flow.frame.kind in {"paragraph", "caption", "verse"}
        self.flow.runs.append("\n" if is_kept else " ")
        return True

    def _image(self, element: Element) -> bool:
        self.flow.show(element.get("alt") or "")
        return False

    def _drawing(self, element: Element) -> bool:
        self._name_all_in(element)
        self.flow.show(drawing_text(element))
        return False

    def _link(self, element: Element) -> bool:
        if is_permalink(element, in_heading=self.flow.frame.kind == "heading"):
            return False
        href = element.get("href")
        if href and (found := self.link(href)) is not None:
            self.flow.plain.links.append(found)
        return True

    def _reading(self, _element: Element) -> bool:
        self.flow.runs.append("(")
        return True

    def _raised(self, element: Element) -> bool:
        digits = re.fullmatch(r"\s*[-+−]?\d+\s*", element.text or "")
        if digits and len(element) == 0 and "".join(self.flow.runs[-1:])[-1:].isdigit():
            self.flow.runs.append("^")  # 10<sup>6</sup> is not 106
        return True

    def _fallback(self, element: Element) -> bool:
        """Go into what a switch shows where its formula cannot be shown."""
        cases = islice(element.itersiblings("case", preceding=True), 10)
        return all(next(case.iter("math"), None) is None for case in cases)


def _level(text: str | None) -> int:
    return int(text) if text in {"1", "2", "3", "4", "5", "6"} else 2
