"""Joins paragraphs that run on in the next column or on the next page."""

import re
from collections.abc import Sequence

from bythebook.adapters.readers.pdf.elements import Element

_ENDED = re.compile(r"[.!?:][\"'”’)\]]*\d{0,3}$")
_BETWEEN = frozenset({"caption", "table", "formula", "code"})
_FARTHEST = 8  # elements between the halves of a paragraph
_SMALLER = 0.93  # than the text: a note


def join_flows(elements: Sequence[Element], body: float) -> list[Element]:
    """Make one paragraph of two halves; notes and figures between them go before or after it."""
    joined: list[Element] = []
    number = 0
    while number < len(elements):
        element = elements[number]
        boundary = bool(joined) and element.flow != joined[-1].flow
        if not boundary:
            joined.append(element)
            number += 1
            continue
        number += _bridge(joined, elements, number, body)
    return joined


def _bridge(joined: list[Element], elements: Sequence[Element], number: int, body: float) -> int:
    """Join over one boundary; say how many of the following elements were used up."""
    tail = _tail(joined, body)
    head = _head(elements, number, body)
    if tail is None or head is None or not _runs_on(joined[tail], elements[head]):
        joined.append(elements[number])
        return 1
    paragraph = joined.pop(tail)
    paragraph.lines.extend(elements[head].lines)
    paragraph.flow = elements[head].flow
    joined.append(paragraph)
    joined.extend(elements[number:head])
    for between in joined[-(head - number) :] if head > number else ():
        between.flow = paragraph.flow
    return head - number + 1


def _tail(joined: Sequence[Element], body: float) -> int | None:
    page = joined[-1].lines[-1].page if joined[-1].lines else -1
    for number in range(len(joined) - 1, max(len(joined) - _FARTHEST, 0) - 1, -1):
        element = joined[number]
        if element.kind == "heading" or not element.lines or element.lines[-1].page != page:
            return None
        if not _is_between(element, body):
            # What stands between goes before it, so it must not begin on an earlier page.
            stays = number == len(joined) - 1 or element.first_page == page
            return number if element.kind in ("paragraph", "list") and stays else None
    return None


def _head(elements: Sequence[Element], start: int, body: float) -> int | None:
    page = elements[start].first_page
    for number in range(start, min(start + _FARTHEST, len(elements))):
        element = elements[number]
        if element.kind == "heading" or not element.lines or element.first_page != page:
            return None
        if not _is_between(element, body):
            return number if element.kind == "paragraph" else None
    return None


def _is_between(element: Element, body: float) -> bool:
    return element.kind in _BETWEEN or element.size < _SMALLER * body


def _runs_on(tail: Element, head: Element) -> bool:
    """Say whether the second is the rest of the first."""
    last, first = tail.lines[-1], head.lines[0]
    if abs(last.size - first.size) > 0.08 * last.size or first.page - last.page > 1:
        return False
    end, start = last.text.rstrip(), first.text.lstrip()
    if not end or not start or _ENDED.search(end):
        return False
    widest = max(line.right - line.left for line in (*tail.lines[-20:], *head.lines[:20]))
    if start[0].islower():
        return end[-1] == "-" or last.right - last.left > 0.6 * widest
    full = last.right - last.left > 0.85 * widest and len(tail.lines) + len(head.lines) > 2
    return full and (start[0].isalnum() or start[0] in '(“"‘$') and first.bold == last.bold
