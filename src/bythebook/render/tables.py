"""Tables: the lines of a block as rows, cut into cells where the author cut them."""

from collections.abc import Iterator, Sequence
from html import escape

from bythebook.domain.books import Block
from bythebook.domain.marks import Cell, Mark
from bythebook.render.inline import InlineRenderer
from bythebook.render.lists import split_range


def write_table(
    text: str, block: Block, marks: Sequence[Mark], inline: InlineRenderer, *, has_head: bool
) -> str:
    """Write a table; the first row names the columns if the block begins with it."""
    cells = [mark for mark in marks if isinstance(mark, Cell)]
    others = [mark for mark in marks if not isinstance(mark, Cell)]
    rows: list[str] = []
    head = ""
    for number, (start, end) in enumerate(split_range(text, block.start, block.end, "\n")):
        found = list(find_cells(text, start, end, cells))
        is_head = has_head and number == 0
        html = "".join(_write_cell(cell, others, inline, is_head=is_head) for cell in found)
        if is_head:
            head = f"<thead><tr>{html}</tr></thead>"
        else:
            rows.append(f"<tr>{html}</tr>")
    return (
        '<div class="table" role="group" aria-label="Table" tabindex="0">'
        f'<table dir="auto">{head}<tbody>{"".join(rows)}</tbody></table></div>'
    )


def find_cells(text: str, start: int, end: int, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Return the cells of a row: those marked, or what stands between column marks."""
    marked = [cell for cell in cells if start <= cell.start and cell.end <= end]
    if marked:
        yield from marked
    else:
        yield from (Cell(*place) for place in split_range(text, start, end, " | "))


def _write_cell(cell: Cell, marks: Sequence[Mark], inline: InlineRenderer, *, is_head: bool) -> str:
    inside = [mark for mark in marks if cell.start <= mark.start and mark.end <= cell.end]
    html = inline.write(cell.start, cell.end, inside)
    name = f' class="{escape(cell.align)}"' if cell.align else ""
    if is_head:
        return f'<th scope="col"{name}>{html}</th>'
    if cell.is_head:
        return f'<th scope="row"{name}>{html}</th>'
    return f"<td{name}>{html}</td>"
