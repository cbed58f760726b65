"""Writes the code cells of Quarto and R Markdown: code, captions and descriptions of pictures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.syntax.front_matter import load_yaml
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter
from bythebook.adapters.readers.markdown.syntax.tokens import (
    make_anchor_mark,
    make_code,
    make_image,
    make_paragraph,
)
from bythebook.adapters.readers.quarto.attributes import parse_attributes

_INFO = re.compile(r"^\{(?!\{)\s*(=?)([\w+#-]+)\s*([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}$")
_OPTION = re.compile(r"^(?:#|//|--|%%)\|[ \t]?(.*)$")
_ESCAPED = re.compile(r"^\{\{(.*)\}\}$")
_DIAGRAMS = frozenset({"mermaid", "dot", "ojs"})
_HIDDEN = frozenset({"false", "no", "f"})


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell with its options."""

    language: str
    code: str
    options: Mapping[str, object]

    def get_texts(self, *names: str) -> list[str]:
        """Return the words of an option, of which a cell with several pictures has several."""
        for name in names:
            value = self.options.get(name)
            if isinstance(value, str) and value.strip():
                return [value]
            if isinstance(value, list):
                return [text for text in value if isinstance(text, str)]
        return []

    def is_off(self, name: str) -> bool:
        """Return True if an option is set to false."""
        return str(self.options.get(name)).strip().lower() in _HIDDEN


def read_cell(info: str, content: str) -> CodeCell | None:
    """Read a cell; None for plain code."""
    found = _INFO.match(info.strip())
    if found is None or found.group(1) or found.group(2).startswith("."):
        return None
    given = parse_attributes(found.group(3).replace(",", " "))
    options: dict[str, object] = dict(given.values)
    if given.classes and given.classes[0] != "echo":
        options.setdefault("label", given.classes[0])
    lines = content.split("\n")
    written = []
    while lines and (option := _OPTION.match(lines[0])):
        written.append(option.group(1))
        lines.pop(0)
    options.update(_load_options(written))
    return CodeCell(found.group(2).lower(), "\n".join(lines), options)


def _load_options(lines: Sequence[str]) -> Mapping[str, object]:
    if not lines:
        return {}
    try:
        found = load_yaml("\n".join(lines))
    except ValueError:  # one bad line does not hide the others
        pairs = (line.partition(":") for line in lines)
        found = {key.strip(): value.strip() for key, colon, value in pairs if colon}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def write_cell(token: Token, rewriter: Rewriter) -> Sequence[Token] | None:
    """Return what a reader sees of a fence: a cell, raw HTML or code; None keeps it as it is."""
    info = token.info.strip()
    if escaped := _ESCAPED.match(info):  # shows a cell as code
        return [make_code(f"```{{{escaped.group(1)}}}\n{token.content}```", "markdown")]
    if info.startswith(("{=", "{.", "{#")):
        return _write_attributed(token, info)
    cell = read_cell(info, token.content)
    if cell is None:
        return None
    if cell.is_off("include") or cell.language in _DIAGRAMS:
        return []
    shown = [] if cell.is_off("echo") else [_write_code(cell)]
    label = cell.options.get("label")
    anchor = [make_anchor_mark(label)] if isinstance(label, str) else []
    return [*anchor, *shown, *_write_captions(cell, rewriter)]


def _write_code(cell: CodeCell) -> Token:
    title = cell.get_texts("filename", "lst-cap")
    return make_code(cell.code, cell.language, title[0] if title else "")


def _write_captions(cell: CodeCell, rewriter: Rewriter) -> list[Token]:
    found: list[Token] = []
    for alt in cell.get_texts("fig-alt", "fig.alt"):
        found.extend(make_paragraph([make_image("", " ".join(alt.split()))]))
    for caption in cell.get_texts("fig-cap", "fig.cap", "tbl-cap", "tbl.cap"):
        found.extend(make_paragraph(rewriter.parse_inline(caption)))
    return found


def _write_attributed(token: Token, info: str) -> Sequence[Token]:
    if info.startswith("{="):
        is_html = info.startswith("{=html")
        return [Token("html_block", "", 0, content=token.content, block=True)] if is_html else []
    given = parse_attributes(info)
    title = given.values.get("filename") or given.values.get("lst-cap", "")
    return [make_code(token.content, given.classes[0] if given.classes else "", title)]
