"""Headings: where the outline leads, and what looks like one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from bythebook.adapters.readers.pdf.elements import Element
from bythebook.adapters.readers.pdf.words import clean

Signature = tuple[float, bool]  # font size, whether bold

_LABEL = re.compile(r"(?:chapter|part|appendix|section|unit|kapitel|teil)\s+[\divxlc]+[.:]?", re.I)
_LETTERED = re.compile(r"(?:appendix|anhang)\s+[a-z][.:]?", re.I)
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)[.:)]?\s+(?=\S)")
_NAMED = re.compile(r"(?:chapter|part|appendix|kapitel|teil)\s+(?:\d{1,3}|[ivxlc]+|[a-z])\b", re.I)
_LISTED = re.compile(r"\. \. \. \d+$")  # in a table of contents or an index
_WORD = re.compile(r"[^\W\d_]{2,}")
_TITLE_START = re.compile(r"[^\w]{0,2}(?:[^\W\d_]|\d)")
_LARGER = 1.12  # than the text
_NEARLY = 0.95
_LONGEST = 140
_MOST_LINES = 3
_DEEPEST = 6


def mark_headings(elements: Sequence[Element], body: float) -> list[Element]:
    """Make headings of paragraphs that look like one; their levels come from their looks."""
    known = _known_levels(elements)
    # An outline that names sections too leaves out only those below them, which have numbers; and
    # what stands before its first entry.
    names_sections, only_numbered = max(known.values(), default=0) > 1, False
    merged = list(elements if known else _merge_labels(elements, body))
    candidates: dict[Signature, list[Element]] = defaultdict(list)
    for element, following in zip_longest(merged, merged[1:]):
        only_numbered |= names_sections and element.kind == "heading"
        plain = element.plain()
        named = bool(known) and is_label(plain)  # by the outline's heading
        if named or (only_numbered and _depth(plain) < 2):
            continue
        if _looks_like_heading(element, following, body):
            candidates[signature(element)].append(element)
    candidates = {look: group for look, group in candidates.items() if _is_used(look, group, body)}
    levels = _levels(candidates, known)
    for look, group in candidates.items():
        for element in group:
            element.kind = "heading"
            depth = _depth(element.plain())
            trusted = depth > 1 if known else depth > 0
            element.level = min(depth, _DEEPEST) if trusted else levels[look]
    return merged


def signature(element: Element) -> Signature:
    """Give how an element looks."""
    return round(element.size * 2) / 2, element.lines[0].bold


def is_label(text: str) -> bool:
    """Say whether a line only counts a chapter: "Chapter 4"."""
    return bool(_LABEL.fullmatch(text) or _LETTERED.fullmatch(text))


def _looks_like_heading(element: Element, following: Element | None, body: float) -> bool:
    text = clean(element.plain())
    numbered = element.kind == "list" and element.ordered and len(element.starts) == 1
    if not (numbered or element.kind == "paragraph") or len(element.lines) > _MOST_LINES:
        return False
    if not 2 < len(text) <= _LONGEST:
        return False
    if text[-1] in ".,;:" or not _TITLE_START.match(text) or not _WORD.search(text):
        return False
    if "=" in text or text[:1].islower() or _LISTED.search(text):
        return False
    size, bold = element.size, all(line.bold for line in element.lines)
    if size >= _LARGER * body:
        return True
    above_table = following is not None and following.kind == "table" and not _depth(text)
    return bold and size >= _NEARLY * body and len(element.lines) < _MOST_LINES and not above_table


def _is_used(look: Signature, group: Sequence[Element], body: float) -> bool:
    """Say whether a look is a heading's: figures have large letters too, but not bold and again."""
    size, bold = look
    numbered = sum(_depth(element.plain()) > 0 for element in group)
    pages = {element.first_page for element in group}
    return bold or numbered > 0 or len(pages) > 1 or size >= 1.5 * body


def _depth(text: str) -> int:
    """Give the level that a heading's number says: 2 for "3.2 Name"; 0 if it has none."""
    if _NAMED.match(text):
        return 1
    match = _NUMBER.match(text)
    return match.group(1).count(".") + 1 if match else 0


def _known_levels(elements: Iterable[Element]) -> dict[Signature, int]:
    """Give the levels of the looks of headings that the outline named."""
    seen: dict[Signature, Counter[int]] = defaultdict(Counter)
    for element in elements:
        if element.kind == "heading" and element.lines:
            seen[signature(element)][element.level] += 1
        elif element.kind == "heading":
            seen[(0.0, False)][element.level] += 1
    return {look: levels.most_common(1)[0][0] for look, levels in seen.items()}


def _levels(
    candidates: dict[Signature, list[Element]], known: dict[Signature, int]
) -> dict[Signature, int]:
    """Rank looks by size, below the outline's where there is one."""
    levels = {look: max(level, 2) for look, level in known.items()}
    for look in sorted(candidates, reverse=True):
        if look in levels:
            continue
        depths = Counter(_depth(element.plain()) for element in candidates[look])
        depth, count = depths.most_common(1)[0]
        if depth > bool(known) and 2 * count >= depths.total():
            levels[look] = depth
            continue
        above = [level for other, level in levels.items() if other > look]
        deepest = max(known.values(), default=0)
        levels[look] = min(max(above, default=deepest) + 1, _DEEPEST)
        if known:
            levels[look] = min(max(levels[look], 2), _DEEPEST)
    return levels


def _merge_labels(elements: Sequence[Element], body: float) -> Iterator[Element]:
    """Put "Chapter 4" and the name below it into one heading."""
    held: Element | None = None
    for element in elements:
        if held is not None:
            if _looks_like_heading(element, None, body):
                element.lines = held.lines + element.lines
            else:
                yield held
            held = None
        large = element.size >= _LARGER * body or (element.lines and element.lines[0].bold)
        if element.kind == "paragraph" and large and is_label(element.plain()):
            held = element
            continue
        yield element
    if held is not None:
        yield held
