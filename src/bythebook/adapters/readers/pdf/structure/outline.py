"""Places the entries of the outline as headings where their titles are in the text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.pdf.extraction import OutlineEntry
from bythebook.adapters.readers.pdf.page.elements import Element
from bythebook.adapters.readers.pdf.page.words import clean
from bythebook.adapters.readers.pdf.structure.headings import is_label

_MAX_LINES = 5  # of a title
_MAX_UNPLACED = 100  # entries of a page whose titles are not in its text
_MAX_TITLE_LENGTH = 300
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
    last: int  # exclusive
    height: float
    size: float

    def measure_distance(self, entry: OutlineEntry) -> float:
        """Return the distance from an entry's target; without a target, larger text is closer."""
        return -self.size if entry.height >= _ON_TOP else abs(self.height - entry.height)


def place_outline(
    pages: dict[int, list[Element]], entries: Iterable[OutlineEntry]
) -> dict[int, list[Element]]:
    """Turn the lines of outline titles into headings; add a heading if no line has the title."""
    by_page: dict[int, list[OutlineEntry]] = defaultdict(list)
    for entry in entries:
        if entry.page >= 0 and entry.title.strip():
            by_page[entry.page].append(entry)
    for page, wanted in by_page.items():
        pages[page] = _place_on_page(pages.get(page, []), wanted)
    return dict(sorted(pages.items()))


def _place_on_page(elements: Sequence[Element], wanted: Sequence[OutlineEntry]) -> list[Element]:
    spans = _find_spans(elements)
    chosen: dict[int, list[tuple[_Span, OutlineEntry]]] = defaultdict(list)
    used: set[tuple[int, int]] = set()
    unplaced = []
    for entry in wanted:
        span = _find_nearest(spans, entry, used)
        if span is None:
            unplaced.append(entry)
            continue
        used.update((span.element, line) for line in range(span.first, span.last))
        chosen[span.element].append((span, entry))
    placed: list[Element] = []
    for number, element in enumerate(elements):
        placed.extend(_split_element(element, chosen[number]) if number in chosen else [element])
    for entry in unplaced[:_MAX_UNPLACED]:
        placed.insert(_find_position(placed, entry), _make_missing_heading(entry))
    for number, element in enumerate(placed):
        if element.kind == "heading" and element.lines:
            _move_label(placed, number)
    return placed


def _find_spans(elements: Sequence[Element]) -> dict[str, list[_Span]]:
    """Index all groups of a few lines that may be a title, by letters and digits."""
    spans: dict[str, list[_Span]] = defaultdict(list)
    for number, element in enumerate(elements):
        if element.kind in ("table", "code"):
            continue
        for first, line in enumerate(element.lines):
            text = ""
            for last in range(first, min(first + _MAX_LINES, len(element.lines))):
                text = f"{text} {element.lines[last].text}".strip()
                if len(text) > _MAX_TITLE_LENGTH:
                    break
                span = _Span(number, first, last + 1, line.base + line.size, line.size)
                for letters in _make_variants(text):
                    spans[letters].append(span)
    return spans


def _find_nearest(
    spans: dict[str, list[_Span]], entry: OutlineEntry, used: set[tuple[int, int]]
) -> _Span | None:
    free = [
        span
        for letters in _make_variants(entry.title)
        for span in spans.get(letters, ())
        if not any((span.element, line) in used for line in range(span.first, span.last))
    ]
    return min(free, key=lambda span: span.measure_distance(entry), default=None)


def _make_variants(title: str) -> set[str]:
    """Return a title with and without its number, reduced to letters and digits."""
    words = clean(title).strip()
    match = _PREFIX.match(words)
    bare = words[match.end() :] if match else words
    return {letters for letters in (_keep_letters(words), _keep_letters(bare)) if letters}


def _keep_letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _split_element(element: Element, chosen: Sequence[tuple[_Span, OutlineEntry]]) -> list[Element]:
    """Split an element at its headings."""
    parts = []
    done = 0
    for span, entry in sorted(chosen, key=lambda pair: pair[0].first):
        if span.first > done:
            parts.append(_slice_element(element, done, span.first))
        parts.append(_make_heading(element, span, entry))
        done = span.last
    if done < len(element.lines):
        parts.append(_slice_element(element, done, len(element.lines)))
    return parts


def _make_heading(element: Element, span: _Span, entry: OutlineEntry) -> Element:
    lines = element.lines[span.first : span.last]
    text = clean(" ".join(line.text for line in lines))
    title = " ".join(clean(entry.title).split())
    fuller = title if len(_keep_letters(title)) >= len(_keep_letters(text)) else text
    return Element("heading", lines, level=entry.level + 1, title=fuller, flow=element.flow)


def _slice_element(element: Element, first: int, last: int) -> Element:
    starts = frozenset(start - first for start in element.starts if first <= start < last)
    kind = element.kind if element.kind != "list" or 0 in starts else "paragraph"
    return Element(
        kind, element.lines[first:last], starts=starts if kind == "list" else frozenset(),
        ordered=element.ordered, flow=element.flow,
    )  # fmt: skip


def _move_label(elements: list[Element], heading: int) -> None:
    """Move a chapter label above a heading below it."""
    above = heading
    while above and elements[above - 1].lines and _belongs_below(elements, above - 1, heading):
        above -= 1
    elements[above : heading + 1] = [elements[heading], *elements[above:heading]]


def _belongs_below(elements: Sequence[Element], place: int, heading: int) -> bool:
    element = elements[place]
    if element.kind != "paragraph" or len(element.lines) > 2:
        return False
    if place and elements[place - 1].kind == "heading":  # it belongs to that heading
        return False
    return is_label(element.join_lines()) or element.size > 1.05 * elements[heading].size


def _find_position(elements: Sequence[Element], entry: OutlineEntry) -> int:
    """Find the first element below an entry's target height."""
    for number, element in enumerate(elements):
        if element.lines and element.lines[0].base <= entry.height:
            return number
    return len(elements)


def _make_missing_heading(entry: OutlineEntry) -> Element:
    title = " ".join(clean(entry.title).split())
    return Element("heading", [], level=entry.level + 1, title=title, page=entry.page)
