"""The order in which a page is read: columns one after the other, tables row by row."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bythebook.adapters.readers.pdf.extraction import Rule, Run
from bythebook.adapters.readers.pdf.grids import find_grids
from bythebook.adapters.readers.pdf.gutters import MOST_GUTTERS, Gutter, find_gutters, gaps_of
from bythebook.adapters.readers.pdf.rows import Row, join_stretched, make_rows
from bythebook.adapters.readers.pdf.tables import Table, table_of

Region = list[Row] | Table

_MOST_ROWS = 500  # of a page that is looked through for columns
_MOST_RUNS = 4_000
_DEEPEST = 6  # columns within columns
_PROSE_WORDS = 2.7  # to a line
_PROSE_LETTERS = 16
_NUMERIC = 0.45
_STAND_IN = "\ue000"  # no text of a page has this sign
_MARKER = re.compile(r"[^\w\s]{0,2}\w{0,4}(?:\.\d{1,3}){0,3}[^\w\s]{0,2}")


@dataclass(slots=True)
class Patience:
    """How many more runs are looked at to tell columns; a page of scattered letters has no end."""

    left: int


@dataclass(frozen=True, slots=True)
class _Side:
    """What stands on one side of a gutter."""

    runs: list[Run]
    lines: int
    words: float  # to a line
    letters: float  # to a line
    continued: float  # share of lines that go on in the middle of a sentence
    numeric: float  # share of digits

    @property
    def is_prose(self) -> bool:
        """Say whether it reads like the lines of a column of text."""
        wide = self.words >= _PROSE_WORDS and self.letters >= _PROSE_LETTERS
        return wide and self.continued > 0.25 and self.lines > 1


def order_page(runs: Sequence[Run], rules: Sequence[Rule], patience: Patience) -> Iterator[Region]:
    """Give the regions of a page as a person reads them."""
    grids = find_grids(runs, rules)
    inside = {number for _, numbers in grids for number in numbers}
    outside = join_stretched([run for number, run in enumerate(runs) if number not in inside])
    outside += [_stand_in(table, number) for number, (table, _) in enumerate(grids)]
    places = {id(run): number for number, run in enumerate(outside)}
    depth = 0 if len(outside) <= _MOST_RUNS else _DEEPEST
    for region in _order(make_rows(outside), places, patience, depth):
        yield from [region] if isinstance(region, Table) else _put_back(region, grids)


def _stand_in(table: Table, number: int) -> Run:
    """Hold a table's place while the text around it is put into order."""
    rows = [row.row for row in table.rows]
    left, right = min(row.left for row in rows), max(row.right for row in rows)
    top = rows[0]
    mark = f"{_STAND_IN}{number}"
    return Run(
        left, right, top.base, top.size, bold=False, monospaced=False, turned=False, text=mark
    )


def _put_back(rows: list[Row], grids: Sequence[tuple[Table, set[int]]]) -> Iterator[Region]:
    held: list[Row] = []
    for row in rows:
        stands = [run for run in row.runs if run.text.startswith(_STAND_IN)]
        row.runs = [run for run in row.runs if run not in stands]
        if row.runs:
            held.append(row)
        if stands and held:
            yield held
            held = []
        yield from (grids[int(stand.text.removeprefix(_STAND_IN))][0] for stand in stands)
    if held:
        yield held


def _order(
    rows: list[Row], places: dict[int, int], patience: Patience, depth: int
) -> Iterator[Region]:
    sought = depth < _DEEPEST and 1 < len(rows) <= _MOST_ROWS and patience.left > 0
    found = _split(rows, places, patience) if sought else None
    if found is None:
        if rows:
            yield rows
        return
    gutter, kind = found
    yield from _order(rows[: gutter.first], places, patience, depth + 1)
    inside = rows[gutter.first : gutter.last]
    if kind == "table":
        yield table_of(inside)
    else:
        for side in _sides(inside, gutter.middle):
            yield from _order(make_rows(side), places, patience, depth + 1)
    yield from _order(rows[gutter.last :], places, patience, depth + 1)


def _split(
    rows: Sequence[Row], places: dict[int, int], patience: Patience
) -> tuple[Gutter, str] | None:
    """Find the tallest gutter that parts columns or cells; most gaps do neither."""
    gutters = sorted(find_gutters(rows), key=lambda gutter: -gutter.score)
    for gutter in gutters[:MOST_GUTTERS]:
        inside = rows[gutter.first : gutter.last]
        patience.left -= sum(len(row.runs) for row in inside)
        kind = _kind(inside, gutter.middle, places)
        if kind == "columns":
            return gutter, kind
        if kind == "table" and (stretch := _table_stretch(rows, gutter)):
            return stretch, kind
    return None


def _sides(rows: Sequence[Row], x: float) -> tuple[list[Run], list[Run]]:
    runs = [run for row in rows for run in row.runs]
    return [run for run in runs if run.right <= x + 2], [run for run in runs if run.right > x + 2]


def _kind(rows: Sequence[Row], x: float, places: dict[int, int]) -> str:
    """Say what a gutter parts: columns of text, cells of a table, or nothing."""
    left, right = (_side(runs) for runs in _sides(rows, x))
    if not left.runs or not right.runs or _is_plain(left, right):
        return "nothing"
    both = sum(row.runs[0].right <= x + 2 and row.runs[-1].left >= x - 2 for row in rows)
    in_rows = _drawn_by_rows(rows, x, places)
    by_rows = both >= 3 and in_rows >= 0.5 * both
    if left.is_prose and right.is_prose:
        return "columns"
    if left.is_prose or right.is_prose:
        return _beside_prose(left, right, by_rows=by_rows)
    if both < 3 or _is_fraction(rows):
        return "nothing"
    lists = max(left.numeric, right.numeric) < _NUMERIC
    if both > 3 and lists and in_rows <= 0.15 * both:
        return "columns"
    return "table" if _aligned(rows, x) else "nothing"


def _is_fraction(rows: Sequence[Row]) -> bool:
    """Say whether rows stand closer than lines can: the parts of a formula."""
    pitches = [above.base - below.base for above, below in itertools.pairwise(rows)]
    return median(pitches) < 0.95 * median(row.size for row in rows)


def _beside_prose(left: _Side, right: _Side, *, by_rows: bool) -> str:
    """Tell a note in the margin from a cell beside a long one."""
    main, other = (left, right) if left.is_prose else (right, left)
    if by_rows:
        return "table" if other.lines > 2 else "nothing"
    return "columns" if main.lines >= 4 else "nothing"


def _is_plain(left: _Side, right: _Side) -> bool:
    """Say whether the gap stands inside lines: after a list's marks, before an equation's number."""
    fixed = [run.monospaced for run in (*left.runs, *right.runs)]
    if 2 * sum(fixed) > len(fixed):
        return True
    marks = [_MARKER.fullmatch(run.text) is not None for run in left.runs]
    numbers = [_MARKER.fullmatch(run.text) is not None for run in right.runs]
    listed = all(marks) and right.numeric < _NUMERIC and right.words > 2
    return listed or (all(numbers) and left.words > 3 and not left.is_prose and len(numbers) < 3)


def _side(runs: list[Run]) -> _Side:
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


def _drawn_by_rows(rows: Sequence[Row], x: float, places: dict[int, int]) -> int:
    """Count the rows whose right side was drawn just after their left one, as cells are."""
    count = 0
    for row in rows:
        left = [places[id(run)] for run in row.runs if run.right <= x + 2]
        right = [places[id(run)] for run in row.runs if run.right > x + 2]
        count += bool(left and right) and max(left) + 1 == min(right)
    return count


def _aligned(rows: Sequence[Row], x: float) -> bool:
    """Say whether the cells beside a gutter stand below each other."""
    before, after = [], []
    for row in rows:
        lefts = [run for run in row.runs if run.right <= x + 2]
        rights = [run for run in row.runs if run.right > x + 2]
        if lefts and rights:
            before.append(lefts[-1])
            after.append(rights[0])
    return _alignment(before) >= 0.4 and _alignment(after) >= 0.6


def _alignment(runs: Sequence[Run]) -> float:
    """Give the share of runs that have their left, right or middle in common."""
    edges = (
        [run.left for run in runs],
        [run.right for run in runs],
        [(run.left + run.right) / 2 for run in runs],
    )
    best = max(max(sum(abs(one - two) < 2.5 for two in edge) for one in edge) for edge in edges)
    return best / len(runs)


def _table_stretch(rows: Sequence[Row], gutter: Gutter) -> Gutter | None:
    """Narrow a gutter down to rows of several cells, with at most two others between them."""
    cells = [len(row.runs) > 1 and any(gaps_of(row)) for row in rows]
    best, start, last = (0, 0), None, 0
    for number in range(gutter.first, gutter.last):
        if rows[number].runs[0].text.startswith(_STAND_IN):
            start = None
        if not cells[number] or rows[number].runs[0].text.startswith(_STAND_IN):
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
    last = _last_lines(rows, best[1], gutter)
    return Gutter(gutter.middle, best[0], last, gutter.score)


def _last_lines(rows: Sequence[Row], last: int, gutter: Gutter) -> int:
    """Find where the cells of the last row end: they may have several lines."""
    while last < gutter.last:
        above, row = rows[last - 1], rows[last]
        if row.left < gutter.middle - 2 or above.base - row.base > 1.35 * row.size:
            break
        last += 1
    return last
