"""Finds running headers, footers and page numbers, which repeat on many pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, median_low

from bythebook.adapters.readers.pdf.extraction import ExtractedPage, Run
from bythebook.adapters.readers.pdf.page.rows import Row, join_runs, make_rows
from bythebook.domain.books import LeftOutReason

_NUMBER = re.compile(
    r"[-–—|\[(\s]*(?:page|p\.|seite)?\s*(\d{1,5}|[ivxlcdm]{1,9})\s*(?:(?:of|/)\s*\d{1,5})?[-–—|\])\s]*",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_BAND_POINTS = 3.0
_MIN_PAGES = 3
_SHARE_OF_PAGES = 0.3  # of a band at the edge
_INNER_SHARE = 0.6  # of a band next to a removed one
_SHARE_REPEATED = 0.6
_LARGE = 1.2  # relative to the page's font size
_SMALL = 0.9
_APART = 1.25
_MAX_DEPTH = 3  # repeated rows at one edge

Dropped = list[tuple[LeftOutReason, str]]


@dataclass(slots=True)
class _PageEdge:
    """The outer rows of a page, and how many of them are repeated text."""

    page: ExtractedPage
    rows: list[Row]  # from the edge inwards
    usual: float  # font size of the page
    pitch: float  # usual distance between its rows
    count: int  # number of its rows
    dropped: int = 0

    def is_separate(self, depth: int) -> bool:
        """Return True if a row is in small print or separated from the text by more than a line."""
        rows = self.rows[depth : depth + 3]
        if rows[0].size < _SMALL * self.usual:
            return True
        gaps = [abs(above.base - below.base) for above, below in pairwise(rows)]
        return not gaps or max(gaps) > _APART * self.pitch


@dataclass(frozen=True, slots=True)
class RepeatedText:
    """The text removed from each page, by page number."""

    runs: dict[int, set[Run]] = field(default_factory=dict)
    texts: dict[int, Dropped] = field(default_factory=dict)


def find_repeated_text(pages: Sequence[ExtractedPage]) -> RepeatedText:
    """Find text that repeats at the same height on many pages; text that occurs once is never removed."""
    found = RepeatedText()
    tops, bottoms = [], []
    for page in pages:
        rows = make_rows([run for run in page.runs() if not run.turned])
        usual = median(row.size for row in rows) if rows else 0.0
        gaps = [above.base - below.base for above, below in pairwise(rows)]
        pitch = median_low(gaps) if gaps else 0.0
        outer = _MAX_DEPTH + 2
        tops.append(_PageEdge(page, rows[:outer], usual, pitch, len(rows)))
        bottoms.append(_PageEdge(page, rows[: -outer - 1 : -1], usual, pitch, len(rows)))
    for edges in (tops, bottoms):
        for depth in range(_MAX_DEPTH):
            if not _drop_bands(edges, depth, found):
                break
    return found


def _drop_bands(edges: Sequence[_PageEdge], depth: int, found: RepeatedText) -> bool:
    """Remove the outermost rows that are repeated text; return True if any was removed."""
    bands: dict[int, list[tuple[_PageEdge, Row]]] = defaultdict(list)
    with_text = 0
    for edge in edges:
        with_text += bool(edge.rows)
        last = edge.count - depth == 1 and not edge.page.picture  # a stamp on a scan is not text
        if edge.dropped == depth and len(edge.rows) > depth and not last:
            row = edge.rows[depth]
            bands[round(row.base / _BAND_POINTS)].append((edge, row))
    share = _INNER_SHARE if depth else _SHARE_OF_PAGES
    least = max(_MIN_PAGES, share * with_text)
    done = False
    for band in sorted(bands):
        rows = bands[band] + bands.get(band + 1, [])  # a band may be split between two
        if len(rows) >= least:
            done = _drop_repeated(rows, found) or done
    return done


def _drop_repeated(rows: Sequence[tuple[_PageEdge, Row]], found: RepeatedText) -> bool:
    offsets = Counter(
        offset for edge, row in rows for run in row.runs for offset in _find_offsets(edge.page, run)
    )
    paged = {offset for offset, count in offsets.items() if count >= _MIN_PAGES}

    def is_number(page: ExtractedPage, run: Run) -> bool:
        return any(offset in paged for offset in _find_offsets(page, run))

    texts = Counter(_normalize_words(edge, row, is_number) for edge, row in rows)
    repeated = sum(count for text, count in texts.items() if count > 1 or not text)
    apart = sum(edge.is_separate(edge.dropped) for edge, _ in rows)
    if min(repeated, apart) < _SHARE_REPEATED * len(rows):
        return False
    done = False
    for edge, row in rows:
        numbered = any(is_number(edge.page, run) for run in row.runs)
        words = _normalize_words(edge, row, is_number)
        if edge.rows[edge.dropped : edge.dropped + 1] == [row] and (texts[words] > 1 or numbered):
            _drop(edge, row, is_number, found)
            done = True
    return done


def _find_offsets(page: ExtractedPage, run: Run) -> list[int | str]:
    """Return the difference between a printed page number and the page count; empty for other text."""
    match = _NUMBER.fullmatch(run.text)
    if match is None:
        return []
    value = match.group(1).lower()
    shown: list[int | str] = ["label"] if value == page.label.lower() else []
    number = int(value) if value.isdigit() else _parse_roman(value)
    return [*shown, number - page.number]


def _parse_roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}[c] for c in text]
    after = [*values[1:], 0]
    return sum(-one if one < two else one for one, two in zip(values, after, strict=True))


def _normalize_words(
    edge: _PageEdge, row: Row, is_number: Callable[[ExtractedPage, Run], bool]
) -> str:
    """Return the text to compare: digits are ignored, except in large text that may number chapters."""
    words = " ".join(run.text for run in row.runs if not is_number(edge.page, run)).casefold()
    return words if row.size > _LARGE * edge.usual else _DIGITS.sub("#", words)


def _drop(
    edge: _PageEdge, row: Row, is_number: Callable[[ExtractedPage, Run], bool], found: RepeatedText
) -> None:
    number = edge.page.number
    edge.dropped += 1
    found.runs.setdefault(number, set()).update(row.runs)
    texts = found.texts.setdefault(number, [])
    words = [run for run in row.runs if not is_number(edge.page, run)]
    texts.extend(("page number", run.text) for run in row.runs if is_number(edge.page, run))
    if words:
        texts.append(("running header", join_runs(words)))
