"""Text, marks and a range -> sanitised HTML, or plain styling at the terminal: the one renderer."""

from bythebook.render.blocks import render_document, render_fragment
from bythebook.render.formula_text import write_formula_text
from bythebook.render.lines import render_cells, render_line
from bythebook.render.places import (
    QUOTE,
    Addresses,
    Highlight,
    name_anchors,
    opens_with_title,
)

__all__ = [
    "QUOTE",
    "Addresses",
    "Highlight",
    "name_anchors",
    "opens_with_title",
    "render_cells",
    "render_document",
    "render_fragment",
    "render_line",
    "write_formula_text",
]
