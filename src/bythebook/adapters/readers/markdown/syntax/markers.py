"""Marks that rewritten Markdown carries through the parser: instructions around blocks, links of notes.

A kind of book with its own syntax for admonitions writes its blocks between `open_admonition` and
CLOSE, each on a line of its own after a blank one; the first paragraph inside is the title.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from markdown_it.token import Token

from bythebook.adapters.readers.admonitions import find_admonition_kind
from bythebook.domain.marks import AdmonitionKind

CLOSE: Final = "<?bythebook close?>"
_OPEN = re.compile(r"\A\s*<\?bythebook open (\w+)\?>\s*\Z")
_NOTE = "bythebook-note:"


def open_admonition(kind: AdmonitionKind) -> str:
    """Return the line that opens an admonition."""
    return f"<?bythebook open {kind}?>"


def read_marker(html: str) -> AdmonitionKind | bool:
    """Return the kind that a line opens, True if it closes one, else False."""
    if found := _OPEN.match(html):
        return find_admonition_kind(found.group(1))
    return html.strip() == CLOSE


def write_note_reference(label: str) -> str:
    """Write the sign of a footnote as a link, which shows as its label in brackets."""
    return rf"[\[{label}\]]({_NOTE}{label})"


def write_note_start(label: str) -> str:
    """Write the beginning of a footnote."""
    return rf"[\[{label}\]]({_NOTE}!{label}) "


def read_note_target(target: str) -> str:
    """Return the label of the footnote that a link stands for; empty for other links."""
    return unquote(target.removeprefix(_NOTE).lstrip("!")) if target.startswith(_NOTE) else ""


def read_note_start(children: Sequence[Token]) -> str:
    """Return the label of the footnote that a paragraph is; empty for other paragraphs."""
    first = children[0] if children else None
    target = str(first.attrs.get("href", "")) if first and first.type == "link_open" else ""
    return unquote(target[len(_NOTE) + 1 :]) if target.startswith(f"{_NOTE}!") else ""
