"""Upright strips of white on a page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.pdf.extraction import Run
from bythebook.adapters.readers.pdf.rows import Row

_LEAST_GAP = 0.65  # of the font size
MOST_GUTTERS = 60


@dataclass(frozen=True, slots=True)
class Gutter:
    """An upright strip of white between rows `first` and `last`."""

    middle: float
    first: int
    last: int  # not included
    score: int


def find_gutters(rows: Sequence[Row]) -> Iterator[Gutter]:
    """Find strips of white that run down between rows, columns or not."""
    middles = Counter[int]()
    for row in rows:
        for before, run in gaps_of(row):
            # Lines are ragged on one side: the edge on the other is the same for many.
            for x in ((before.right + run.left) / 2, run.left - 4, before.right + 4):
                middles[round(x / 3)] += 1
    for middle, _ in middles.most_common(MOST_GUTTERS):
        x = middle * 3.0
        free = [all(run.right <= x + 2 or run.left >= x - 2 for run in row.runs) for row in rows]
        for first, last in _stretches(free):
            yield from _scored(rows, x, first, last)


def gaps_of(row: Row) -> Iterator[tuple[Run, Run]]:
    """Give the runs on both sides of each gap that is wide enough."""
    right = row.runs[0]
    for run in row.runs[1:]:
        if run.left - right.right >= _LEAST_GAP * min(run.size, right.size):
            yield right, run
        if run.right > right.right:
            right = run


def _stretches(free: Sequence[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for number, is_free in enumerate([*free, False]):
        if is_free and start is None:
            start = number
        elif not is_free and start is not None:
            yield start, number
            start = None


def _scored(rows: Sequence[Row], x: float, first: int, last: int) -> Iterator[Gutter]:
    """Trim what stands above and below the gutter on one side only, and count the rest."""
    left = [number for number in range(first, last) if rows[number].runs[0].right <= x + 2]
    right = [number for number in range(first, last) if rows[number].runs[-1].left >= x - 2]
    if not left or not right:
        return
    # A line on the left alone may end a wide paragraph; on the right there is only the column.
    first = right[0] - _reach(rows, right[0], first, -1)
    last = right[-1] + 1 + _reach(rows, right[-1], last - 1, 1)
    yield Gutter(x, first, last, min(len(left), len(right)))


def _reach(rows: Sequence[Row], start: int, end: int, step: int) -> int:
    """Count the rows beyond a column's end that go on without a wider gap or another font."""
    count = 0
    for number in range(start, end, step):
        one, two = rows[number], rows[number + step]
        usual = 1.6 * max(one.size, two.size)
        if abs(one.base - two.base) > usual or abs(one.size - two.size) > 0.5:
            break
        count += 1
    return count
