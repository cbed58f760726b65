"""Groups runs at the same height into rows, and turns rows into lines of text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from bythebook.adapters.readers.pdf.extraction import Run

_SAME_HEIGHT = 0.5  # of the font size
_WORD_GAP = 0.15


@dataclass(slots=True)
class Row:
    """Runs next to each other."""

    base: float
    size: float
    runs: list[Run] = field(default_factory=list)  # from left to right when the row is complete
    weight: int = 0

    @property
    def left(self) -> float:
        """Where its text starts."""
        return min(run.left for run in self.runs)

    @property
    def right(self) -> float:
        """Where its text ends."""
        return max(run.right for run in self.runs)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, and its position."""

    page: int  # counted from 0
    left: float
    right: float
    base: float
    size: float
    bold: bool
    monospaced: bool
    text: str


def join_stretched(runs: Sequence[Run]) -> list[Run]:
    """Join the words of justified lines: their gaps are wide but equal."""
    joined: list[Run] = []
    group: list[Run] = []
    for run in runs:
        if group and not (run.base == group[-1].base and run.left > group[-1].right):
            joined.extend(_join_group(group))
            group = []
        group.append(run)
    return joined + _join_group(group)


def _join_group(group: list[Run]) -> list[Run]:
    gaps = [run.left - before.right for before, run in pairwise(group)]
    words = all(" " not in run.text and run.text[:1].isalpha() for run in group)
    if len(gaps) < 2 or not words or max(gaps) - min(gaps) > 0.1 * max(gaps) + 0.3:
        return group
    return [group[0]._replace(right=group[-1].right, text=" ".join(run.text for run in group))]


def make_rows(runs: Sequence[Run]) -> list[Row]:
    """Group runs of about the same height into rows, from top to bottom."""
    rows: list[Row] = []
    for run in sorted(runs, key=lambda run: -run.base):
        row = rows[-1] if rows else None
        if row is None or row.base - run.base > _SAME_HEIGHT * max(run.size, row.size):
            row = Row(run.base, run.size)
            rows.append(row)
        row.runs.append(run)
        if len(run.text) > row.weight:  # a subscript or superscript does not move the row
            row.base, row.size, row.weight = run.base, run.size, len(run.text)
    for row in rows:
        row.runs.sort(key=lambda run: run.left)
    return rows


def make_line(row: Row, page: int) -> Line:
    """Turn a row into a line."""
    main = max(row.runs, key=lambda run: len(run.text))
    characters = sum(len(run.text) for run in row.runs)
    bold = sum(len(run.text) for run in row.runs if run.bold)
    fixed = sum(len(run.text) for run in row.runs if run.monospaced)
    return Line(
        page, row.left, row.right, main.base, main.size,
        2 * bold > characters, 2 * fixed > characters, join_runs(row.runs),
    )  # fmt: skip


def make_text_line(row: Row, page: int, text: str) -> Line:
    """Turn a row into a line with the given text."""
    first = row.runs[0]
    return Line(
        page, row.left, row.right, row.base, row.size, first.bold, first.monospaced, text
    )  # fmt: skip


def join_runs(runs: Sequence[Run]) -> str:
    """Join runs into text, with a space for each gap."""
    parts = [runs[0].text] if runs else []
    for before, run in pairwise(runs):
        touching = abs(run.left - before.right) < _WORD_GAP * min(run.size, before.size)
        parts.append(run.text if touching else f" {run.text}")
    return "".join(parts)


def make_code_lines(rows: Sequence[Row], page: int) -> list[Line]:
    """Turn rows in a monospaced font into lines, with indentation from their positions."""
    letters = [
        (run.right - run.left) / len(run.text)
        for row in rows
        for run in row.runs
        if len(run.text) > 2
    ]
    width = max(median(letters), 1.0) if letters else 6.0
    margin = min(row.left for row in rows)
    lines = []
    for row in rows:
        text = ""
        for run in row.runs:
            column = min(round((run.left - margin) / width), 200)
            text = text.ljust(column if not text else max(column, len(text) + 1)) + run.text
        lines.append(make_text_line(row, page, text))
    return lines
