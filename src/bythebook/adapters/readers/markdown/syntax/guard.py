"""Refuses pages that a parser would take forever to read."""

import re
from collections.abc import Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

MAX_NESTING = 100  # levels of lists and quotations; a list counts as two
_MAX_LINES = 200_000
_MAX_QUOTED_LINES = 20_000  # below a deep quotation, where each level reads all lines
_DEEP_QUOTATION = re.compile(r"^[ \t]*(?:[>*+-][ \t]?){10}", re.MULTILINE)
_MAX_MARKS = 2_000_000  # of inline markup; a million take some seconds
_MAX_OPEN = 2_000  # unclosed brackets and tags; each searches the rest of the text
_MAX_DEFINITIONS = 5_000  # consecutive lines


class HostilePage(Exception):
    """A page that would take a parser forever."""


def refuse_hostile(text: str) -> None:
    """Refuse a page that takes a parser quadratic time and that no person would write."""
    lines = text.count("\n")
    if (
        lines > _MAX_LINES
        or (lines > _MAX_QUOTED_LINES and _DEEP_QUOTATION.search(text))
        or (lines > _MAX_DEFINITIONS and _count_longest_run(text) > _MAX_DEFINITIONS)
    ):
        raise HostilePage(f"It has {lines:,} lines of the same kind.")
    if len(text) > _MAX_MARKS and len(re.findall(r"[*_~`<\[!&$\\]", text)) > _MAX_MARKS:
        raise HostilePage(f"It has more than {_MAX_MARKS:,} markup characters.")


def _count_longest_run(text: str) -> int:
    """Count the longest run of lines that may be link definitions."""
    run = longest = 0
    for line in text.split("\n"):
        run = run + 1 if line.lstrip(" ").startswith("[") else 0
        longest = max(longest, run)
    return longest


def refuse_unended(state: StateCore) -> None:
    """Refuse a paragraph of unclosed brackets or tags; a step of the parser."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > _MAX_OPEN:
            refuse_open(token.content)


def refuse_open(text: str) -> None:
    """Refuse a text of unclosed brackets or tags."""
    surplus = max(_measure_depth(text, "[", "]"), text.count("<") - text.count(">"))
    if surplus > _MAX_OPEN:
        raise HostilePage(f"A paragraph opens {surplus:,} brackets or tags without closing them.")


def _measure_depth(text: str, opening: str, closing: str) -> int:
    """Return the greatest number of brackets open at once."""
    if text.count(opening) <= _MAX_OPEN:
        return 0
    depth = deepest = 0
    for mark in re.findall(f"[{re.escape(opening + closing)}]", text):
        depth += 1 if mark == opening else -1
        deepest = max(deepest, depth)
    return deepest


def refuse_too_deep(tokens: Sequence[Token]) -> None:
    """Refuse a page that the parser stopped reading, because its rest would be lost."""
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        raise HostilePage("Its lists or quotations are nested too deeply.")
