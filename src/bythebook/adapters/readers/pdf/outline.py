"""Puts the outline's entries as headings where their titles stand in the text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.pdf.elements import Element
from bythebook.adapters.readers.pdf.extraction import OutlineEntry
from bythebook.adapters.readers.pdf.headings import is_label
from bythebook.adapters.readers.pdf.words import clean

_MOST_LINES = 5  # of a title
_MOST_UNPLACED = 100  # entries of a page whose titles do not stand on it
_LONGEST_TITLE = 300
_ON_TOP = 1e5
_PREFIX = re.compile(
    r"(?:chapter|part|appendix|section|kapitel|teil)\s+\w{1,5}[.:]?\s+|[A-Z]?\d*(?:\.\d+)*[.:)]?\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines of an element that may be a title."""

    element: int
    first: int
    last: int  # not included
    height: float
    size: float

    def distance(self, entry: OutlineEntry) -> float:
        """Say how far it stands from where an entry leads; the largest is nearest to no place."""
        return -self.size if entry.height >= _ON_TOP else abs(self.height - entry.height)


def place_outline(
    pages: dict[int, list[Element]], entries: Iterable[OutlineEntry]
) -> dict[int, list[Element]]:
    """Turn the lines that entries lead to into headings; make one where no line bears the title."""
    by_page: dict[int, list[OutlineEntry]] = defaultdict(list)
    for entry in entries:
        if entry.page >= 0 and entry.title.strip():
            by_page[entry.page].append(entry)
    for page, wanted in by_page.items():
        pages[page] = _place_on_page(pages.get(page, []), wanted)
    return dict(sorted(pages.items()))


def _place_on_page(elements: Sequence[Element], wanted: Sequence[OutlineEntry]) -> list[Element]:
    spans = _spans(elements)
    chosen: dict[int, list[tuple[_Span, OutlineEntry]]] = defaultdict(list)
    used: set[tuple[int, int]] = set()
    unplaced = []
    for entry in wanted:
        span = _nearest(spans, entry, used)
        if span is None:
            unplaced.append(entry)
            continue
        used.update((span.element, line) for line in range(span.first, span.last))
        chosen[span.element].append((span, entry))
    placed: list[Element] = []
    for number, element in enumerate(elements):
        placed.extend(_split(element, chosen[number]) if number in chosen else [element])
    for entry in unplaced[:_MOST_UNPLACED]:
        placed.insert(_place(placed, entry), _made_heading(entry))
    for number, element in enumerate(placed):
        if element.kind == "heading" and element.lines:
            _take_label(placed, number)
    return placed


def _spans(elements: Sequence[Element]) -> dict[str, list[_Span]]:
    """Find every few lines that may be a title, by their bare letters."""
    spans: dict[str, list[_Span]] = defaultdict(list)
    for number, element in enumerate(elements):
        if element.kind in ("table", "code"):
            continue
        for first, line in enumerate(element.lines):
            text = ""
            for last in range(first, min(first + _MOST_LINES, len(element.lines))):
                text = f"{text} {element.lines[last].text}".strip()
                if len(text) > _LONGEST_TITLE:
                    break
                span = _Span(number, first, last + 1, line.base + line.size, line.size)
                for letters in _variants(text):
                    spans[letters].append(span)
    return spans


def _nearest(
    spans: dict[str, list[_Span]], entry: OutlineEntry, used: set[tuple[int, int]]
) -> _Span | None:
    free = [
        span
        for letters in _variants(entry.title)
        for span in spans.get(letters, ())
        if not any((span.element, line) in used for line in range(span.first, span.last))
    ]
    return min(free, key=lambda span: span.distance(entry), default=None)


def _variants(title: str) -> set[str]:
    """Give a title with and without its number, as bare letters."""
    words = clean(title).strip()
    match = _PREFIX.match(words)
    bare = words[match.end() :] if match else words
    return {letters for letters in (_letters(words), _letters(bare)) if letters}


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _split(element: Element, chosen: Sequence[tuple[_Span, OutlineEntry]]) -> list[Element]:
    """Cut headings out of an element's lines."""
    parts = []
    done = 0
    for span, entry in sorted(chosen, key=lambda pair: pair[0].first):
        if span.first > done:
            parts.append(_part(element, done, span.first))
        parts.append(_heading(element, span, entry))
        done = span.last
    if done < len(element.lines):
        parts.append(_part(element, done, len(element.lines)))
    return parts


def _heading(element: Element, span: _Span, entry: OutlineEntry) -> Element:
    lines = element.lines[span.first : span.last]
    text = clean(" ".join(line.text for line in lines))
    title = " ".join(clean(entry.title).split())
    fuller = title if len(_letters(title)) >= len(_letters(text)) else text
    return Element("heading", lines, level=entry.level + 1, title=fuller, flow=element.flow)


def _part(element: Element, first: int, last: int) -> Element:
    starts = frozenset(start - first for start in element.starts if first <= start < last)
    kind = element.kind if element.kind != "list" or 0 in starts else "paragraph"
    return Element(
        kind, element.lines[first:last], starts=starts if kind == "list" else frozenset(),
        ordered=element.ordered, flow=element.flow,
    )  # fmt: skip


def _take_label(elements: list[Element], heading: int) -> None:
    """Move what counts a chapter, and stands above its name, below the heading."""
    above = heading
    while above and elements[above - 1].lines and _belongs_below(elements, above - 1, heading):
        above -= 1
    elements[above : heading + 1] = [elements[heading], *elements[above:heading]]


def _belongs_below(elements: Sequence[Element], place: int, heading: int) -> bool:
    element = elements[place]
    if element.kind != "paragraph" or len(element.lines) > 2:
        return False
    if place and elements[place - 1].kind == "heading":  # it belongs to that one
        return False
    return is_label(element.plain()) or element.size > 1.05 * elements[heading].size


def _place(elements: Sequence[Element], entry: OutlineEntry) -> int:
    """Find the first element below the height that an entry leads to."""
    for number, element in enumerate(elements):
        if element.lines and element.lines[0].base <= entry.height:
            return number
    return len(elements)


def _made_heading(entry: OutlineEntry) -> Element:
    title = " ".join(clean(entry.title).split())
    return Element("heading", [], level=entry.level + 1, title=title, page=entry.page)
