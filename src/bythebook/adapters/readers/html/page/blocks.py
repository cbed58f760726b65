"""Convert elements to plain text with typed blocks at exact offsets, as a person sees them."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.code import find_language, read_code, read_line_numbers
from bythebook.adapters.readers.html.page.element_roles import (
    HEADINGS,
    is_caption,
    is_data_table,
    is_short_glossary,
    is_verse,
)
from bythebook.adapters.readers.html.page.flow import Flow
from bythebook.adapters.readers.html.page.formulas import is_second_rendering, read_formula
from bythebook.adapters.readers.html.page.list_places import ListPlace
from bythebook.adapters.readers.html.page.set_off import SetOffBlocks
from bythebook.adapters.readers.html.page.tags import BLOCK_TAGS, INLINE_STYLES
from bythebook.adapters.readers.html.page.visible import (
    extract_drawing_text,
    extract_visible_text,
    find_image_target,
    is_element,
    is_for_screen_readers,
    is_hidden,
    is_line_number,
    is_page_number,
    is_permalink,
)
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichText
from bythebook.domain.marks import Style

_BLOCKS = BLOCK_TAGS | frozenset(
    "body caption center dialog dir fieldset hgroup html legend menu search".split()
)
_CONTROLS = frozenset({"button", "select", "textarea", "progress", "meter"})


def add_blocks(plain: PlainText, root: Element, *, targets: PageTargets) -> None:
    """Append the visible content of an element as typed blocks."""
    _BlockWalker(Flow(plain, root), targets).walk(root)


def split_blocks(
    root: Element, cuts: Collection[str], *, targets: PageTargets
) -> dict[str, PlainText]:
    """Read an element as several texts; a new one starts at each id in `cuts`."""
    flow = Flow(PlainText(), root, frozenset(cuts))
    _BlockWalker(flow, targets).walk(root)
    return flow.texts


class _BlockWalker:
    """One pass over a tree, without recursion."""

    def __init__(self, flow: Flow, targets: PageTargets) -> None:
        self.flow = flow
        self.targets = targets
        self.lists: list[ListPlace] = []  # open lists inside the block that collects their lines
        self.set_off = SetOffBlocks(flow)
        # Each opener returns True if the walk continues inside the element.
        self.openers: dict[str, Callable[[Element], bool]] = {
            **dict.fromkeys(HEADINGS, self._open_heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._open_list),
            **dict.fromkeys(("td", "th"), self._open_cell),
            **dict.fromkeys(("caption", "figcaption"), self._open_caption),
            **dict.fromkeys(("div", "section", "blockquote", "p"), self._open_division),
            "dl": self._open_glossary,
            "dd": self._open_definition,
            "table": self._open_table,
            "pre": self._add_code,
            "br": self._add_line_break,
            "img": self._add_image,
            "svg": self._add_drawing,
            "a": self._open_link,
            "li": self._open_item,
            "dt": self._open_item,
            **dict.fromkeys(INLINE_STYLES, self._open_style),
            "rt": self._open_ruby_text,
            "case": lambda element: next(element.iter("math"), None) is not None,
            "default": self._open_fallback,
        }

    def walk(self, root: Element) -> None:
        """Walk an element and everything inside it."""
        stack: list[tuple[Element, Iterator[Element]]] = []
        if self._open(root):
            self.flow.add_text(root.text)
            stack.append((root, iter(root)))
        while stack:
            element, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._close(element)
                self.flow.add_text(element.tail if stack else None)
            elif self._open(child):
                self.flow.add_text(child.text)
                stack.append((child, iter(child)))
            else:
                self.flow.add_text(child.tail)
        self.flow.end_lines()

    def _open(self, element: Element) -> bool:
        """Open an element; return False if its content is already handled."""
        if not is_element(element) or self._leave_out(element):
            return False
        self._record_id(element)
        formula = read_formula(element)
        if formula is not None:
            self.flow.add_formula(
                formula.text, formula.inline, formula.mathml, is_block=formula.is_block
            )
            return False
        if element.tag in _BLOCKS:
            self.flow.end_block()
            self.set_off.open(element)
        if element.get("role") == "heading":
            return self._open_heading(element)
        opener = self.openers.get(str(element.tag))
        return opener(element) if opener else True

    def _leave_out(self, element: Element) -> bool:
        if is_hidden(element):
            return read_formula(element) is None
        if is_second_rendering(element):
            return True
        if is_line_number(element) or is_page_number(element):
            self._record_id(element)
            self.flow.plain.leave_out("page number", extract_visible_text(element))
            return True
        is_control = element.tag in _CONTROLS and element.get("role") != "tab"
        if (is_control and self.flow.container.kind != "heading") or is_for_screen_readers(element):
            self.flow.plain.leave_out("navigation", extract_visible_text(element))
            return True
        return False

    def _close(self, element: Element) -> None:
        flow = self.flow
        if element.tag in _BLOCKS:
            flow.end_block()
        else:
            flow.close_mark(element)
        if self.lists and self.lists[-1].element is element:
            self.lists.pop()
        if element.tag == "rt":
            flow.runs.add(")")
        elif element.tag == "tr" and flow.container.kind == "table":
            flow.end_row()
        elif element.tag == "dd" and flow.container.term.text:
            flow.container.lines.append(flow.container.term)
            flow.container.term = RichText("")
        if flow.container.element is element and len(flow.containers) > 1:
            flow.close_container()
        self.set_off.close(element)

    def _record_id(self, element: Element) -> None:
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name:
            self.flow.add_anchor(name)

    def _record_ids_inside(self, element: Element) -> None:
        for inner in element.iterdescendants():
            if is_element(inner):
                self._record_id(inner)

    def _open_heading(self, element: Element) -> bool:
        if not self.flow.is_line:
            level = HEADINGS.get(str(element.tag)) or _parse_level(element.get("aria-level"))
            self.flow.open_container(element, "heading", level=level)
        return True

    def _open_list(self, element: Element) -> bool:
        if self.flow.container.kind in {"paragraph", "caption"}:
            self.flow.open_container(element, "list")
        if self.flow.container.kind == "list":
            self.lists.append(ListPlace.of(element))
        return True

    def _open_item(self, element: Element) -> bool:
        if self.lists and self.flow.container.kind == "list":
            self.flow.next_item = self.lists[-1].make_item(element, len(self.lists) - 1)
        return True

    def _open_style(self, element: Element) -> bool:
        self.flow.open_mark(element, Style(0, 0, INLINE_STYLES[str(element.tag)]))
        return self._open_superscript(element) if element.tag == "sup" else True

    def _open_glossary(self, element: Element) -> bool:
        return self._open_list(element) if is_short_glossary(element) else True

    def _open_definition(self, element: Element) -> bool:
        """Put a term and its definition on one line."""
        container, before = self.flow.container, element.getprevious()
        if container.kind == "list" and container.element.tag == "dl" and container.lines:
            container.term = (
                container.lines.pop() if before is not None and before.tag == "dt" else RichText("")
            )
        return True

    def _open_table(self, element: Element) -> bool:
        if not self.flow.is_line and is_data_table(element):
            self.flow.open_container(element, "table")
        return True

    def _open_cell(self, element: Element) -> bool:
        if self.flow.container.kind == "table":
            self.flow.open_container(element, "cell")
        return True

    def _open_caption(self, element: Element) -> bool:
        if not self.flow.is_line:
            self.flow.open_container(element, "caption")
        return True

    def _open_division(self, element: Element) -> bool:
        if self.flow.container.kind == "paragraph":
            if is_caption(element):
                self.flow.open_container(element, "caption")
            elif is_verse(element):
                self.flow.open_container(element, "verse")
        return True

    def _add_code(self, element: Element) -> bool:
        if self.flow.is_line:
            return True
        self._record_ids_inside(element)
        self.flow.end_lines()
        self.flow.plain.leave_out("page number", read_line_numbers(element))
        self.flow.plain.add("code", read_code(element), language=find_language(element))
        self.flow.pending_anchor = None
        return False

    def _add_line_break(self, _element: Element) -> bool:
        is_kept = self.flow.container.kind in {"paragraph", "caption", "verse"}
        self.flow.runs.add("\n" if is_kept else " ")
        return True

    def _add_image(self, element: Element) -> bool:
        picture = self.targets.add_picture(self.flow.plain, element.get("src") or "")
        self.flow.add_image_text(element.get("alt") or "", picture)
        return False

    def _add_drawing(self, element: Element) -> bool:
        self._record_ids_inside(element)
        images = (find_image_target(image) for image in element.iter("image"))
        target = next(filter(None, images), "")
        picture = self.targets.add_picture(self.flow.plain, target)
        self.flow.add_image_text(extract_drawing_text(element), picture)
        return False

    def _open_link(self, element: Element) -> bool:
        if is_permalink(element, in_heading=self.flow.container.kind == "heading"):
            return False
        href = element.get("href")
        if href and (mark := self.targets.add_link(self.flow.plain, href)) is not None:
            self.flow.open_mark(element, mark)
        return True

    def _open_ruby_text(self, _element: Element) -> bool:
        self.flow.runs.add("(")
        return True

    def _open_superscript(self, element: Element) -> bool:
        digits = re.fullmatch(r"\s*[-+−]?\d+\s*", element.text or "")
        if digits and len(element) == 0 and "".join(self.flow.runs.parts[-1:])[-1:].isdigit():
            self.flow.runs.add("^")  # 10<sup>6</sup> is not 106
        return True

    def _open_fallback(self, element: Element) -> bool:
        """Enter the fallback of a switch only if its cases contain no formula."""
        cases = islice(element.itersiblings("case", preceding=True), 10)
        return all(next(case.iter("math"), None) is None for case in cases)


def _parse_level(text: str | None) -> int:
    return int(text) if text in {"1", "2", "3", "4", "5", "6"} else 2
