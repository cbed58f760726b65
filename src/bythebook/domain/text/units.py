"""Blocks cut into the units that may be quoted."""

from collections.abc import Iterator

from bythebook.domain.books import Block, Unit, UnitKind
from bythebook.domain.text.sentences import split_sentences


def block_units(text: str, block: Block) -> Iterator[Unit]:
    """Cut a block of a text into units; offsets count from the text's start."""
    body = text[block.start : block.end]
    match block.kind:
        case "code":
            yield Unit("code", block.start, block.end)
        case "formula":
            yield Unit("formula", block.start, block.end)
        case "table":
            yield from _lines("row", body, block.start)
        case "list":
            yield from _lines("item", body, block.start)
        case _:
            for start, end in split_sentences(body):
                yield Unit("sentence", block.start + start, block.start + end)


def selection_units(text: str) -> tuple[Unit, ...]:
    """Cut a reader's selection, of which only the characters are known."""
    return tuple(Unit("sentence", start, end) for start, end in split_sentences(text))


def _lines(kind: UnitKind, body: str, offset: int) -> Iterator[Unit]:
    position = 0
    for line in body.split("\n"):
        if line.strip():
            yield Unit(kind, offset + position, offset + position + len(line))
        position += len(line) + 1
