"""How many letters each element of a page holds, and how many of them lead elsewhere."""

from collections.abc import Iterable

from lxml.etree import _Element as Element
from lxml.etree import iterwalk

from bythebook.adapters.readers.html.visible import is_unseen

_PAGE_FRAME = frozenset({"nav", "footer", "aside"})


class LetterCounts:
    """Counts of a tree, taken in one pass: pages may be nested deep."""

    def __init__(self, root: Element) -> None:
        self._all: dict[Element, int] = {}
        self._linked: dict[Element, int] = {}  # in links
        self._prose: dict[Element, int] = {}  # neither in links nor in a frame of the page
        self._with_h1: set[Element] = set()
        self._count(root)

    def whole(self, element: Element) -> int:
        """Count all visible letters."""
        return self._all.get(element, 0)

    def prose(self, element: Element) -> int:
        """Count the letters that neither a link nor a frame of the page holds."""
        return self._prose.get(element, 0)

    def unlinked(self, element: Element) -> int:
        """Count the letters outside links."""
        return self.whole(element) - self._linked.get(element, 0)

    def link_share(self, element: Element) -> float:
        """Give the share of the letters that is in links."""
        whole = self.whole(element)
        return self._linked.get(element, 0) / whole if whole else 1.0

    def holds_h1(self, element: Element) -> bool:
        """Say whether a level-one heading stands in an element."""
        return element in self._with_h1

    def _count(self, root: Element) -> None:
        trail: list[Element] = []
        unseen: Element | None = None
        link: Element | None = None
        frame: Element | None = None
        for event, element in iterwalk(root, events=("start", "end")):
            if event == "start":
                trail.append(element)
                unseen = unseen if unseen is not None or not is_unseen(element) else element
                link = link if link is not None or element.get("href") is None else element
                frame = frame if frame is not None or element.tag not in _PAGE_FRAME else element
                if unseen is None:
                    self._add(element, _letters(element.text), link, frame)
                continue
            trail.pop()
            unseen, link, frame = (
                None if mark is element else mark for mark in (unseen, link, frame)
            )
            if trail:
                self._hand_up(element, trail[-1])
                if unseen is None:
                    self._add(trail[-1], _letters(element.tail), link, frame)

    def _add(self, element: Element, letters: int, link: object, frame: object) -> None:
        if letters:
            self._all[element] = self._all.get(element, 0) + letters
            if link is not None:
                self._linked[element] = self._linked.get(element, 0) + letters
            elif frame is None:
                self._prose[element] = self._prose.get(element, 0) + letters

    def _hand_up(self, element: Element, parent: Element) -> None:
        for counts in (self._all, self._linked, self._prose):
            if element in counts:
                counts[parent] = counts.get(parent, 0) + counts[element]
        if element.tag == "h1" or element in self._with_h1:
            self._with_h1.add(parent)


def outermost(root: Element, wanted: Iterable[Element]) -> list[Element]:
    """Leave out elements that stand in another one of the wanted."""
    chosen = set(wanted)
    walk = iterwalk(root, events=("start",))
    found = []
    for _, element in walk:
        if element in chosen:
            found.append(element)
            walk.skip_subtree()
    return found


def _letters(text: str | None) -> int:
    return len("".join(text.split())) if text else 0
