"""Running headers, footers and page numbers: what repeats on page after page."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, median_low

from bythebook.adapters.readers.pdf.extraction import ExtractedPage, Run
from bythebook.adapters.readers.pdf.rows import Row, join_runs, make_rows
from bythebook.domain.books import LeftOutReason

_NUMBER = re.compile(
    r"[-–—|\[(\s]*(?:page|p\.|seite)?\s*(\d{1,5}|[ivxlcdm]{1,9})\s*(?:(?:of|/)\s*\d{1,5})?[-–—|\])\s]*",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_BAND_POINTS = 3.0
_LEAST_PAGES = 3
_SHARE_OF_PAGES = 0.3  # of a band at the very edge
_INNER_SHARE = 0.6  # of a band next to one that was dropped
_SHARE_REPEATED = 0.6
_LARGE = 1.2  # against the page's font size
_SMALL = 0.9
_APART = 1.25
_DEEPEST = 3  # rows of furniture at one edge

Dropped = list[tuple[LeftOutReason, str]]


@dataclass(slots=True)
class _Edges:
    """The outer rows of a page, and how many of them are furniture."""

    page: ExtractedPage
    rows: list[Row]  # from the edge inwards
    usual: float  # font size of the page
    pitch: float  # usual distance of its rows
    count: int  # of its rows
    dropped: int = 0

    def stands_apart(self, depth: int) -> bool:
        """Say whether a row is of small print, or it and the next parted from the text by more than a line."""
        rows = self.rows[depth : depth + 3]
        if rows[0].size < _SMALL * self.usual:
            return True
        gaps = [abs(above.base - below.base) for above, below in pairwise(rows)]
        return not gaps or max(gaps) > _APART * self.pitch


@dataclass(frozen=True, slots=True)
class Furniture:
    """What is left out of each page, by the page's number."""

    runs: dict[int, set[Run]] = field(default_factory=dict)
    texts: dict[int, Dropped] = field(default_factory=dict)


def find_furniture(pages: Sequence[ExtractedPage]) -> Furniture:
    """Find what repeats at the same height over many pages; never text that occurs once."""
    found = Furniture()
    tops, bottoms = [], []
    for page in pages:
        rows = make_rows([run for run in page.runs() if not run.turned])
        usual = median(row.size for row in rows) if rows else 0.0
        gaps = [above.base - below.base for above, below in pairwise(rows)]
        pitch = median_low(gaps) if gaps else 0.0
        outer = _DEEPEST + 2
        tops.append(_Edges(page, rows[:outer], usual, pitch, len(rows)))
        bottoms.append(_Edges(page, rows[: -outer - 1 : -1], usual, pitch, len(rows)))
    for edges in (tops, bottoms):
        for depth in range(_DEEPEST):
            if not _drop_bands(edges, depth, found):
                break
    return found


def _drop_bands(edges: Sequence[_Edges], depth: int, found: Furniture) -> bool:
    """Drop the outermost rows that are furniture; say whether any was."""
    bands: dict[int, list[tuple[_Edges, Row]]] = defaultdict(list)
    with_text = 0
    for edge in edges:
        with_text += bool(edge.rows)
        last = edge.count - depth == 1 and not edge.page.picture  # a scan's stamp is no text
        if edge.dropped == depth and len(edge.rows) > depth and not last:
            row = edge.rows[depth]
            bands[round(row.base / _BAND_POINTS)].append((edge, row))
    share = _INNER_SHARE if depth else _SHARE_OF_PAGES
    least = max(_LEAST_PAGES, share * with_text)
    done = False
    for band in sorted(bands):
        rows = bands[band] + bands.get(band + 1, [])  # a band may lie across a border
        if len(rows) >= least:
            done = _drop_repeated(rows, found) or done
    return done


def _drop_repeated(rows: Sequence[tuple[_Edges, Row]], found: Furniture) -> bool:
    offsets = Counter(
        offset for edge, row in rows for run in row.runs for offset in _offsets(edge.page, run)
    )
    paged = {offset for offset, count in offsets.items() if count >= _LEAST_PAGES}

    def is_number(page: ExtractedPage, run: Run) -> bool:
        return any(offset in paged for offset in _offsets(page, run))

    texts = Counter(_words(edge, row, is_number) for edge, row in rows)
    repeated = sum(count for text, count in texts.items() if count > 1 or not text)
    apart = sum(edge.stands_apart(edge.dropped) for edge, _ in rows)
    if min(repeated, apart) < _SHARE_REPEATED * len(rows):
        return False
    done = False
    for edge, row in rows:
        numbered = any(is_number(edge.page, run) for run in row.runs)
        words = _words(edge, row, is_number)
        if edge.rows[edge.dropped : edge.dropped + 1] == [row] and (texts[words] > 1 or numbered):
            _drop(edge, row, is_number, found)
            done = True
    return done


def _offsets(page: ExtractedPage, run: Run) -> list[int | str]:
    """Give how a page number is shifted against the count of pages; none if it is not one."""
    match = _NUMBER.fullmatch(run.text)
    if match is None:
        return []
    value = match.group(1).lower()
    shown: list[int | str] = ["label"] if value == page.label.lower() else []
    number = int(value) if value.isdigit() else _roman(value)
    return [*shown, number - page.number]


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}[c] for c in text]
    after = [*values[1:], 0]
    return sum(-one if one < two else one for one, two in zip(values, after, strict=True))


def _words(edge: _Edges, row: Row, is_number: Callable[[ExtractedPage, Run], bool]) -> str:
    """Give what repeats: a header's words whatever its numbers, but large letters count chapters."""
    words = " ".join(run.text for run in row.runs if not is_number(edge.page, run)).casefold()
    return words if row.size > _LARGE * edge.usual else _DIGITS.sub("#", words)


def _drop(
    edge: _Edges, row: Row, is_number: Callable[[ExtractedPage, Run], bool], found: Furniture
) -> None:
    number = edge.page.number
    edge.dropped += 1
    found.runs.setdefault(number, set()).update(row.runs)
    texts = found.texts.setdefault(number, [])
    words = [run for run in row.runs if not is_number(edge.page, run)]
    texts.extend(("page number", run.text) for run in row.runs if is_number(edge.page, run))
    if words:
        texts.append(("running header", join_runs(words)))
