"""A directive of MyST as it is written: name, argument, options and body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bythebook.adapters.readers.markdown.syntax.front_matter import load_yaml

_INFO = re.compile(r"^\s*\{([\w:.+-]+)[^{}]*\}\s*(.*)$", re.DOTALL)
_OPTION = re.compile(r"^\s*:([\w-]+):[ \t]*(.*)$")
_YAML = re.compile(r"\A\s*---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Directive:
    """What a fenced directive says."""

    name: str
    argument: str
    body: str
    options: Mapping[str, object] = field(default_factory=dict)

    def get_option(self, *names: str) -> str:
        """Return the first of the options that has a value, as text."""
        values = (self.options.get(name) for name in names)
        return next((str(value).strip() for value in values if isinstance(value, str | int)), "")

    def find_caption(self) -> str:
        """Return the caption of a cell's output, which is an option inside others."""
        found: object = self.options
        for key in ("mystnb", "figure", "caption"):
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""


def match_directive(info: str) -> tuple[str, str] | None:
    """Return the name and argument in the first line of a directive; None for plain code."""
    found = _INFO.match(info)
    return (found.group(1), found.group(2).strip()) if found else None


def parse_directive(info: str, content: str) -> Directive | None:
    """Read a directive; None for plain code."""
    named = match_directive(info)
    if named is None:
        return None
    options, body = _split_options(content)
    return Directive(named[0].lower(), named[1], body, options)


def _split_options(content: str) -> tuple[Mapping[str, object], str]:
    if found := _YAML.match(content):
        try:
            given = load_yaml(found.group(1))
        except ValueError:
            given = None
        return (given if isinstance(given, dict) else {}), content[found.end() :]
    options: dict[str, object] = {}
    lines = content.split("\n")
    at = 0
    while at < len(lines) and (option := _OPTION.match(lines[at])):
        options[option.group(1)] = option.group(2).strip()
        at += 1
    return options, "\n".join(lines[at:])
