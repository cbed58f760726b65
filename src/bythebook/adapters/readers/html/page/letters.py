"""Counts the letters of each element of a page, and how many of them are in links."""

from collections.abc import Iterable

from lxml.etree import _Element as Element
from lxml.etree import iterwalk

from bythebook.adapters.readers.html.page.visible import is_hidden

_PAGE_FRAME = frozenset({"nav", "footer", "aside"})


class LetterCounts:
    """Letter counts of a tree, taken in one pass because pages may be deeply nested."""

    def __init__(self, root: Element) -> None:
        self._all: dict[Element, int] = {}
        self._linked: dict[Element, int] = {}  # in links
        self._prose: dict[
            Element, int
        ] = {}  # outside links and outside navigation, footers and asides
        self._with_h1: set[Element] = set()
        self._count(root)

    def count_all(self, element: Element) -> int:
        """Count all visible letters."""
        return self._all.get(element, 0)

    def count_prose(self, element: Element) -> int:
        """Count the letters outside links and outside navigation, footers and asides."""
        return self._prose.get(element, 0)

    def count_unlinked(self, element: Element) -> int:
        """Count the letters outside links."""
        return self.count_all(element) - self._linked.get(element, 0)

    def compute_link_share(self, element: Element) -> float:
        """Return the share of letters that are in links."""
        whole = self.count_all(element)
        return self._linked.get(element, 0) / whole if whole else 1.0

    def has_h1(self, element: Element) -> bool:
        """Return True if an element contains a level-one heading."""
        return element in self._with_h1

    def _count(self, root: Element) -> None:
        trail: list[Element] = []
        hidden: Element | None = None
        link: Element | None = None
        frame: Element | None = None
        for event, element in iterwalk(root, events=("start", "end")):
            if event == "start":
                trail.append(element)
                hidden = hidden if hidden is not None or not is_hidden(element) else element
                link = link if link is not None or element.get("href") is None else element
                frame = frame if frame is not None or element.tag not in _PAGE_FRAME else element
                if hidden is None:
                    self._add(element, _count_letters(element.text), link, frame)
                continue
            trail.pop()
            hidden, link, frame = (
                None if mark is element else mark for mark in (hidden, link, frame)
            )
            if trail:
                self._add_to_parent(element, trail[-1])
                if hidden is None:
                    self._add(trail[-1], _count_letters(element.tail), link, frame)

    def _add(self, element: Element, letters: int, link: object, frame: object) -> None:
        if letters:
            self._all[element] = self._all.get(element, 0) + letters
            if link is not None:
                self._linked[element] = self._linked.get(element, 0) + letters
            elif frame is None:
                self._prose[element] = self._prose.get(element, 0) + letters

    def _add_to_parent(self, element: Element, parent: Element) -> None:
        for counts in (self._all, self._linked, self._prose):
            if element in counts:
                counts[parent] = counts.get(parent, 0) + counts[element]
        if element.tag == "h1" or element in self._with_h1:
            self._with_h1.add(parent)


def keep_outermost(root: Element, wanted: Iterable[Element]) -> list[Element]:
    """Keep the elements that are not inside another one of them."""
    chosen = set(wanted)
    walk = iterwalk(root, events=("start",))
    found = []
    for _, element in walk:
        if element in chosen:
            found.append(element)
            walk.skip_subtree()
    return found


def _count_letters(text: str | None) -> int:
    return len("".join(text.split())) if text else 0
