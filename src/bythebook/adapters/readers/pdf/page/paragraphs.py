"""Turns lines into paragraphs, lists, captions, code and formulas."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median

from bythebook.adapters.readers.pdf.page.columns import Region
from bythebook.adapters.readers.pdf.page.elements import Element
from bythebook.adapters.readers.pdf.page.rows import (
    Line,
    Row,
    make_code_lines,
    make_line,
    make_text_line,
)
from bythebook.adapters.readers.pdf.page.tables import Table
from bythebook.domain.books import BlockKind

_BULLET = re.compile(r"[•▪◦‣●■□▸►➤·∙⁃○◆❖✓–—*-]\s+(?=\S)")
_DRAWN_BULLET = re.compile(r"[•▪◦‣●■]\s")  # code contains hyphens and stars too
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\([ivx]{1,5}\))\s+(?=\S)")
_SECTION = re.compile(r"[A-Z]?\d{0,2}(?:\.\d{1,2})+\s+(?=[^\W\d_])")
_NOTE = re.compile(r"\d{1,3}[A-Z(“]")
_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Listing|Algorithm|Exhibit|Plate|Abbildung|Tabelle)\s"
    r"(?:[A-Z]|\d+)(?:[.\-–]\d+)*(?!\d)\s*(?:[:|—–]|\.(?=\s|$)|$)"
)
_CLAUSE_END = re.compile(r"[.!?:;][\"'”’)\]]*\d{0,3}$")
_MATH = re.compile(r"[=<>≤≥±×÷∑∫√∞≈≠→←∏∂−+^∈∪∩]")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_ENTRY = re.compile(r"[,\s]\s*\d+(?:[–-]\d+)?$")  # index entry: ends with a page number
_ONLY_PAGES = re.compile(r"[\d\s,–-]+")
_WIDE_PITCH = 1.3  # of the usual line distance
_INDENT = 0.8  # of the font size
_OUTDENT = 2.2  # of the font size; more than the indent of a paragraph's first line


def make_elements(region: Region, page: int) -> Iterator[Element]:
    """Yield the elements of a region, from top to bottom."""
    if isinstance(region, Table):
        lines = [make_text_line(row.row, page, row.text) for row in region.rows]
        yield Element("table", lines)
        return
    for is_code, rows in _split_by_font(region, page):
        if is_code:
            yield from _make_code(rows, page)
        else:
            yield from _make_prose([make_line(row, page) for row in rows])


def _split_by_font(rows: Sequence[Row], page: int) -> Iterator[tuple[bool, list[Row]]]:
    """Separate rows in a monospaced font from the others."""
    held: list[Row] = []
    held_is_code = False
    for row in rows:
        line = make_line(row, page)
        is_code = all(run.monospaced for run in row.runs) and not _DRAWN_BULLET.match(line.text)
        if held and is_code != held_is_code:
            yield held_is_code, held
            held = []
        held.append(row)
        held_is_code = is_code
    if held:
        yield held_is_code, held


def _make_code(rows: Sequence[Row], page: int) -> Iterator[Element]:
    """Split code at gaps that are too wide for an empty line."""
    pitch = _find_usual_pitch([make_line(row, page) for row in rows])
    start = 0
    for number in range(1, len(rows) + 1):
        gap = rows[number - 1].base - rows[number].base if number < len(rows) else math.inf
        if gap > 3.2 * pitch:
            lines = make_code_lines(rows[start:number], page)
            yield Element("code", _insert_empty_lines(lines, pitch))
            start = number


def _insert_empty_lines(lines: Sequence[Line], pitch: float) -> list[Line]:
    spaced: list[Line] = []
    for line in lines:
        if spaced and spaced[-1].base - line.base > 1.7 * pitch:
            spaced.append(replace(line, base=spaced[-1].base, text=""))
        spaced.append(line)
    return spaced


def _find_usual_pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance between lines; for a single line, a distance based on its font."""
    size = median(line.size for line in lines)
    pitches = [above.base - below.base for above, below in pairwise(lines)]
    usual = [pitch for pitch in pitches if 0.8 * size < pitch < 2.2 * size]
    return median(usual) if len(usual) > 1 else (usual[0] if usual else 1.2 * size)


class _Column:
    """The measures of a column that show where a paragraph ends."""

    def __init__(self, lines: Sequence[Line]) -> None:
        by_size: dict[float, list[Line]] = {}
        for line in lines:
            by_size.setdefault(round(line.size), []).append(line)
        self._pitches = {size: _find_usual_pitch(group) for size, group in by_size.items()}
        rights = Counter(round(line.right / 4) for line in lines)
        self.right = max(line.right for line in lines)
        common, count = rights.most_common(1)[0]
        if count > 2:
            self.right = max(common * 4.0, min(self.right, common * 4.0 + 12))
        self.left = min(line.left for line in lines)

        entries = sum(_ENTRY.search(line.text) is not None for line in lines)
        self.is_index = len(lines) > 4 and entries >= 0.6 * len(lines)
        sizes = Counter(round(line.size) for line in lines)
        self.size = sizes.most_common(1)[0][0]

    def get_pitch(self, line: Line) -> float:
        return self._pitches[round(line.size)]

    def is_short(self, line: Line) -> bool:
        """Return True if a line ends well before the right edge."""
        return self.right - line.right > max(2.5 * line.size, 0.08 * (self.right - self.left))

    def breaks_early(self, line: Line, following: Line) -> bool:
        """Return True if the next line's first word would have fit: the break is intended."""
        word = len(following.text.split(" ", 1)[0]) / max(len(following.text), 1)
        width = word * (following.right - following.left)
        return self.right - line.right > 1.3 * width + line.size


def _make_prose(lines: Sequence[Line]) -> Iterator[Element]:
    column = _Column(lines)
    if column.is_index:
        for is_large, alike in groupby(lines, lambda line: line.size > 1.12 * column.size):
            entries = list(alike)
            yield Element("paragraph", entries) if is_large else _make_index(entries)
        return
    held: list[Line] = []
    group: list[list[Line]] = []  # items of a list
    for line in lines:
        if held and not _continues(held, line, column):
            yield from _add_paragraph(group, held, line, column)
            held = []
        held.append(line)
    if held:
        yield from _add_paragraph(group, held, None, column)


def _make_index(lines: Sequence[Line]) -> Element:
    """Make a list of index entries; one without a page number continues on the next line."""
    starts = {0}
    for number, (above, line) in enumerate(pairwise(lines), start=1):
        if _ENTRY.search(above.text) and not _ONLY_PAGES.fullmatch(line.text):
            starts.add(number)
    return Element("list", list(lines), starts=frozenset(starts))


def _add_paragraph(
    items: list[list[Line]], paragraph: list[Line], following: Line | None, column: _Column
) -> Iterator[Element]:
    """Collect list items until the list ends; yield everything else directly."""
    marked = _find_marker(paragraph[0])
    if marked:
        items.append(paragraph)
        near = (
            following is not None
            and _find_marker(following) == marked
            and (paragraph[-1].base - following.base < 2.6 * column.get_pitch(following))
        )
        if near:
            return
        single = marked == "section" and len(items) == 1
        yield Element("paragraph", paragraph) if single else _make_list(items, marked)
        items.clear()
        return
    yield Element(_classify(paragraph), paragraph)


def _make_list(items: Sequence[list[Line]], marked: str) -> Element:
    starts: set[int] = set()
    lines: list[Line] = []
    for item in items:
        starts.add(len(lines))
        first = item[0]
        text = _BULLET.sub("", first.text, count=1) if marked == "bullet" else first.text
        lines.append(replace(first, text=text))
        lines.extend(item[1:])
    return Element("list", lines, starts=frozenset(starts), ordered=marked != "bullet")


def _find_marker(line: Line) -> str:
    if _BULLET.match(line.text):
        return "bullet"
    if _NUMBERED.match(line.text):
        return "number"
    return "section" if _SECTION.match(line.text) else ""


def _classify(paragraph: Sequence[Line]) -> BlockKind:
    text = " ".join(line.text for line in paragraph)
    if _CAPTION.match(text):
        return "caption"
    letters = sum(len(word) for word in _LONG_WORD.findall(text))
    shown = len(text.replace(" ", ""))
    if _MATH.search(text) and letters < 0.35 * shown and len(paragraph) < 12:
        return "formula"
    return "paragraph"


def _continues(held: Sequence[Line], line: Line, column: _Column) -> bool:
    """Return True if a line belongs to the paragraph above it."""
    last = held[-1]
    pitch = last.base - line.base
    usual = min(column.get_pitch(last), column.get_pitch(line))
    if not -0.5 * line.size < pitch <= _WIDE_PITCH * usual + 0.5:
        return False
    if abs(last.size - line.size) > 0.08 * max(last.size, line.size):
        return _is_scrap(last) or _is_scrap(line)
    if _find_marker(line) and (
        _find_marker(held[0]) or _CLAUSE_END.search(last.text) or _BULLET.match(line.text)
    ):
        return False
    if last.bold != line.bold and (column.is_short(last) or _CLAUSE_END.search(last.text)):
        return False
    if _find_marker(held[0]):
        return _item_continues(held, line, column)
    return not _starts_paragraph(held, line, column)


def _is_scrap(line: Line) -> bool:
    """Return True if a line is a subscript, superscript or fragment of a formula."""
    return len(line.text) < 6 and not _LONG_WORD.search(line.text)


def _item_continues(held: Sequence[Line], line: Line, column: _Column) -> bool:
    hangs = line.left > held[0].left + 0.4 * line.size
    if hangs:
        return len(held) == 1 or line.left < held[1].left + _INDENT * line.size
    ended = _CLAUSE_END.search(held[-1].text) is not None
    return not column.is_short(held[-1]) and not (ended and line.text[:1].isupper())


def _starts_paragraph(held: Sequence[Line], line: Line, column: _Column) -> bool:
    last = held[-1]
    ended = _CLAUSE_END.search(last.text) is not None
    if _CAPTION.match(line.text) and (ended or column.is_short(last)):
        return True
    if _NOTE.match(line.text) and _NOTE.match(held[0].text) and ended:
        return True
    indented = line.left - last.left
    if _INDENT * line.size < indented < 5 * line.size and (ended or column.is_short(last)):
        return True
    large = line.size > 1.12 * column.size
    if column.breaks_early(last, line) and not line.text[:1].islower() and not large:
        formulas = _classify([last]) == "formula" == _classify([line])
        return not formulas and not _CAPTION.match(held[0].text)
    if ended and last.left - line.left > _OUTDENT * line.size:
        return True
    captioned = _CAPTION.match(held[0].text) is not None
    return column.is_short(last) and ended and not line.text[:1].islower() and not captioned
