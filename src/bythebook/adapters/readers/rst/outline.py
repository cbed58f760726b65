"""Reads the outline of a document without parsing it: titles, labels, tables of contents, terms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.rst.lines import (
    DirectiveBody,
    DirectiveLine,
    iterate_markup_lines,
    measure_indent,
    read_directive_body,
)

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_LABEL = re.compile(r"\s*\.\. _(`[^`]+`|(?:\\.|[^:\\]|:(?!\s|$))+):\s*$")
_MAX_TITLE_LENGTH = 2000  # characters; longer lines keep their markup
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
    """A table of contents: the documents below the one that contains it."""

    entries: tuple[tuple[str, str], ...]  # optional title, target
    caption: str = ""
    glob: bool = False
    reverse: bool = False


@dataclass(slots=True)
class DocumentOutline:
    """What other documents may need to know about a document."""

    title: str = ""
    titles: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)  # as written -> title or caption
    terms: list[str] = field(default_factory=list)
    toctrees: list[TocTree] = field(default_factory=list)
    directives: set[str] = field(default_factory=set)


def read_outline(text: str) -> DocumentOutline:
    """Read the outline from a document's source, ignoring code and comments."""
    lines = text.split("\n")
    found = DocumentOutline()
    waiting: list[str] = []  # labels that wait for the next title
    adorned = -1
    for number, line, directive in iterate_markup_lines(lines):
        if label := _LABEL.match(line):
            waiting.append(re.sub(r"\\(.)", r"\1", label.group(1).strip("`")))
            continue
        if number == adorned or _is_overline(lines, number):
            continue
        title, caption = "", ""
        if directive is not None:
            caption = _read_directive(
                found, directive, read_directive_body(lines, number, directive)
            )
        elif title := _read_title(lines, number):
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


def strip_inline_markup(text: str) -> str:
    """Remove the inline markup from a line."""
    for pattern, words in _INLINE if len(text) <= _MAX_TITLE_LENGTH else ():
        text = pattern.sub(words, text)
    return " ".join(text.split())


def split_entry(text: str) -> tuple[str, str]:
    """Split "title <target>"; a target alone has an empty title."""
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


def _read_title(lines: Sequence[str], number: int) -> str:
    """Return the text of the heading on a line, or nothing; one inside a directive is indented."""
    line = lines[number].rstrip()
    below = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    if not below or not _ADORNMENT.match(below.lstrip()) or _ADORNMENT.match(line.lstrip()):
        return ""
    above = lines[number - 1].rstrip() if number else ""
    if above != below and (above or measure_indent(line) != measure_indent(below)):
        return ""  # the end of a paragraph
    is_long_enough = len(below.strip()) >= len(line.strip()) or len(below.strip()) >= 4
    return strip_inline_markup(line) if is_long_enough else ""


def _read_directive(found: DocumentOutline, directive: DirectiveLine, body: DirectiveBody) -> str:
    """Add a directive to the outline and return its caption."""
    name = directive.name.lower()
    found.directives.add(name)
    caption = strip_inline_markup(body.options.get("caption", ""))
    if name == "toctree":
        found.toctrees.append(_read_toctree(body))
    elif name == "glossary":
        found.terms.extend(_iterate_terms(body.content))
    elif name in {"table", "list-table", "csv-table", "rubric", "admonition", "topic"}:
        caption = strip_inline_markup(directive.argument)
    elif name == "figure":
        caption = strip_inline_markup(" ".join(_iterate_first_paragraph(body.content)))
    if label := body.options.get("name"):
        found.labels.setdefault(label, caption)
    return caption


def _read_toctree(body: DirectiveBody) -> TocTree:
    entries = (line.strip() for line in body.content)
    return TocTree(
        tuple(split_entry(entry) for entry in entries if entry and not entry.startswith("#")),
        body.options.get("caption", ""),
        "glob" in body.options,
        "reversed" in body.options,
    )


def _iterate_terms(content: Sequence[str]) -> Iterator[str]:
    filled = [line for line in content if line.strip()]
    least = min(map(measure_indent, filled), default=0)
    for line in filled:
        if measure_indent(line) == least and not line.lstrip().startswith(".. "):
            yield strip_inline_markup(line.split(" : ")[0])


def _iterate_first_paragraph(content: Sequence[str]) -> Iterator[str]:
    begun = False
    for line in content:
        if line.strip():
            begun = True
            yield line
        elif begun:
            return
