"""A chunk as the author laid it out: paragraphs, lists, tables, code, and what belongs together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bythebook.ask.compose.context import announces
from bythebook.domain.books import Chunk, Unit, UnitKind

_MOST_LINES = 25  # of a list or a block of code that counts half


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of units of one kind with no line break between its sentences: units `first` to before `stop`."""

    kind: UnitKind
    first: int
    stop: int

    def __contains__(self, unit: int) -> bool:
        return self.first <= unit < self.stop


def split_paragraphs(chunk: Chunk) -> list[Paragraph]:
    """Group a chunk's units by paragraph, list and table; code and formulas stand alone."""
    units = chunk.units
    starts = [at for at in range(len(units)) if at == 0 or _breaks(chunk, units[at - 1], units[at])]
    return [
        Paragraph(units[first].kind, first, stop)
        for first, stop in zip(starts, [*starts[1:], len(units)], strict=True)
    ]


def _breaks(chunk: Chunk, before: Unit, unit: Unit) -> bool:
    if before.kind != unit.kind or unit.kind in {"code", "formula"}:
        return True
    return unit.kind == "sentence" and "\n" in chunk.text[before.end : unit.start]


def belongs_with_next(chunk: Chunk, paragraphs: Sequence[Paragraph], at: int) -> bool:
    """Return True if a paragraph is not complete without the next one.

    A line that announces a list, code or a formula is not, nor a formula whose sentence goes on.
    """
    if at + 1 >= len(paragraphs):
        return False
    here, following = paragraphs[at], paragraphs[at + 1]
    if following.kind == "sentence":
        return here.kind == "formula" and _text(chunk, following.first)[:1].islower()
    if here.kind == "sentence":
        last = _text(chunk, here.stop - 1)
        return announces(last) or following.kind in {"formula", "code"}
    return False


def length_of(chunk: Chunk, unit: int) -> float:
    """Return how much of an answer's room a unit takes, in words; lists and code count half."""
    text = _text(chunk, unit)
    words = len(text.split())
    kind = chunk.units[unit].kind
    short_code = kind == "code" and text.count("\n") < _MOST_LINES
    return words / 2 if kind == "item" or short_code else float(words)


def paragraph_of(paragraphs: Sequence[Paragraph], unit: int) -> int:
    """Return the number of the paragraph that a unit is in."""
    return next(at for at, paragraph in enumerate(paragraphs) if unit in paragraph)


def neighbours(paragraphs: Sequence[Paragraph], at: int) -> Iterator[int]:
    """Yield the numbers of the other paragraphs, nearest first, the next before the previous."""
    for distance in range(1, len(paragraphs)):
        if at + distance < len(paragraphs):
            yield at + distance
        if at - distance >= 0:
            yield at - distance


def _text(chunk: Chunk, unit: int) -> str:
    return chunk.text[chunk.units[unit].start : chunk.units[unit].end]
