"""Lists on a page: how deep they are, and the numbers of their items."""

from dataclasses import dataclass

from lxml.etree import _Element as Element

from bythebook.domain.marks import Item


@dataclass(slots=True)
class ListPlace:
    """An open list, and the number of its next item; -1 without numbers."""

    element: Element
    number: int

    @classmethod
    def of(cls, element: Element) -> "ListPlace":
        """Open a list."""
        return cls(element, _parse(element.get("start"), 1) if element.tag == "ol" else -1)

    def make_item(self, element: Element, depth: int) -> Item:
        """Make the mark of the next item."""
        if self.number < 0:
            return Item(0, 0, depth)
        number = _parse(element.get("value"), self.number)
        self.number = number + 1
        return Item(0, 0, depth, number)


def _parse(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else default
