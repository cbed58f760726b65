"""Pages that would take a parser forever, refused before it does."""

import re
from collections.abc import Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

DEEPEST = 100  # levels of lists and quotations, two for each list
_MOST_LINES = 200_000
_MOST_QUOTED_LINES = 20_000  # below a quotation of many levels, each of which reads them all
_DEEP_QUOTATION = re.compile(r"^[ \t]*(?:[>*+-][ \t]?){10}", re.MULTILINE)
_MOST_MARKS = 2_000_000  # of inline markup; some seconds for a million
_MOST_OPEN = 2_000  # brackets and tags without an end: the rest is searched for each
_MOST_DEFINITIONS = 5_000  # in one run of lines


class HostilePage(Exception):
    """A page that a parser would take forever for."""


def refuse_hostile(text: str) -> None:
    """Refuse a page of what no person writes, for which a parser takes quadratic time."""
    lines = text.count("\n")
    if (
        lines > _MOST_LINES
        or (lines > _MOST_QUOTED_LINES and _DEEP_QUOTATION.search(text))
        or (lines > _MOST_DEFINITIONS and _longest_run(text) > _MOST_DEFINITIONS)
    ):
        raise HostilePage(f"It has {lines:,} lines of a kind.")
    if len(text) > _MOST_MARKS and len(re.findall(r"[*_~`<\[!&$\\]", text)) > _MOST_MARKS:
        raise HostilePage(f"It has more than {_MOST_MARKS:,} marks.")


def _longest_run(text: str) -> int:
    """Count the lines of the longest run that may be definitions of links."""
    run = longest = 0
    for line in text.split("\n"):
        run = run + 1 if line.lstrip(" ").startswith("[") else 0
        longest = max(longest, run)
    return longest


def refuse_unended(state: StateCore) -> None:
    """Refuse a paragraph of brackets or tags that never end; a step of the parser."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > _MOST_OPEN:
            refuse_open(token.content)


def refuse_open(text: str) -> None:
    """Refuse a text of brackets or tags that never end."""
    surplus = max(_depth(text, "[", "]"), text.count("<") - text.count(">"))
    if surplus > _MOST_OPEN:
        raise HostilePage(f"A paragraph opens {surplus:,} brackets or tags that never end.")


def _depth(text: str, opening: str, closing: str) -> int:
    """Count how many brackets are open at once at most."""
    if text.count(opening) <= _MOST_OPEN:
        return 0
    depth = deepest = 0
    for mark in re.findall(f"[{re.escape(opening + closing)}]", text):
        depth += 1 if mark == opening else -1
        deepest = max(deepest, depth)
    return deepest


def refuse_too_deep(tokens: Sequence[Token]) -> None:
    """Refuse a page that the parser gave up on half way: the rest of it would be lost."""
    if any(token.level >= DEEPEST - 1 for token in tokens):
        raise HostilePage("Its lists or quotations are nested too deep.")
