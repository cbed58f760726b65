"""Finds the blocks that MkDocs adds to Markdown: admonitions, tabs and blocks between slashes."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter
from bythebook.adapters.readers.markdown.syntax.tokens import (
    demote_headings,
    make_admonition,
    make_paragraph,
)

_INDENTED = re.compile(r"^(!!!|\?\?\?\+?|===[!+]{0,2})[ \t]+(.+?)[ \t]*$")
_SLASHES = re.compile(r"^(/{3,})[ \t]+([\w-]+)[ \t]*(?:\|[ \t]*(.*))?$")
_ADMONITION = re.compile(r"""^([\w -]*?)[ \t]*(?:"(.*)"|'(.*)')?[ \t]*$""")
_DOCSTRINGS = re.compile(r"^:::[ \t]+[\w.]+[ \t]*$")
_HIDDEN = re.compile(r"^(?:\[TOC\]|\*\[[^\]\n]+\]:[ \t].*)[ \t]*$")
_OPTION = re.compile(r"^[ \t]{4,}[\w-]+:")
_ALT: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]}


def mkdocs_blocks_plugin(parser: MarkdownIt) -> None:
    """Add the blocks to a parser; each becomes a token with its text, to be parsed apart."""
    parser.block.ruler.before("fence", "mkdocs_block", _match_block, _ALT)


def write_block(token: Token, rewriter: Rewriter) -> Sequence[Token]:
    """Return what a reader sees of a block."""
    kind, title = token.meta["kind"], token.meta["title"]
    inner = demote_headings(rewriter.parse(token.content)) if token.content.strip() else []
    if kind == "caption":
        return inner
    if kind in {"html", "define"}:
        return inner
    shown = rewriter.parse_inline(title) if title else []
    return make_admonition(kind, shown, inner) if shown or inner else make_paragraph(shown)


def _match_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    if state.is_code_block(start):
        return False
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if line[:3] in {"!!!", "???", "==="} and (found := _INDENTED.match(line)):
        last = _find_indented_end(state, start, end)
        kind, title = _read_opening(found.group(1), found.group(2))
        content = _cut_lines(state, start + 1, last, state.sCount[start] + 4)
    elif line[:3] == "///" and (found := _SLASHES.match(line)):
        last = _find_slashes_end(state, start, end, found.group(1))
        kind, title = found.group(2), (found.group(3) or "").strip()
        title = title if title or kind in {"tab", "html", "details"} else kind.capitalize()
        title = "" if kind == "html" else title
        content = _drop_options(_cut_lines(state, start + 1, last - 1, state.sCount[start]))
    elif line[:3] == ":::" and _DOCSTRINGS.match(line):
        last, kind, title, content = _find_indented_end(state, start, end), "html", "", ""
    elif line[:1] in "[*" and _HIDDEN.match(line):
        last, kind, title, content = start + 1, "html", "", ""
    else:
        return False
    if not silent:
        token = state.push("mkdocs_block", "div", 0)
        token.meta = {"kind": kind, "title": title}
        token.content = content
        token.map = [start, last]
        state.line = last
    return True


def _read_opening(mark: str, rest: str) -> tuple[str, str]:
    if mark.startswith("==="):
        return "tab", rest.strip().strip("\"'")
    found = _ADMONITION.match(rest)
    if found is None:
        return "note", rest
    names = found.group(1).split()
    kind = names[0].lower() if names else "note"
    given = found.group(2) if found.group(2) is not None else found.group(3)
    return kind, kind.capitalize() if given is None else given


def _find_indented_end(state: StateBlock, start: int, end: int) -> int:
    """Return the line after the lines that are indented below the first."""
    last = start + 1
    for line in range(start + 1, end):
        if state.isEmpty(line):
            continue
        if state.sCount[line] < state.sCount[start] + 4:
            break
        last = line + 1
    return last


def _find_slashes_end(state: StateBlock, start: int, end: int, mark: str) -> int:
    """Return the line after the closing slashes; code between may contain slashes."""
    fence = ""
    for line in range(start + 1, end):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        if text[:3] in {"```", "~~~"}:
            run = text[: len(text) - len(text.lstrip(text[0]))]
            if not fence:
                fence = run
            elif text == run and run.startswith(fence):
                fence = ""
        elif text == mark and not fence:
            return line + 1
    return end


def _cut_lines(state: StateBlock, first: int, last: int, indent: int) -> str:
    return state.getLines(first, max(last, first), indent, keepLastLF=False)


def _drop_options(content: str) -> str:
    """Remove the options of a block, which are the indented lines directly below its first line."""
    lines = content.split("\n")
    at = 0
    while at < len(lines) and _OPTION.match(lines[at]):
        at += 1
    return "\n".join(lines[at:])
