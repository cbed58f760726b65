"""Blocks that a page sets off: quotations and admonitions."""

from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.admonitions import ADMONITION_KINDS, find_admonition_kind
from bythebook.adapters.readers.html.page.flow import Flow
from bythebook.adapters.readers.html.page.visible import get_classes
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.marks import Admonition, Mark, Quotation

_BOXES = frozenset({"div", "aside", "section", "details"})
_ADMONITIONS = frozenset(
    "admonition theme-admonition callout markdown-alert admonitionblock alert".split()
)
_MAX_STEPS = 4  # elements from an admonition to its title


class SetOffBlocks:
    """Follows the elements of a page, and marks the blocks inside those that are set off."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._open: list[tuple[Element, PlainText, Mark]] = []

    def open(self, element: Element) -> None:
        """Begin a mark at an element that is set off; inside a list or a cell there is none."""
        if self._flow.container.kind != "paragraph":
            return
        start = self._flow.plain.next_start
        if element.tag == "blockquote":
            self._open.append((element, self._flow.plain, Quotation(start, 0)))
        elif element.tag in _BOXES and "class" in element.attrib:
            names = {part for name in get_classes(element) for part in name.lower().split("-")}
            is_box = not _ADMONITIONS.isdisjoint({name.lower() for name in get_classes(element)})
            if is_box and _has_title(element):
                kind = next((name for name in sorted(names) if name in ADMONITION_KINDS), "note")
                mark = Admonition(start, 0, find_admonition_kind(kind))
                self._open.append((element, self._flow.plain, mark))

    def close(self, element: Element) -> None:
        """End the mark of an element, if it has one."""
        if self._open and self._open[-1][0] is element:
            _, plain, mark = self._open.pop()
            if plain is self._flow.plain:
                plain.mark_blocks(mark)


def _has_title(element: Element) -> bool:
    """Return True if an admonition begins with its title."""
    for inner in islice(element.iterdescendants(), _MAX_STEPS):
        names = (inner.get("class") or "").lower()
        if "title" in names or "heading" in names or inner.tag == "summary":
            return True
    return False
