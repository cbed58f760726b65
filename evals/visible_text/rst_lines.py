"""Visible text of reStructuredText lines: directives, comments and literal blocks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent

from evals.visible_text.html_pages import extract_html_text

Part = tuple[bool, str]  # whether the text is shown as written, and the text

_DIRECTIVE = re.compile(r"^(\s*)\.\. (?:\|[^|]+\| )?([\w:+-]+)::(?:[ \t]+(.*))?$")
_NOTE = re.compile(r"^(\s*)\.\. \[[^\]]+\][ \t]*(.*)$")
_EXPLICIT = re.compile(r"^(\s*)\.\.(?:[ \t]|$)")
_ANONYMOUS = re.compile(r"^\s*__ \S")
_OPTION = re.compile(r"^\s*:([\w-]+):(?:[ \t]+(.*))?$")
_ORPHAN = re.compile(r"^:(?:orphan|nosearch|tocdepth|nocomments):")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_UNSEEN = frozenset(
    "toctree contents redirect-from image meta index highlight default-role role sectnum "
    "graphviz replace unicode date currentmodule module tocdepth".split()
)
_CODE = frozenset(
    "code-block code sourcecode parsed-literal prompt literalinclude math highlight doctest".split()
)
_TITLED_BY_OPTION = frozenset({"caption"})


@dataclass(frozen=True, slots=True)
class Source:
    """A file being read, and how deep its includes go."""

    path: Path
    root: Path
    depth: int = 0


def extract_lines(source: Source, text: str) -> Iterator[Part]:
    """Extract the visible parts, in order."""
    lines = text.expandtabs(8).split("\n")
    at = 0
    plain: list[str] = []
    while at < len(lines):
        line = lines[at]
        if match := _DIRECTIVE.match(line):
            body, after = _take_block(lines, at + 1, len(match.group(1)))
            yield False, "\n".join(plain)
            yield from _extract_directive(source, match.group(2), match.group(3) or "", body)
            plain, at = [], after
        elif match := _NOTE.match(line):
            plain.append(match.group(2))
            at += 1
        elif match := _EXPLICIT.match(line):
            _, at = _take_block(lines, at + 1, len(match.group(1)))
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            body, after = _take_block(lines, at + 1, _measure_indent(line))
            yield False, "\n".join((*plain, line))
            yield True, "\n".join(body)
            plain, at = [], after
        else:
            if not _ANONYMOUS.match(line) and not _ORPHAN.match(line):
                plain.append(line)
            at += 1
    yield False, "\n".join(plain)


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _take_block(lines: Sequence[str], at: int, column: int) -> tuple[list[str], int]:
    """Take the lines that are indented further than a column, and return where they end."""
    start = at
    while at < len(lines) and (not lines[at].strip() or _measure_indent(lines[at]) > column):
        at += 1
    return dedent("\n".join(lines[start:at])).split("\n"), at


def _extract_directive(source: Source, name: str, argument: str, body: list[str]) -> Iterator[Part]:
    options, body, leading = _split_options(body)
    argument = " ".join((argument, *leading)).strip()
    if name in _UNSEEN:
        return
    yield from ((False, options[key]) for key in _TITLED_BY_OPTION if key in options)
    if name in {"include", "literalinclude"}:
        yield from _extract_include(source, name, argument)
    elif name in _CODE:
        text = "\n".join(body)
        yield True, _COMMAND.sub(" ", f"{argument}\n{text}") if name == "math" else text
    elif name == "raw":
        yield True, extract_html_text("\n".join(body)) if "html" in argument else ""
    elif name in {"figure", "only", "ifconfig", "rst-class", "container", "grid"}:
        yield from extract_lines(source, "\n".join(body))
    else:
        yield False, argument
        yield from extract_lines(source, "\n".join(body))


def _split_options(body: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Split a directive's body into options, content and further lines of its argument."""
    lines = list(body)
    leading: list[str] = []
    options: dict[str, str] = {}
    while lines and lines[0].strip():
        if match := _OPTION.match(lines[0]):
            options[match.group(1)] = match.group(2) or ""
        elif options and _measure_indent(lines[0]) > 0:
            pass  # an option's value continues
        else:
            break
        lines.pop(0)
    if not options:
        while lines and lines[0].strip():
            leading.append(lines.pop(0))
        return options, [*leading, *lines], []
    return options, lines, leading


def _extract_include(source: Source, name: str, argument: str) -> Iterator[Part]:
    base = source.root if argument.startswith("/") else source.path.parent
    path = base / argument.lstrip("/")
    if not path.is_file() or source.depth > 4:
        return
    text = path.read_text("utf-8-sig")
    if name == "literalinclude":
        yield True, text
    else:
        yield from extract_lines(replace(source, path=path, depth=source.depth + 1), text)
