"""Tables without borders: rows of aligned cells."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bythebook.adapters.readers.pdf.extraction import Run
from bythebook.adapters.readers.pdf.page.rows import Row, join_runs

_MAX_COVERED = 0.12  # share of rows that may cross the gap between two columns
_MIN_GAP = 3  # points
_MAX_WIDTH = 6_000


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row, some of them empty, and the first row of text."""

    row: Row
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The cells as one line."""
        return " | ".join(self.cells)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as rows of text."""

    rows: tuple[TableRow, ...]


def make_table(rows: Sequence[Row]) -> Table:
    """Sort the runs of rows into columns; several lines may form one cell."""
    borders = _find_borders(rows)
    cells = [_split_cells(row.runs, borders) for row in rows]
    pitches = [above.base - below.base for above, below in itertools.pairwise(rows)]
    usual = median(pitches) if pitches else 0.0
    table: list[TableRow] = []
    for number, (row, texts) in enumerate(zip(rows, cells, strict=True)):
        if table and _is_continuation(texts, pitches[number - 1], usual):
            merged = zip(table[-1].cells, texts, strict=True)
            joined = tuple(f"{above} {below}".strip() for above, below in merged)
            table[-1] = TableRow(table[-1].row, joined)
        else:
            table.append(TableRow(row, texts))
    return Table(tuple(table))


def _is_continuation(cells: Sequence[str], pitch: float, usual: float) -> bool:
    """Return True if a row contains only further lines of the cells above."""
    filled = [cell for cell in cells if cell]
    if cells[0] or not filled or len(filled) == len(cells):
        return False
    return pitch < 0.9 * usual or (len(filled) == 1 and filled[0][:1].islower())


def _find_borders(rows: Sequence[Row]) -> list[float]:
    """Find the middles of the gaps between columns."""
    start = min(row.left for row in rows)
    width = min(int(max(row.right for row in rows) - start) + 1, _MAX_WIDTH)
    covered = [0] * (width + 1)
    for row in rows:
        for run in row.runs:
            for point in range(int(run.left - start), min(int(run.right - start) + 1, width)):
                covered[point] += 1
    limit = int(_MAX_COVERED * len(rows))
    borders, white = [], 0
    for point in range(width):
        if covered[point] <= limit:
            white += 1
            continue
        if white >= _MIN_GAP:
            borders.append(start + point - white / 2)
        white = 0
    return borders


def _split_cells(runs: Sequence[Run], borders: Sequence[float]) -> tuple[str, ...]:
    columns: list[list[Run]] = [[] for _ in range(len(borders) + 1)]
    for run in runs:
        columns[sum(border <= run.left + 1 for border in borders)].append(run)
    return tuple(join_runs(column) for column in columns)
