"""A cheap look over a document: its titles, labels, tables of contents and terms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.rst.lines import (
    DirectiveBody,
    DirectiveLine,
    directive_body,
    markup_lines,
)

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_LABEL = re.compile(r"\s*\.\. _(`[^`]+`|(?:\\.|[^:\\]|:(?!\s|$))+):\s*$")
_LONGEST_TITLE = 2000  # characters that are worth a look at their markup
_INLINE = (
    (re.compile(r":[\w+.:-]+:`([^`<>]*?)\s*<[^`<>]*>`"), r"\1"),  # a role with a title
    (re.compile(r":[\w+.:-]+:`~?(?:\w+\.)*([^`]*)`"), r"\1"),
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r"`([^`<>]*?)\s*<[^`<>]*>`__?"), r"\1"),  # a link
    (re.compile(r"`([^`]+)`(?:__?)?"), r"\1"),
    (re.compile(r"\*\*(\S.*?)\*\*"), r"\1"),
    (re.compile(r"(?<!\w)\*(\S[^*]*)\*(?!\w)"), r"\1"),
    (re.compile(r"\\(.)"), r"\1"),
)


@dataclass(frozen=True, slots=True)
class TocTree:
    """A table of contents: what comes below the document that holds it."""

    entries: tuple[tuple[str, str], ...]  # title if one is given, target
    caption: str = ""
    glob: bool = False
    reverse: bool = False


@dataclass(slots=True)
class Outline:
    """What other documents may need to know of one."""

    title: str = ""
    titles: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)  # as written -> title or caption
    terms: list[str] = field(default_factory=list)
    toctrees: list[TocTree] = field(default_factory=list)
    directives: set[str] = field(default_factory=set)


def outline_of(text: str) -> Outline:
    """Look over a document's source, code and comments left aside."""
    lines = text.split("\n")
    found = Outline()
    waiting: list[str] = []  # labels whose title is yet to come
    adorned = -1
    for number, line, directive in markup_lines(lines):
        if label := _LABEL.match(line):
            waiting.append(re.sub(r"\\(.)", r"\1", label.group(1).strip("`")))
            continue
        if number == adorned or _is_overline(lines, number):
            continue
        title, caption = "", ""
        if directive is not None:
            caption = _directive(found, directive, directive_body(lines, number, directive))
        elif title := _title(lines, number):
            adorned = number + 1
            found.titles.append(title)
            is_own = not lines[adorned].startswith(" ")
            found.title = found.title or (title if is_own else "")
        for name in waiting:
            found.labels.setdefault(name, title or caption)
        waiting = []
    for name in waiting:
        found.labels.setdefault(name, "")
    return found


def plain_inline(text: str) -> str:
    """Take the markup off a line's words."""
    for pattern, words in _INLINE if len(text) <= _LONGEST_TITLE else ():
        text = pattern.sub(words, text)
    return " ".join(text.split())


def split_entry(text: str) -> tuple[str, str]:
    """Part "title <target>" into both; a target alone has no title."""
    text = text.strip()
    title, mark, target = text.removesuffix(">").rpartition("<")
    if not text.endswith(">") or not mark or not target.strip() or ">" in target:
        return "", text
    return title.strip(), target.strip()


def _is_overline(lines: Sequence[str], number: int) -> bool:
    line = lines[number].rstrip()
    below = lines[number + 2].rstrip() if number + 2 < len(lines) else ""
    return (
        line == below and bool(_ADORNMENT.match(line.lstrip())) and bool(lines[number + 1].strip())
    )


def _title(lines: Sequence[str], number: int) -> str:
    """Give the words of the heading on a line, or nothing; one inside a directive is indented."""
    line = lines[number].rstrip()
    below = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    if not below or not _ADORNMENT.match(below.lstrip()) or _ADORNMENT.match(line.lstrip()):
        return ""
    above = lines[number - 1].rstrip() if number else ""
    if above != below and (above or _indent(line) != _indent(below)):  # the end of a paragraph
        return ""
    is_long_enough = len(below.strip()) >= len(line.strip()) or len(below.strip()) >= 4
    return plain_inline(line) if is_long_enough else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _directive(found: Outline, directive: DirectiveLine, body: DirectiveBody) -> str:
    """Note what a directive tells of its document; give the caption that it shows."""
    name = directive.name.lower()
    found.directives.add(name)
    caption = plain_inline(body.options.get("caption", ""))
    if name == "toctree":
        found.toctrees.append(_toctree(body))
    elif name == "glossary":
        found.terms.extend(_terms(body.content))
    elif name in {"table", "list-table", "csv-table", "rubric", "admonition", "topic"}:
        caption = plain_inline(directive.argument)
    elif name == "figure":
        caption = plain_inline(" ".join(_first_paragraph(body.content)))
    if label := body.options.get("name"):
        found.labels.setdefault(label, caption)
    return caption


def _toctree(body: DirectiveBody) -> TocTree:
    entries = (line.strip() for line in body.content)
    return TocTree(
        tuple(split_entry(entry) for entry in entries if entry and not entry.startswith("#")),
        body.options.get("caption", ""),
        "glob" in body.options,
        "reversed" in body.options,
    )


def _terms(content: Sequence[str]) -> Iterator[str]:
    filled = [line for line in content if line.strip()]
    least = min(map(_indent, filled), default=0)
    for line in filled:
        if _indent(line) == least and not line.lstrip().startswith(".. "):
            yield plain_inline(line.split(" : ")[0])


def _first_paragraph(content: Sequence[str]) -> Iterator[str]:
    begun = False
    for line in content:
        if line.strip():
            begun = True
            yield line
        elif begun:
            return
