"""Lines of reStructuredText: which are markup, and which are inside code or comments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_DIRECTIVE = re.compile(
    r"(?P<lead>\s*(?:(?:[-*+|]|\(?[A-Za-z0-9#]{1,3}[.)])\s+)*)\.\.\s+(?:\|[^|]*\|\s+)?"
    r"(?P<name>[A-Za-z0-9]+(?:[-_.:+][A-Za-z0-9]+)*)[ ]?::(?:\s+(?P<argument>.*))?$"
)
_BULLETS = re.compile(r"\s*(?:(?:[-*+]|\(?[A-Za-z0-9#]{1,3}[.)])\s+)*")
_COMMENT = re.compile(r"\s*\.\.(?:\s+(?!_|\[|\||__)\S.*)?$")
_OPTION = re.compile(r"\s*:([\w-]+):(?:\s+(.*))?$")

# Their content is not markup.
LITERAL = frozenset(
    """code code-block sourcecode code-tab console highlight-block parsed-literal prompt terminal
    math raw graphviz digraph graph mermaid plantuml uml blockdiag seqdiag actdiag nwdiag
    doctest testcode testoutput testsetup testcleanup ipython jupyter-execute code-cell
    productionlist redirect-from""".split()
)


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """A directive's first line."""

    lead: str  # text before the two dots
    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class DirectiveBody:
    """The indented lines below a directive's first line."""

    options: Mapping[str, str]
    content: Sequence[str]  # with the original indentation
    end: int  # number of the first line after it


def iterate_markup_lines(lines: Sequence[str]) -> Iterator[tuple[int, str, DirectiveLine | None]]:
    """Yield the lines that are neither code nor comments, and the directives among them."""
    literal: int | None = None  # indent of the line that opened the current code or comment
    for number, line in enumerate(lines):
        text = line.lstrip()
        if literal is not None:
            if not text or len(line) - len(text) > literal:
                continue
            literal = None
        if not text:
            continue
        directive = _parse_directive(line) if ".. " in line and "::" in line else None
        yield number, line, directive
        if directive is not None:
            literal = len(directive.lead) if directive.name.lower() in LITERAL else None
        elif text.startswith("..") and _COMMENT.match(line):
            alone = text.rstrip() == ".." and not any(lines[number + 1 : number + 2])
            literal = None if alone else len(line) - len(text)
        elif text.rstrip().endswith("::"):
            literal = _measure_text_indent(line)


def read_directive_body(
    lines: Sequence[str], number: int, directive: DirectiveLine
) -> DirectiveBody:
    """Return the options and the content of the directive on a line."""
    end = find_indented_end(lines, number + 1, len(directive.lead))
    options: dict[str, str] = {}
    start = number + 1
    while start < end and (option := _OPTION.match(lines[start])):
        options[option.group(1)] = (option.group(2) or "").strip()
        start += 1
    content = list(lines[start:end])
    while content and not content[-1].strip():
        content.pop()
        end -= 1
    return DirectiveBody(options, content, end)


def measure_indent(line: str) -> int:
    """Count the white space at the start of a line."""
    return len(line) - len(line.lstrip())


def find_indented_end(lines: Sequence[str], start: int, indent: int) -> int:
    """Find the first line from `start` on that is neither empty nor indented deeper."""
    while start < len(lines) and (
        not lines[start].strip() or measure_indent(lines[start]) > indent
    ):
        start += 1
    return start


def _parse_directive(line: str) -> DirectiveLine | None:
    match = _DIRECTIVE.match(line)
    if match is None:
        return None
    return DirectiveLine(match["lead"], match["name"], (match["argument"] or "").strip())


def _measure_text_indent(line: str) -> int:
    bullets = _BULLETS.match(line)
    return bullets.end() if bullets else 0
