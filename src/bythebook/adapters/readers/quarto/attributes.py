"""Attributes as Pandoc writes them in braces: {#id .class key="value"}."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_PART = re.compile(
    r"""\#([\w:.-]+)|\.([\w-]+)|([\w.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"'{},]+))|([\w-]+)"""
)


@dataclass(frozen=True, slots=True)
class Attributes:
    """What stands in braces after an element or at the start of a block."""

    anchor: str = ""
    classes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)

    def has_class(self, *names: str) -> bool:
        """Return True if one of the classes is given."""
        return any(name in self.classes for name in names)


def parse_attributes(text: str) -> Attributes:
    """Read attributes, with or without their braces; a bare word is a class."""
    anchor = ""
    classes: list[str] = []
    values: dict[str, str] = {}
    for found in _PART.finditer(text.strip().removeprefix("{").removesuffix("}")):
        own, name, key, quoted, single, bare, word = found.groups()
        if own:
            anchor = own
        elif key:
            value = next(part for part in (quoted, single, bare, "") if part is not None)
            values[key] = value.replace('\\"', '"')
        else:
            classes.append(name or word)
    return Attributes(anchor, tuple(classes), values)
