"""Reads the tables of AsciiDoc: rows of cells between bars, or comma-separated values."""

import csv
import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from bythebook.adapters.readers.asciidoc.attributes import BlockAttributes
from bythebook.adapters.readers.markdown.syntax.tokens import make_table, make_text

_CELL = re.compile(r"(?:(?<=^)|(?<=\s)|^)(\d*\*)?(\d*(?:\.\d+)?\+)?([<^>]?(?:\.[<^>])?)([a-z]?)$")
_MAX_COPIES = 50
_MAX_CELLS = 100_000

ReadInline = Callable[[str], list[Token]]
ReadBlocks = Callable[[Sequence[str]], list[Token]]


def read_table(
    lines: Sequence[str],
    attributes: BlockAttributes,
    separator: str,
    read_inline: ReadInline,
    read_blocks: ReadBlocks,
) -> list[Token]:
    """Return a table as tokens."""
    style = attributes.named.get("format", "")
    separator = attributes.named.get("separator", separator)
    if style in {"csv", "tsv"} or separator in {",", "\t"}:
        mark = "\t" if style == "tsv" else "," if separator == "|" else separator[:1]
        rows = list(csv.reader([line for line in lines if line.strip()], delimiter=mark))
        return make_table([[read_inline(cell.strip()) for cell in row] for row in rows])
    cells, first = _split_cells(lines, separator[:1] or "|")
    width = _count_columns(attributes.named.get("cols", "")) or first or 1
    read = [_read_cell(text, style, read_inline, read_blocks) for text, style in cells]
    return make_table([read[at : at + width] for at in range(0, len(read), width)])


def _count_columns(spec: str) -> int:
    if spec.strip().isdecimal():
        return min(int(spec), 1000)
    total = 0
    for part in re.split(r"[,;]", spec) if spec.strip() else ():
        repeated = re.match(r"\s*(\d+)\*", part)
        total += min(int(repeated.group(1)), 1000) if repeated else 1
    return total


def _split_cells(lines: Sequence[str], separator: str) -> tuple[list[tuple[str, str]], int]:
    """Split lines into cells with their styles; also count the cells of the first line."""
    cells: list[tuple[str, str]] = []
    first = 0
    pattern = re.compile(rf"(?<!\\){re.escape(separator)}")
    waiting = (1, "")  # copies and style of the next cell
    started = False
    for line in lines:
        if not line.strip() and not started:
            continue
        parts = pattern.split(line)
        before, *texts = parts
        if not texts:
            _extend(cells, line)
            continue
        if started and before.strip():
            before, spec = _cut_spec(before)
            _extend(cells, before)
            waiting = spec
        elif before.strip():
            waiting = _cut_spec(before)[1]
        for place, text in enumerate(texts):
            spec = (1, "")
            if place < len(texts) - 1:
                text, spec = _cut_spec(text)
            copies, style = waiting
            shown = text.replace(f"\\{separator}", separator).strip()
            cells.extend([(shown, style)] * min(copies, _MAX_COPIES))
            waiting = spec
        if not started:
            first, started = len(cells), True
        if len(cells) > _MAX_CELLS:
            break
    return cells, first


def _cut_spec(text: str) -> tuple[str, tuple[int, str]]:
    """Cut the specification of the next cell off the end of a text: 2+, 3*, a, ..."""
    last = re.search(r"(?:^|\s)(\S{1,12})$", text)
    found = _CELL.search(last.group(1)) if last else None
    if last is None or found is None or found.group() != last.group(1):
        return text, (1, "")
    copies = int(found.group(1)[:-1] or 1) if found.group(1) else 1
    return text[: last.start()], (copies, found.group(4))


def _extend(cells: list[tuple[str, str]], line: str) -> None:
    if cells:
        text, style = cells[-1]
        cells[-1] = (f"{text}\n{line}", style)


def _read_cell(
    text: str, style: str, read_inline: ReadInline, read_blocks: ReadBlocks
) -> list[Token]:
    if style == "l":
        return make_text(text)
    if style != "a":
        return read_inline(" ".join(text.split("\n")).strip())
    found: list[Token] = []
    for token in read_blocks(text.split("\n")):
        children = (
            token.children or []
            if token.type == "inline"
            else make_text(token.content.strip())
            if token.type in {"fence", "math_block"}
            else []
        )
        found.extend([*make_text(" "), *children] if found and children else children)
    return found
