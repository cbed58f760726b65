"""Straight lines drawn on a page: the borders of tables."""

import ctypes

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bythebook.adapters.readers.pdf.glyphs import MAX_COORDINATE

# Left, right, bottom and top in tenths of a point.
RuleRecord = tuple[int, int, int, int]

MAX_OBJECTS = 3_000  # a page with more is a drawing
MAX_RULES = 1_500
MAX_THICKNESS = 2.5  # points
MIN_LENGTH = 5.0


def read_rules(page: pdfium.FPDF_PAGE) -> list[RuleRecord]:
    """Find the thin vertical and horizontal lines of a page."""
    count = pdfium.FPDFPage_CountObjects(page)
    rules: list[RuleRecord] = []
    if count > MAX_OBJECTS:
        return rules
    edges = [ctypes.c_float() for _ in range(4)]
    for number in range(count):
        thing = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(thing) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPageObj_GetBounds(thing, *edges):
            left, low, right, high = (edge.value for edge in edges)
            rules.extend(_make_rules(left, right, low, high))
    return rules[:MAX_RULES]


def _make_rules(left: float, right: float, low: float, high: float) -> list[RuleRecord]:
    """Return a thin box as one line, and a larger box, which may be a cell, as its four sides."""
    if not all(abs(edge) < MAX_COORDINATE for edge in (left, right, low, high)):
        return []
    wide, tall = right - left, high - low
    if min(wide, tall) <= MAX_THICKNESS < MIN_LENGTH <= max(wide, tall):
        return [_make_record(left, right, low, high)]
    if wide < MIN_LENGTH or tall < MIN_LENGTH:
        return []
    return [
        _make_record(left, right, low, low),
        _make_record(left, right, high, high),
        _make_record(left, left, low, high),
        _make_record(right, right, low, high),
    ]


def _make_record(left: float, right: float, low: float, high: float) -> RuleRecord:
    return round(left * 10), round(right * 10), round(low * 10), round(high * 10)
