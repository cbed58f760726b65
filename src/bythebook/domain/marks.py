"""Marks: what an author's markup says about ranges of a document's plain text.

The text with its offsets is what is quoted; marks only say how it looks and where it leads.
"""

from dataclasses import dataclass, replace
from typing import Literal, Self

StyleKind = Literal[
    "emphasis", "strong", "deleted", "code", "subscript", "superscript", "keyboard", "code title"
]
AdmonitionKind = Literal["note", "tip", "important", "warning", "danger"]
Alignment = Literal["", "left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A range of a text; offsets count characters."""

    start: int
    end: int

    def move(self, start: int, end: int) -> Self:
        """Return the same mark over another range."""
        return replace(self, start=start, end=end)


@dataclass(frozen=True, slots=True)
class Style(Mark):
    """How words are set."""

    kind: StyleKind


@dataclass(frozen=True, slots=True)
class LinkMark(Mark):
    """Words that lead elsewhere: to a place in the book, or to an address."""

    url: str = ""
    document_id: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Formula(Mark):
    """A formula; the text has its TeX or its symbols, which MathML replaces on pages."""

    mathml: str = ""  # empty if it could not be converted
    display: bool = False


@dataclass(frozen=True, slots=True)
class Picture(Mark):
    """A picture over its alternative text; without one the range is empty."""

    file: str  # its name in the generation: a hash of its content, and a suffix by its type
    width: int = 0
    height: int = 0
    display: bool = False  # stands by itself, not inside a line


@dataclass(frozen=True, slots=True)
class NoteReference(Mark):
    """The raised sign of a footnote."""

    label: str


@dataclass(frozen=True, slots=True)
class Note(Mark):
    """A footnote: whole blocks."""

    label: str


@dataclass(frozen=True, slots=True)
class Admonition(Mark):
    """Blocks that are set off: a note, a tip, a warning; the first block is the title."""

    kind: AdmonitionKind


@dataclass(frozen=True, slots=True)
class Quotation(Mark):
    """Blocks that the author quotes."""


@dataclass(frozen=True, slots=True)
class Item(Mark):
    """The first line of a list item; lines without one continue the item before them."""

    depth: int = 0
    number: int = -1  # of an item in an ordered list


@dataclass(frozen=True, slots=True)
class Cell(Mark):
    """A cell of a table."""

    is_head: bool = False
    align: Alignment = ""


@dataclass(frozen=True, slots=True)
class CodeLines(Mark):
    """Lines of a code block that the author highlights; whole lines."""


@dataclass(frozen=True, slots=True)
class Anchor(Mark):
    """A place that links lead to; its range is empty."""

    name: str


InlineMark = Style | LinkMark | Formula | Picture | NoteReference
BlockMark = Note | Admonition | Quotation
EMPTY_MARKS = (Picture, Anchor, Cell)  # these may have empty ranges
