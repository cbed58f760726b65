"""Attributes of AsciiDoc: those of a document, and those in brackets above a block."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BUILT_IN = {
    "empty": "", "blank": "", "sp": " ", "nbsp": "\u00a0", "zwsp": "\u200b", "wj": "\u2060",
    "apos": "'", "quot": '"', "lsquo": "\u2018", "rsquo": "\u2019", "ldquo": "\u201c",
    "rdquo": "\u201d", "deg": "\u00b0", "plus": "+", "brvbar": "\u00a6", "vbar": "|", "amp": "&",
    "lt": "<", "gt": ">", "startsb": "[", "endsb": "]", "caret": "^", "asterisk": "*", "tilde": "~",
    "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++",
    "backend": "html5", "backend-html5": "", "basebackend": "html", "basebackend-html": "",
    "asciidoctor": "", "filetype": "html", "outfilesuffix": ".html",
}  # fmt: skip
_REFERENCE = re.compile(r"(\\?)\{([\w][\w-]*)\}")
_PART = re.compile(
    r"""\s*(?:([\w-]+)\s*=\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"']*)\s*(?:,|$)"""
)
_SHORT = re.compile(r"([#.%])([^#.%\s]+)")
_MAX_VALUE = 10_000  # characters; a value may refer to others


def substitute(text: str, attributes: Mapping[str, str]) -> str:
    """Replace references to attributes; unknown ones stay, as they may be code."""
    if "{" not in text:
        return text

    def replace(found: re.Match[str]) -> str:
        if found.group(1):
            return found.group()[1:]
        value = attributes.get(found.group(2).lower())
        return found.group() if value is None else value

    return _REFERENCE.sub(replace, text)


def set_attribute(attributes: dict[str, str], name: str, value: str) -> None:
    """Set an attribute of a document, or unset one whose name has an exclamation mark."""
    name = name.lower()
    if name.startswith("!") or name.endswith("!"):
        attributes.pop(name.strip("!"), None)
    else:
        attributes[name] = substitute(value, attributes)[:_MAX_VALUE]


@dataclass(slots=True)
class BlockAttributes:
    """What the lines above a block say about it."""

    positional: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)
    anchors: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    title: str = ""

    @property
    def style(self) -> str:
        """The first word: source, NOTE, quote, ..."""
        return self.positional[0] if self.positional else ""

    def get(self, place: int, *names: str) -> str:
        """Return an attribute by its names, or by its place."""
        given = next((self.named[name] for name in names if self.named.get(name)), "")
        return given or (self.positional[place] if place < len(self.positional) else "")

    def add_line(self, text: str) -> None:
        """Add what stands between brackets."""
        if text.startswith("[") and text.endswith("]"):
            self.anchors.append(text[1:-1].partition(",")[0].strip())
            return
        for place, (name, value) in enumerate(parse_list(text)):
            if name in {"id"}:
                self.anchors.append(value)
            elif name in {"options", "opts"}:
                self.options.update(part.strip() for part in value.split(","))
            elif name:
                self.named[name] = value
            elif place == 0:
                self._add_style(value)
            else:
                self.positional.append(value)

    def _add_style(self, value: str) -> None:
        style = re.split(r"[#.%]", value, maxsplit=1)[0]
        for mark, name in _SHORT.findall(value[len(style) :]):
            if mark == "#":
                self.anchors.append(name)
            elif mark == "%":
                self.options.add(name)
        self.positional.append(style.strip())


def parse_list(text: str) -> Sequence[tuple[str, str]]:
    """Read a list of attributes: positional ones have an empty name."""
    found = []
    for part in _PART.finditer(text[:_MAX_VALUE]):
        name, value = part.group(1) or "", part.group(2).strip()
        if value[:1] in {'"', "'"} and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1].replace(f"\\{value[0]}", value[0])
        if part.group():
            found.append((name.lower(), value))
    return found
