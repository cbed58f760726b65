"""A range inside a block -> the HTML of its words, without the block: for sentences that stand elsewhere."""

from bythebook.domain.books import Document
from bythebook.domain.marks import Cell, Formula, LinkMark, NoteReference, Style
from bythebook.render.code import place_words
from bythebook.render.inline import InlineRenderer
from bythebook.render.places import Addresses
from bythebook.render.tables import find_cells

_IN_LINES = (Style, LinkMark, Formula, NoteReference)  # a picture's own words are what is quoted


def render_cells(document: Document, addresses: Addresses, start: int, end: int) -> list[str]:
    """Write a range as its author set it; a row of a table by its cells, anything else as one."""
    inline = InlineRenderer(document.text, addresses, has_ids=False)
    block = next((one for one in document.blocks if one.start <= start and end <= one.end), None)
    if block and block.kind == "code":
        return [inline.write(start, end, place_words(document.text, block))]
    inside = [mark for mark in document.marks if mark.start < end and start < mark.end]
    marks = [mark for mark in inside if isinstance(mark, _IN_LINES)]
    if block and block.kind == "table":
        cells = [mark for mark in inside if isinstance(mark, Cell)]
        places = find_cells(document.text, start, end, cells)
        return [inline.write(one.start, one.end, marks) for one in places]
    return [inline.write(start, end, marks)]


def render_line(document: Document, addresses: Addresses, start: int, end: int) -> str:
    """Write a range on one line."""
    return " | ".join(render_cells(document, addresses, start, end)).replace("\n", " ")
