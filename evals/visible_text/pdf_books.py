"""Visible text of PDFs: each page by pypdf, without running heads and page numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pypdf import PdfReader

from evals.visible_text.words import VisibleText

EDGE = 2  # lines at the top and at the bottom that may be a running head
REPEATED_FROM = 0.1  # share of pages from which a repeated line is not part of the text
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)


def extract_pdf(path: Path) -> Iterator[VisibleText]:
    """Extract the visible text of each page."""
    pages = [page.extract_text().split("\n") for page in PdfReader(path).pages]
    offset = _find_page_offset(pages)
    repeated = _find_repeated(pages)
    for number, lines in enumerate(pages):
        edges = _find_edges(lines)
        kept = [
            line
            for place, line in enumerate(lines)
            if not (place in edges and _is_furniture(line, number + offset, repeated))
        ]
        yield VisibleText(f"page {number + 1}", "\n".join(kept))


def _find_edges(lines: Sequence[str]) -> set[int]:
    """Find the indexes of the first and last lines that are not empty."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return {*filled[:EDGE], *filled[-EDGE:]}


def _find_numbers(line: str) -> set[int]:
    """Find the numbers that begin or end a line."""
    marks = line.split()
    ends = {marks[0], marks[-1]} if marks else set()
    return {int(mark) for mark in ends if mark.isascii() and mark.isdigit()}


def _find_page_offset(pages: Sequence[Sequence[str]]) -> int:
    """Find the difference between printed page numbers and page indexes."""
    offsets = Counter(
        printed - number
        for number, lines in enumerate(pages)
        for place in _find_edges(lines)
        for printed in _find_numbers(lines[place])
    )
    return offsets.most_common(1)[0][0] if offsets else 1


def _find_repeated(pages: Sequence[Sequence[str]]) -> set[str]:
    seen = Counter(
        line for lines in pages for line in {lines[place].strip() for place in _find_edges(lines)}
    )
    return {line for line, count in seen.items() if count >= max(REPEATED_FROM * len(pages), 3)}


def _is_furniture(line: str, printed: int, repeated: set[str]) -> bool:
    text = line.strip()
    return text in repeated or printed in _find_numbers(text) or bool(_ROMAN.fullmatch(text))
