"""Marks as plain JSON values, and back: a list each, which is a third of the size of an object."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Final

from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    CodeLines,
    Formula,
    Item,
    LinkMark,
    Mark,
    Note,
    NoteReference,
    Picture,
    Quotation,
    Style,
)

# Stored names and the order of fields must stay: published generations are read by them.
_TYPES: Final[Mapping[str, type[Mark]]] = {
    "style": Style, "link": LinkMark, "formula": Formula, "picture": Picture, "noteref": NoteReference,
    "note": Note, "admonition": Admonition, "quotation": Quotation, "item": Item, "cell": Cell,
    "lines": CodeLines, "anchor": Anchor,
}  # fmt: skip
_NAMES: Final[Mapping[type[Mark], str]] = {kind: name for name, kind in _TYPES.items()}
_FIELDS: Final = {kind: [(one.name, one.default) for one in fields(kind)] for kind in _NAMES}


def marks_to_json(marks: Sequence[Mark]) -> list[list[Any]]:
    """Write marks; values at the end that are a field's default are left out."""
    return [[_NAMES[type(mark)], *_list_values(mark)] for mark in marks]


def marks_from_json(values: Sequence[Sequence[Any]]) -> tuple[Mark, ...]:
    """Read marks; kinds that a later version may add are passed over."""
    return tuple(_TYPES[name](*rest) for name, *rest in values if name in _TYPES)


def _list_values(mark: Mark) -> list[Any]:
    known = _FIELDS[type(mark)]
    values = [getattr(mark, name) for name, _ in known]
    while known[len(values) - 1][1] is not MISSING and values[-1] == known[len(values) - 1][1]:
        values.pop()
    return values
