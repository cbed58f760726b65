"""Finds Pandoc's fenced divs, and writes callouts, tabs and theorems."""

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
    make_anchor_mark,
    make_text,
)
from bythebook.adapters.readers.quarto.attributes import Attributes, parse_attributes

_OPENING = re.compile(r"^:{3,}[ \t]*(\{[^{}]*\}|[^\s{}:][^\s{}]*)[ \t]*:*[ \t]*$")
_CLOSING = re.compile(r"^:{3,}[ \t]*$")
_CALLOUT = re.compile(r"callout-(\w+)")
_THEOREMS = {
    "thm": "Theorem", "lem": "Lemma", "cor": "Corollary", "prp": "Proposition", "cnj": "Conjecture",
    "def": "Definition", "exm": "Example", "exr": "Exercise", "sol": "Solution", "rem": "Remark",
    "alg": "Algorithm",
}  # fmt: skip
_ALT: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]}


def fenced_div_plugin(parser: MarkdownIt) -> None:
    """Add fenced divs to a parser; each becomes a token with its text, to be parsed apart."""
    parser.block.ruler.before("fence", "fenced_div", _match_div, _ALT)


def write_div(token: Token, rewriter: Rewriter) -> Sequence[Token]:
    """Return what a reader sees of a div."""
    given = parse_attributes(token.info)
    if _is_hidden(given):
        return []
    inner = rewriter.parse(token.content)
    anchor = [make_anchor_mark(given.anchor)] if given.anchor else []
    names = " ".join(given.classes)
    if callout := _CALLOUT.search(names):
        return [*anchor, *_write_callout(callout.group(1), given, inner)]
    kind = _THEOREMS.get(given.anchor.partition("-")[0])
    if kind:
        name = given.values.get("name")
        title = f"{kind} ({name})" if name else kind
        return [*anchor, *make_admonition(kind.lower(), make_text(title), demote_headings(inner))]
    if given.has_class("panel-tabset", "tabset"):
        inner = demote_headings(inner)
    return [*anchor, *inner]


def _write_callout(kind: str, given: Attributes, inner: list[Token]) -> list[Token]:
    """Write a callout; its title is an attribute, or the heading that it starts with."""
    title = make_text(given.values.get("title", ""))
    if not title and inner and inner[0].type == "heading_open":
        title = list(inner[1].children or ())
        inner = inner[3:]
    return make_admonition(kind, title or make_text(kind.capitalize()), demote_headings(inner))


def _is_hidden(given: Attributes) -> bool:
    formats = given.values.get("when-format", "")
    is_html = "html" in formats or not formats
    without = given.values.get("unless-format", "")
    if given.has_class("content-hidden"):
        return is_html if formats else not (without and "html" in without)
    if given.has_class("content-visible"):
        return (bool(formats) and not is_html) or "html" in without
    return given.has_class("hidden")


def _match_div(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    if state.is_code_block(start):
        return False
    line = _get_line(state, start)
    if line[:3] != ":::":
        return False
    opening = _OPENING.match(line)
    if opening is None and _CLOSING.match(line) is None:
        return False
    if silent:
        return True
    last = _find_end(state, start, end) if opening else start + 1
    if opening:
        token = state.push("fenced_div", "div", 0)
        token.info = opening.group(1)
        token.content = state.getLines(start + 1, last, state.sCount[start], keepLastLF=False)
        token.map = [start, last]
    state.line = min(last + 1, end) if opening else last
    return True


def _find_end(state: StateBlock, start: int, end: int) -> int:
    """Return the line that closes a div; divs inside it and code are passed over."""
    depth = 1
    fence = ""
    for at in range(start + 1, end):
        line = _get_line(state, at)
        if line[:3] in {"```", "~~~"}:
            run = line[: len(line) - len(line.lstrip(line[0]))]
            if not fence:
                fence = run
            elif line.strip() == run and run.startswith(fence):
                fence = ""
        elif line[:3] == ":::" and not fence:
            if _CLOSING.match(line):
                depth -= 1
            elif _OPENING.match(line):
                depth += 1
            if depth == 0:
                return at
    return end


def _get_line(state: StateBlock, at: int) -> str:
    return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]].rstrip()
