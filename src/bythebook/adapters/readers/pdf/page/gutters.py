"""Vertical strips of white space on a page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.pdf.extraction import Run
from bythebook.adapters.readers.pdf.page.rows import Row

_MIN_GAP = 0.65  # of the font size
MAX_GUTTERS = 60


@dataclass(frozen=True, slots=True)
class Gutter:
    """A vertical strip of white space from row `first` to row `last`."""

    middle: float
    first: int
    last: int  # exclusive
    score: int


def find_gutters(rows: Sequence[Row]) -> Iterator[Gutter]:
    """Find vertical strips of white space, between columns or not."""
    middles = Counter[int]()
    for row in rows:
        for before, run in find_gaps(row):
            # Lines are often ragged on one side, but many share the edge on the other.
            for x in ((before.right + run.left) / 2, run.left - 4, before.right + 4):
                middles[round(x / 3)] += 1
    for middle, _ in middles.most_common(MAX_GUTTERS):
        x = middle * 3.0
        free = [all(run.right <= x + 2 or run.left >= x - 2 for run in row.runs) for row in rows]
        for first, last in _find_stretches(free):
            yield from _score_gutter(rows, x, first, last)


def find_gaps(row: Row) -> Iterator[tuple[Run, Run]]:
    """Yield the runs on both sides of each gap that is wide enough."""
    right = row.runs[0]
    for run in row.runs[1:]:
        if run.left - right.right >= _MIN_GAP * min(run.size, right.size):
            yield right, run
        if run.right > right.right:
            right = run


def _find_stretches(free: Sequence[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for number, is_free in enumerate([*free, False]):
        if is_free and start is None:
            start = number
        elif not is_free and start is not None:
            yield start, number
            start = None


def _score_gutter(rows: Sequence[Row], x: float, first: int, last: int) -> Iterator[Gutter]:
    """Remove rows at the ends with text on only one side, and count the others."""
    left = [number for number in range(first, last) if rows[number].runs[0].right <= x + 2]
    right = [number for number in range(first, last) if rows[number].runs[-1].left >= x - 2]
    if not left or not right:
        return
    # A line only on the left may end a wide paragraph; a line only on the right is in the column.
    first = right[0] - _reach(rows, right[0], first, -1)
    last = right[-1] + 1 + _reach(rows, right[-1], last - 1, 1)
    yield Gutter(x, first, last, min(len(left), len(right)))


def _reach(rows: Sequence[Row], start: int, end: int, step: int) -> int:
    """Count the rows after a column's end that follow without a wider gap or a font change."""
    count = 0
    for number in range(start, end, step):
        one, two = rows[number], rows[number + step]
        usual = 1.6 * max(one.size, two.size)
        if abs(one.base - two.base) > usual or abs(one.size - two.size) > 0.5:
            break
        count += 1
    return count
