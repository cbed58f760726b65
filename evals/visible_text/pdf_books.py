"""PDFs as seen: the words of each page by pypdf, without running heads and page numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pypdf import PdfReader

from evals.visible_text.words import Visible

EDGE = 2  # lines at the top and at the bottom that may be a running head
OFTEN = 0.1  # of all pages: what stands there as often is no part of the text
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)


def visible_pdf(path: Path) -> Iterator[Visible]:
    """Give each page with what is seen of its text."""
    pages = [page.extract_text().split("\n") for page in PdfReader(path).pages]
    offset = _page_offset(pages)
    often = _often(pages)
    for number, lines in enumerate(pages):
        edges = _edges(lines)
        kept = [
            line
            for place, line in enumerate(lines)
            if not (place in edges and _is_furniture(line, number + offset, often))
        ]
        yield Visible(f"page {number + 1}", "\n".join(kept))


def _edges(lines: Sequence[str]) -> set[int]:
    """Find the places of the first and last lines that hold anything."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return {*filled[:EDGE], *filled[-EDGE:]}


def _numbers(line: str) -> set[int]:
    """Give the numbers that begin or end a line."""
    marks = line.split()
    ends = {marks[0], marks[-1]} if marks else set()
    return {int(mark) for mark in ends if mark.isascii() and mark.isdigit()}


def _page_offset(pages: Sequence[Sequence[str]]) -> int:
    """Find by how much printed page numbers differ from the count of pages in the file."""
    offsets = Counter(
        printed - number
        for number, lines in enumerate(pages)
        for place in _edges(lines)
        for printed in _numbers(lines[place])
    )
    return offsets.most_common(1)[0][0] if offsets else 1


def _often(pages: Sequence[Sequence[str]]) -> set[str]:
    seen = Counter(
        line for lines in pages for line in {lines[place].strip() for place in _edges(lines)}
    )
    return {line for line, count in seen.items() if count >= max(OFTEN * len(pages), 3)}


def _is_furniture(line: str, printed: int, often: set[str]) -> bool:
    text = line.strip()
    return text in often or printed in _numbers(text) or bool(_ROMAN.fullmatch(text))
