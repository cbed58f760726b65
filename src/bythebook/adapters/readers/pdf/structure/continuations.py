"""Joins paragraphs that continue in the next column or on the next page."""

import re
from collections.abc import Sequence

from bythebook.adapters.readers.pdf.page.elements import Element

_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*\d{0,3}$")
_BETWEEN = frozenset({"caption", "table", "formula", "code"})
_MAX_DISTANCE = 8  # elements between two halves of a paragraph
_SMALLER = 0.93  # of the body font size: a note


def join_continuations(elements: Sequence[Element], body: float) -> list[Element]:
    """Join the halves of paragraphs; notes and figures between them move before or after."""
    joined: list[Element] = []
    number = 0
    while number < len(elements):
        element = elements[number]
        boundary = bool(joined) and element.flow != joined[-1].flow
        if not boundary:
            joined.append(element)
            number += 1
            continue
        number += _join_over_boundary(joined, elements, number, body)
    return joined


def _join_over_boundary(
    joined: list[Element], elements: Sequence[Element], number: int, body: float
) -> int:
    """Join over one boundary; return how many of the following elements were used."""
    tail = _find_tail(joined, body)
    head = _find_head(elements, number, body)
    if tail is None or head is None or not _is_continuation(joined[tail], elements[head]):
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


def _find_tail(joined: Sequence[Element], body: float) -> int | None:
    page = joined[-1].lines[-1].page if joined[-1].lines else -1
    for number in range(len(joined) - 1, max(len(joined) - _MAX_DISTANCE, 0) - 1, -1):
        element = joined[number]
        if element.kind == "heading" or not element.lines or element.lines[-1].page != page:
            return None
        if not _is_between(element, body):
            # What is between them moves before it, so it must not start on an earlier page.
            stays = number == len(joined) - 1 or element.first_page == page
            return number if element.kind in ("paragraph", "list") and stays else None
    return None


def _find_head(elements: Sequence[Element], start: int, body: float) -> int | None:
    page = elements[start].first_page
    for number in range(start, min(start + _MAX_DISTANCE, len(elements))):
        element = elements[number]
        if element.kind == "heading" or not element.lines or element.first_page != page:
            return None
        if not _is_between(element, body):
            return number if element.kind == "paragraph" else None
    return None


def _is_between(element: Element, body: float) -> bool:
    return element.kind in _BETWEEN or element.size < _SMALLER * body


def _is_continuation(tail: Element, head: Element) -> bool:
    """Return True if the second element continues the first."""
    last, first = tail.lines[-1], head.lines[0]
    if abs(last.size - first.size) > 0.08 * last.size or first.page - last.page > 1:
        return False
    end, start = last.text.rstrip(), first.text.lstrip()
    if not end or not start or _SENTENCE_END.search(end):
        return False
    widest = max(line.right - line.left for line in (*tail.lines[-20:], *head.lines[:20]))
    if start[0].islower():
        return end[-1] == "-" or last.right - last.left > 0.6 * widest
    full = last.right - last.left > 0.85 * widest and len(tail.lines) + len(head.lines) > 2
    return full and (start[0].isalnum() or start[0] in '(“"‘$') and first.bold == last.bold
