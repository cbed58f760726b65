"""Resolves includes and conditions of AsciiDoc, which come before any other syntax."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.asciidoc.attributes import (
    BUILT_IN,
    parse_list,
    set_attribute,
    substitute,
)
from bythebook.adapters.readers.markdown.kinds.includes import (
    MAX_DEPTH,
    IncludeBudget,
    IncludedFiles,
)
from bythebook.adapters.readers.markdown.pages import SourceFile

INCLUDE = re.compile(r"^(\\?)include::([^\[\]]+)\[([^\]]*)\][ \t]*$")
ATTRIBUTE = re.compile(r"^:(!?[\w][\w-]*!?):(?:[ \t]+(.*?))?[ \t]*$")
_CONDITION = re.compile(r"^(\\?)(ifdef|ifndef|ifeval|endif)::([^\[\]]*)\[(.*)\][ \t]*$")
_COMPARISON = re.compile(r"""^\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*$""")
_TAG = re.compile(r"\b(tag|end)::([\w.-]+)\[\]")


@dataclass(slots=True)
class Preprocessor:
    """One page or book: follows its attributes, and inserts files from inside the folder only."""

    included: IncludedFiles
    file: SourceFile
    budget: IncludeBudget
    attributes: dict[str, str] = field(default_factory=lambda: dict(BUILT_IN))
    conditions: list[bool] = field(default_factory=list)  # of the open conditions

    def expand(self, text: str, trail: tuple[Path, ...]) -> str:
        """Return a text with its includes inserted and its conditions decided."""
        return "\n".join(self._expand_lines(text.split("\n"), trail))

    def _expand_lines(self, lines: Sequence[str], trail: tuple[Path, ...]) -> Iterator[str]:
        depth = len(self.conditions)
        for line in lines:
            condition = _CONDITION.match(line) if "::" in line else None
            if condition and condition.group(1):
                yield line[1:]
            elif condition:
                yield from self._decide(condition, trail)
            elif not all(self.conditions):
                continue
            elif "::" in line and (found := INCLUDE.match(line)):
                yield from self._include(found, trail)
            else:
                if line.startswith(":") and (named := ATTRIBUTE.match(line)):
                    set_attribute(self.attributes, named.group(1), named.group(2) or "")
                yield line
        del self.conditions[depth:]  # a condition ends with its file

    def _decide(self, found: re.Match[str], trail: tuple[Path, ...]) -> Iterator[str]:
        _, kind, names, content = found.groups()
        if kind == "endif":
            if self.conditions:
                self.conditions.pop()
            return
        if kind == "ifeval":
            self.conditions.append(self._compare(content))
            return
        is_true = self._is_defined(names) == (kind == "ifdef")
        if not content:
            self.conditions.append(is_true)
        elif is_true and all(self.conditions):
            yield from self._expand_lines([content], trail)

    def _is_defined(self, names: str) -> bool:
        if "+" in names:
            return all(name.strip().lower() in self.attributes for name in names.split("+"))
        return any(name.strip().lower() in self.attributes for name in names.split(","))

    def _compare(self, content: str) -> bool:
        found = _COMPARISON.match(substitute(content, self.attributes))
        if found is None:
            return False
        left, right = (part.strip("\"'") for part in (found.group(1), found.group(3)))
        numbers = [part for part in (left, right) if re.fullmatch(r"-?\d{1,15}(\.\d+)?", part)]
        one: float | str = float(left) if len(numbers) == 2 else left
        other: float | str = float(right) if len(numbers) == 2 else right
        match found.group(2):
            case "==":
                return one == other
            case "!=":
                return one != other
            case sign:
                low, equal = (one < other, one == other)  # type: ignore[operator]
                return (low if sign[0] == "<" else not low and not equal) or (
                    equal and sign.endswith("=")
                )

    def _include(self, found: re.Match[str], trail: tuple[Path, ...]) -> Iterator[str]:
        escape, target, options = found.groups()
        if escape:
            yield found.group()[1:]
            return
        target = substitute(target, self.attributes)
        named = dict(parse_list(options))
        path = Path(trail[-1].parent, target)
        text = None if "://" in target else self.included.load(path)
        if text is None or path in trail or len(trail) > MAX_DEPTH:
            optional = "optional" in (named.get("opts") or named.get("options") or "")
            if not optional:
                self.included.record_missing(target, self.file)
            return
        lines = _select(self.budget.spend(text).rstrip("\n").split("\n"), named)
        offset = named.get("leveloffset", "")
        if offset:
            yield f":leveloffset: {offset if offset[0] in '+-' else '+' + offset}"
        yield from self._expand_lines(lines, (*trail, path))
        if offset:
            yield ""
            yield f":leveloffset: {'+' if offset[0] == '-' else '-'}{offset.lstrip('+-')}"


def _select(lines: Sequence[str], named: dict[str, str]) -> list[str]:
    """Return the lines or the tagged regions that an include asks for."""
    if wanted := named.get("lines"):
        chosen: list[str] = []
        for part in re.split(r"[;,]", wanted):
            first, dots, last = (piece.strip() for piece in part.partition(".."))
            start = int(first) - 1 if first.isdecimal() else 0
            stop = int(last) if last.isdecimal() else None if dots else start + 1
            chosen.extend(lines[max(start, 0) : stop])
        return chosen
    tags = [tag for tag in re.split(r"[;,]", named.get("tag") or named.get("tags") or "") if tag]
    return _select_tags(lines, tags)


def _select_tags(lines: Sequence[str], tags: Sequence[str]) -> list[str]:
    wanted = {tag for tag in tags if not tag.startswith("!")}
    unwanted = {tag[1:] for tag in tags if tag.startswith("!")}
    is_open: list[str] = []
    chosen = []
    for line in lines:
        if mark := _TAG.search(line):
            name = mark.group(2)
            if mark.group(1) == "tag":
                is_open.append(name)
            elif name in is_open:
                is_open.remove(name)
            continue
        is_in = not wanted or bool(wanted & set(is_open)) or bool(wanted & {"*", "**"} and is_open)
        if is_in and not unwanted & set(is_open):
            chosen.append(line)
    return chosen
