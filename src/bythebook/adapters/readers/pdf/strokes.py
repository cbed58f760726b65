"""Straight lines drawn on a page: the borders of tables."""

import ctypes

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

# Left, right, low and high in tenths of a point.
RuleRecord = tuple[int, int, int, int]

MOST_OBJECTS = 3_000  # a page with more is a drawing
MOST_RULES = 1_500
THICKEST = 2.5  # points
SHORTEST = 5.0
FARTHEST = 20_000.0


def read_rules(page: pdfium.FPDF_PAGE) -> list[RuleRecord]:
    """Find the thin upright and level lines of a page."""
    count = pdfium.FPDFPage_CountObjects(page)
    rules: list[RuleRecord] = []
    if count > MOST_OBJECTS:
        return rules
    edges = [ctypes.c_float() for _ in range(4)]
    for number in range(count):
        thing = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(thing) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPageObj_GetBounds(thing, *edges):
            left, low, right, high = (edge.value for edge in edges)
            rules.extend(_sides(left, right, low, high))
    return rules[:MOST_RULES]


def _sides(left: float, right: float, low: float, high: float) -> list[RuleRecord]:
    """Give a thin box as a line, and the sides of a box that may be a cell."""
    if not all(abs(edge) < FARTHEST for edge in (left, right, low, high)):
        return []
    wide, tall = right - left, high - low
    if min(wide, tall) <= THICKEST < SHORTEST <= max(wide, tall):
        return [_record(left, right, low, high)]
    if wide < SHORTEST or tall < SHORTEST:
        return []
    return [
        _record(left, right, low, low),
        _record(left, right, high, high),
        _record(left, left, low, high),
        _record(right, right, low, high),
    ]


def _record(left: float, right: float, low: float, high: float) -> RuleRecord:
    return round(left * 10), round(right * 10), round(low * 10), round(high * 10)
