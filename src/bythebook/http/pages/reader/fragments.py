"""Parts of a page as HTML: sentences as their author set them, or a section with sentences highlighted.

Pages of others put them in place of plain text, which they have from the answer.
"""

import re
from collections.abc import Sequence

from fastapi.responses import HTMLResponse

from bythebook.domain.books import Document
from bythebook.errors import InputError
from bythebook.http.pages.render import SECURITY_HEADERS
from bythebook.render import Addresses, Highlight, render_cells, render_fragment

_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_MOST_RANGES = 100
_LONGEST = 20_000  # characters of all ranges
_AROUND = 3_000  # characters of a section before the first range and after the last
_HEADERS = SECURITY_HEADERS | {"Cache-Control": "private, max-age=600"}
_CUT = '<p class="cut">…</p>'


def show_fragment(
    document: Document, book_id: str, ranges: Sequence[str], section_at: int | None
) -> HTMLResponse:
    """Show ranges of a document one after the other, or the section that an offset is in."""
    places = [_read_range(given, document) for given in ranges[: _MOST_RANGES + 1]]
    total = sum(place.end - place.start for place in places)
    if len(places) > _MOST_RANGES or total > _LONGEST or not (places or section_at is not None):
        raise _refuse()
    addresses = Addresses(book_id)
    if section_at is None:
        html = "\n".join(_write_words(document, addresses, place) for place in places)
    else:
        html = _write_section(document, addresses, section_at, places)
    return HTMLResponse(html, headers=_HEADERS)


def _read_range(given: str, document: Document) -> Highlight:
    match = _RANGE.fullmatch(given)
    place = Highlight(*map(int, match.groups())) if match else None
    if place is None or not place.start < place.end <= len(document.text):
        raise _refuse()
    return place


def _refuse() -> InputError:
    return InputError(
        "Give section_at=OFFSET or range=START-END, which count characters of this page's text: "
        f"at most {_MOST_RANGES} ranges of {_LONGEST} characters in all."
    )


def _write_words(document: Document, addresses: Addresses, place: Highlight) -> str:
    cells = render_cells(document, addresses, place.start, place.end)
    html = "".join(f"<span>{cell}</span>" for cell in cells)
    return f'<div data-range="{place.start}-{place.end}">{html}</div>'


def _write_section(
    document: Document, addresses: Addresses, section_at: int, places: Sequence[Highlight]
) -> str:
    """Write the blocks of a section around the highlighted places, without its title."""
    lit = _merge(places)
    near = [lit[0].start, lit[-1].end] if lit else [min(section_at, len(document.text))]
    first, last = near[0] - _AROUND, near[-1] + _AROUND
    start, end = 0, len(document.text)
    if document.sections:
        section = document.section_at(section_at)
        start, end = section.start, max(section.end, near[-1])
    inside = [
        block
        for block in document.blocks
        if start <= block.start < end and not (block.kind == "heading" and block.start == start)
    ]
    shown = [block for block in inside if first < block.end and block.start < last]
    if not shown:
        return ""
    start, end = max(shown[0].start, first - _LONGEST), min(shown[-1].end, last + _LONGEST)
    html = render_fragment(document, addresses, start, end, lit)
    before = _CUT if start > inside[0].start else ""
    after = _CUT if end < inside[-1].end else ""
    return f"{before}{html}{after}"


def _merge(places: Sequence[Highlight]) -> list[Highlight]:
    """Put places in order; those that overlap become one."""
    merged: list[Highlight] = []
    for place in sorted(places, key=lambda one: (one.start, one.end)):
        if merged and place.start < merged[-1].end:
            merged[-1] = Highlight(merged[-1].start, max(place.end, merged[-1].end))
        else:
            merged.append(place)
    return merged
