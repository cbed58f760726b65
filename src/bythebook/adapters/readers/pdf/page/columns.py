"""Finds the reading order of a page: columns one after the other, tables row by row."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bythebook.adapters.readers.pdf.extraction import Rule, Run
from bythebook.adapters.readers.pdf.page.grids import find_grids
from bythebook.adapters.readers.pdf.page.gutters import MAX_GUTTERS, Gutter, find_gaps, find_gutters
from bythebook.adapters.readers.pdf.page.rows import Row, join_stretched, make_rows
from bythebook.adapters.readers.pdf.page.tables import Table, make_table

Region = list[Row] | Table

_MAX_ROWS = 500  # pages with more rows are not searched for columns
_MAX_RUNS = 4_000
_MAX_DEPTH = 6  # nested columns
_PROSE_WORDS = 2.7  # per line
_PROSE_LETTERS = 16
_NUMERIC = 0.45
_PLACEHOLDER = "\ue000"  # not used in the text of any page
_MARKER = re.compile(r"[^\w\s]{0,2}\w{0,4}(?:\.\d{1,3}){0,3}[^\w\s]{0,2}")


@dataclass(slots=True)
class ColumnBudget:
    """How many more runs may be searched for columns; a page of scattered letters would take forever."""

    left: int


@dataclass(frozen=True, slots=True)
class _Side:
    """The text on one side of a gutter."""

    runs: list[Run]
    lines: int
    words: float  # per line
    letters: float  # per line
    continued: float  # share of lines that start in the middle of a sentence
    numeric: float  # share of digits

    @property
    def is_prose(self) -> bool:
        """Whether it looks like a column of text."""
        wide = self.words >= _PROSE_WORDS and self.letters >= _PROSE_LETTERS
        return wide and self.continued > 0.25 and self.lines > 1


def order_page(
    runs: Sequence[Run], rules: Sequence[Rule], budget: ColumnBudget
) -> Iterator[Region]:
    """Yield the regions of a page in reading order."""
    grids = find_grids(runs, rules)
    inside = {number for _, numbers in grids for number in numbers}
    outside = join_stretched([run for number, run in enumerate(runs) if number not in inside])
    outside += [_make_placeholder(table, number) for number, (table, _) in enumerate(grids)]
    places = {id(run): number for number, run in enumerate(outside)}
    depth = 0 if len(outside) <= _MAX_RUNS else _MAX_DEPTH
    for region in _order_rows(make_rows(outside), places, budget, depth):
        yield from [region] if isinstance(region, Table) else _restore_tables(region, grids)


def _make_placeholder(table: Table, number: int) -> Run:
    """Make a placeholder for a table while the text around it is ordered."""
    rows = [row.row for row in table.rows]
    left, right = min(row.left for row in rows), max(row.right for row in rows)
    top = rows[0]
    mark = f"{_PLACEHOLDER}{number}"
    return Run(
        left, right, top.base, top.size, bold=False, monospaced=False, turned=False, text=mark
    )


def _restore_tables(rows: list[Row], grids: Sequence[tuple[Table, set[int]]]) -> Iterator[Region]:
    held: list[Row] = []
    for row in rows:
        marks = [run for run in row.runs if run.text.startswith(_PLACEHOLDER)]
        row.runs = [run for run in row.runs if run not in marks]
        if row.runs:
            held.append(row)
        if marks and held:
            yield held
            held = []
        yield from (grids[int(mark.text.removeprefix(_PLACEHOLDER))][0] for mark in marks)
    if held:
        yield held


def _order_rows(
    rows: list[Row], places: dict[int, int], budget: ColumnBudget, depth: int
) -> Iterator[Region]:
    sought = depth < _MAX_DEPTH and 1 < len(rows) <= _MAX_ROWS and budget.left > 0
    found = _find_split(rows, places, budget) if sought else None
    if found is None:
        if rows:
            yield rows
        return
    gutter, kind = found
    yield from _order_rows(rows[: gutter.first], places, budget, depth + 1)
    inside = rows[gutter.first : gutter.last]
    if kind == "table":
        yield make_table(inside)
    else:
        for side in _split_runs(inside, gutter.middle):
            yield from _order_rows(make_rows(side), places, budget, depth + 1)
    yield from _order_rows(rows[gutter.last :], places, budget, depth + 1)


def _find_split(
    rows: Sequence[Row], places: dict[int, int], budget: ColumnBudget
) -> tuple[Gutter, str] | None:
    """Find the tallest gutter that separates columns or cells; most gaps do neither."""
    gutters = sorted(find_gutters(rows), key=lambda gutter: -gutter.score)
    for gutter in gutters[:MAX_GUTTERS]:
        inside = rows[gutter.first : gutter.last]
        budget.left -= sum(len(row.runs) for row in inside)
        kind = _classify_gutter(inside, gutter.middle, places)
        if kind == "columns":
            return gutter, kind
        if kind == "table" and (stretch := _narrow_to_table(rows, gutter)):
            return stretch, kind
    return None


def _split_runs(rows: Sequence[Row], x: float) -> tuple[list[Run], list[Run]]:
    runs = [run for row in rows for run in row.runs]
    return [run for run in runs if run.right <= x + 2], [run for run in runs if run.right > x + 2]


def _classify_gutter(rows: Sequence[Row], x: float, places: dict[int, int]) -> str:
    """Classify what a gutter separates: columns of text, cells of a table, or nothing."""
    left, right = (_measure_side(runs) for runs in _split_runs(rows, x))
    if not left.runs or not right.runs or _is_plain(left, right):
        return "nothing"
    both = sum(row.runs[0].right <= x + 2 and row.runs[-1].left >= x - 2 for row in rows)
    in_rows = _count_rows_drawn_together(rows, x, places)
    by_rows = both >= 3 and in_rows >= 0.5 * both
    if left.is_prose and right.is_prose:
        return "columns"
    if left.is_prose or right.is_prose:
        return _classify_next_to_prose(left, right, by_rows=by_rows)
    if both < 3 or _is_fraction(rows):
        return "nothing"
    lists = max(left.numeric, right.numeric) < _NUMERIC
    if both > 3 and lists and in_rows <= 0.15 * both:
        return "columns"
    return "table" if _is_aligned(rows, x) else "nothing"


def _is_fraction(rows: Sequence[Row]) -> bool:
    """Return True if rows are closer than lines can be: they are parts of a formula."""
    pitches = [above.base - below.base for above, below in itertools.pairwise(rows)]
    return median(pitches) < 0.95 * median(row.size for row in rows)


def _classify_next_to_prose(left: _Side, right: _Side, *, by_rows: bool) -> str:
    """Distinguish a note in the margin from a cell next to a long one."""
    main, other = (left, right) if left.is_prose else (right, left)
    if by_rows:
        return "table" if other.lines > 2 else "nothing"
    return "columns" if main.lines >= 4 else "nothing"


def _is_plain(left: _Side, right: _Side) -> bool:
    """Return True if the gap is inside lines: after list markers or before equation numbers."""
    fixed = [run.monospaced for run in (*left.runs, *right.runs)]
    if 2 * sum(fixed) > len(fixed):
        return True
    marks = [_MARKER.fullmatch(run.text) is not None for run in left.runs]
    numbers = [_MARKER.fullmatch(run.text) is not None for run in right.runs]
    listed = all(marks) and right.numeric < _NUMERIC and right.words > 2
    return listed or (all(numbers) and left.words > 3 and not left.is_prose and len(numbers) < 3)


def _measure_side(runs: list[Run]) -> _Side:
    rows = make_rows(runs)
    count = max(len(rows), 1)
    text = "".join(run.text for run in runs).replace(" ", "")
    digits = sum(character.isdigit() for character in text)
    return _Side(
        runs,
        len(rows),
        sum(run.text.count(" ") + 1 for run in runs) / count,
        len(text) / count,
        sum(row.runs[0].text[:1].islower() for row in rows) / count,
        digits / max(len(text), 1),
    )


def _count_rows_drawn_together(rows: Sequence[Row], x: float, places: dict[int, int]) -> int:
    """Count the rows whose right side was drawn directly after the left side, as for cells."""
    count = 0
    for row in rows:
        left = [places[id(run)] for run in row.runs if run.right <= x + 2]
        right = [places[id(run)] for run in row.runs if run.right > x + 2]
        count += bool(left and right) and max(left) + 1 == min(right)
    return count


def _is_aligned(rows: Sequence[Row], x: float) -> bool:
    """Return True if the cells on both sides of a gutter are aligned vertically."""
    before, after = [], []
    for row in rows:
        lefts = [run for run in row.runs if run.right <= x + 2]
        rights = [run for run in row.runs if run.right > x + 2]
        if lefts and rights:
            before.append(lefts[-1])
            after.append(rights[0])
    return _measure_alignment(before) >= 0.4 and _measure_alignment(after) >= 0.6


def _measure_alignment(runs: Sequence[Run]) -> float:
    """Return the share of runs with the same left edge, right edge or middle."""
    edges = (
        [run.left for run in runs],
        [run.right for run in runs],
        [(run.left + run.right) / 2 for run in runs],
    )
    best = max(max(sum(abs(one - two) < 2.5 for two in edge) for one in edge) for edge in edges)
    return best / len(runs)


def _narrow_to_table(rows: Sequence[Row], gutter: Gutter) -> Gutter | None:
    """Narrow a gutter to rows with several cells, with at most two other rows between them."""
    cells = [len(row.runs) > 1 and any(find_gaps(row)) for row in rows]
    best, start, last = (0, 0), None, 0
    for number in range(gutter.first, gutter.last):
        if rows[number].runs[0].text.startswith(_PLACEHOLDER):
            start = None
        if not cells[number] or rows[number].runs[0].text.startswith(_PLACEHOLDER):
            continue
        apart = start is not None and (
            number - last > 3 or rows[last].base - rows[number].base > 5 * rows[number].size
        )
        if start is None or apart:
            start = number
        last = number
        if last + 1 - start > best[1] - best[0]:
            best = (start, last + 1)
    if sum(cells[slice(*best)]) < 3:
        return None
    last = _find_table_end(rows, best[1], gutter)
    return Gutter(gutter.middle, best[0], last, gutter.score)


def _find_table_end(rows: Sequence[Row], last: int, gutter: Gutter) -> int:
    """Find the end of the last row's cells, which may have several lines."""
    while last < gutter.last:
        above, row = rows[last - 1], rows[last]
        if row.left < gutter.middle - 2 or above.base - row.base > 1.35 * row.size:
            break
        last += 1
    return last
