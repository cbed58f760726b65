"""Finds headings by their appearance, in addition to those in the outline."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from bythebook.adapters.readers.pdf.page.elements import Element
from bythebook.adapters.readers.pdf.page.words import clean

Signature = tuple[float, bool]  # font size, whether bold

_LABEL = re.compile(r"(?:chapter|part|appendix|section|unit|kapitel|teil)\s+[\divxlc]+[.:]?", re.I)
_LETTERED = re.compile(r"(?:appendix|anhang)\s+[a-z][.:]?", re.I)
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)[.:)]?\s+(?=\S)")
_NAMED = re.compile(r"(?:chapter|part|appendix|kapitel|teil)\s+(?:\d{1,3}|[ivxlc]+|[a-z])\b", re.I)
_LISTED = re.compile(r"\. \. \. \d+$")  # table of contents or index entry
_TWO_LETTERS = re.compile(r"[^\W\d_]{2,}")
_TITLE_START = re.compile(r"[^\w]{0,2}(?:[^\W\d_]|\d)")
_LARGER = 1.12  # of the body font size
_NEARLY = 0.95
_MAX_LENGTH = 140
_MAX_LINES = 3
_MAX_DEPTH = 6


def mark_headings(elements: Sequence[Element], body: float) -> list[Element]:
    """Turn paragraphs that look like headings into headings; their appearance sets the level."""
    known = _find_known_levels(elements)
    # An outline that contains sections omits only numbered subsections, and headings before its
    # first entry.
    names_sections, only_numbered = max(known.values(), default=0) > 1, False
    merged = list(elements if known else _merge_labels(elements, body))
    candidates: dict[Signature, list[Element]] = defaultdict(list)
    for element, following in zip_longest(merged, merged[1:]):
        only_numbered |= names_sections and element.kind == "heading"
        plain = element.join_lines()
        named = bool(known) and is_label(plain)  # it belongs to the outline's heading
        if named or (only_numbered and _read_depth(plain) < 2):
            continue
        if _looks_like_heading(element, following, body):
            candidates[get_signature(element)].append(element)
    candidates = {look: group for look, group in candidates.items() if _is_used(look, group, body)}
    levels = _rank_levels(candidates, known)
    for look, group in candidates.items():
        for element in group:
            element.kind = "heading"
            depth = _read_depth(element.join_lines())
            trusted = depth > 1 if known else depth > 0
            element.level = min(depth, _MAX_DEPTH) if trusted else levels[look]
    return merged


def get_signature(element: Element) -> Signature:
    """Return the appearance of an element."""
    return round(element.size * 2) / 2, element.lines[0].bold


def is_label(text: str) -> bool:
    """Return True if a line only numbers a chapter: "Chapter 4"."""
    return bool(_LABEL.fullmatch(text) or _LETTERED.fullmatch(text))


def _looks_like_heading(element: Element, following: Element | None, body: float) -> bool:
    text = clean(element.join_lines())
    numbered = element.kind == "list" and element.ordered and len(element.starts) == 1
    if not (numbered or element.kind == "paragraph") or len(element.lines) > _MAX_LINES:
        return False
    if not 2 < len(text) <= _MAX_LENGTH:
        return False
    if text[-1] in ".,;:" or not _TITLE_START.match(text) or not _TWO_LETTERS.search(text):
        return False
    if "=" in text or text[:1].islower() or _LISTED.search(text):
        return False
    size, bold = element.size, all(line.bold for line in element.lines)
    if size >= _LARGER * body:
        return True
    above_table = following is not None and following.kind == "table" and not _read_depth(text)
    return bold and size >= _NEARLY * body and len(element.lines) < _MAX_LINES and not above_table


def _is_used(look: Signature, group: Sequence[Element], body: float) -> bool:
    """Return True if a style is used for headings; large text in figures is neither bold nor repeated."""
    size, bold = look
    numbered = sum(_read_depth(element.join_lines()) > 0 for element in group)
    pages = {element.first_page for element in group}
    return bold or numbered > 0 or len(pages) > 1 or size >= 1.5 * body


def _read_depth(text: str) -> int:
    """Return the level from a heading's number: 2 for "3.2 Name"; 0 without a number."""
    if _NAMED.match(text):
        return 1
    match = _NUMBER.match(text)
    return match.group(1).count(".") + 1 if match else 0


def _find_known_levels(elements: Iterable[Element]) -> dict[Signature, int]:
    """Return the levels of the styles of headings in the outline."""
    seen: dict[Signature, Counter[int]] = defaultdict(Counter)
    for element in elements:
        if element.kind == "heading" and element.lines:
            seen[get_signature(element)][element.level] += 1
        elif element.kind == "heading":
            seen[(0.0, False)][element.level] += 1
    return {look: levels.most_common(1)[0][0] for look, levels in seen.items()}


def _rank_levels(
    candidates: dict[Signature, list[Element]], known: dict[Signature, int]
) -> dict[Signature, int]:
    """Rank styles by size, below those of the outline."""
    levels = {look: max(level, 2) for look, level in known.items()}
    for look in sorted(candidates, reverse=True):
        if look in levels:
            continue
        depths = Counter(_read_depth(element.join_lines()) for element in candidates[look])
        depth, count = depths.most_common(1)[0]
        if depth > bool(known) and 2 * count >= depths.total():
            levels[look] = depth
            continue
        above = [level for other, level in levels.items() if other > look]
        deepest = max(known.values(), default=0)
        levels[look] = min(max(above, default=deepest) + 1, _MAX_DEPTH)
        if known:
            levels[look] = min(max(levels[look], 2), _MAX_DEPTH)
    return levels


def _merge_labels(elements: Sequence[Element], body: float) -> Iterator[Element]:
    """Merge "Chapter 4" and the title below it into one heading."""
    held: Element | None = None
    for element in elements:
        if held is not None:
            if _looks_like_heading(element, None, body):
                element.lines = held.lines + element.lines
            else:
                yield held
            held = None
        large = element.size >= _LARGER * body or (element.lines and element.lines[0].bold)
        if element.kind == "paragraph" and large and is_label(element.join_lines()):
            held = element
            continue
        yield element
    if held is not None:
        yield held
