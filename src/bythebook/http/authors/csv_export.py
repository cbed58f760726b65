"""Tables as CSV (RFC 4180), safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence

# What a spreadsheet may read as a formula; a plain number such as -3 is not one.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
Cell = str | int | float | None


def csv_lines(rows: Iterable[Sequence[Cell]]) -> str:
    """Write rows, each ended by CRLF; text is made harmless, numbers stay numbers."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerows([_defuse_formula(cell) for cell in row] for row in rows)
    return lines.getvalue()


def _defuse_formula(cell: Cell) -> Cell:
    """Put an apostrophe before text that would run as a formula; spreadsheets then show it as text."""
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\0", "")
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS) else text
