"""Splits the lists of AsciiDoc into items, each with the blocks that belong to it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

ListKind = Literal["bullet", "ordered", "callout", "description"]

_MARK = re.compile(
    r"""^[ \t]*(?:
    (?P<bullet>\*{1,6}|-|\u2022)[ \t]+(?=\S)
    |(?P<ordered>\.{1,6}|\d{1,6}\.|[a-zA-Z]\.|[ivxIVX]{1,6}\))[ \t]+(?=\S)
    |<(?P<callout>\d{1,4}|\.)>[ \t]+(?=\S)
    |(?P<term>\S(?:[^:;\n]|:(?!:)|;(?!;)){0,300}?)(?P<description>:{2,4}|;;)(?:[ \t]+|$)
    )""",
    re.VERBOSE,
)
_CHECK = re.compile(r"^\[([ xX*])\][ \t]+")
_DELIMITER = re.compile(r"^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}|[|,:!]={3,})\S*$")


@dataclass(slots=True)
class ListItem:
    """An item: its first words, and the lines of the blocks below them."""

    kind: ListKind
    mark: str
    text: str
    term: str = ""
    blocks: list[str] = field(default_factory=list)


def find_list_mark(line: str) -> re.Match[str] | None:
    """Return the mark at the start of an item."""
    found = _MARK.match(line)
    if found and found.group("term") and re.match(r"[a-z]+::\S*\[", line.strip()):
        return None  # a macro: image::a.png[]
    return found


def split_items(lines: Sequence[str], at: int) -> tuple[list[ListItem], int]:
    """Return the items of the list that starts at a line, and the line after the list."""
    items: list[ListItem] = []
    own = ""
    while at < len(lines):
        line = lines[at].rstrip()
        found = find_list_mark(line)
        if found and (not items or _get_mark(found) == own):
            items.append(_start_item(line, found))
            own = own or _get_mark(found)
            at = _take_words(lines, at + 1, items[-1])
        elif not items or (after := _take_attached(lines, at, items[-1], own)) is None:
            break
        else:
            at = after
    return items, at


def _get_mark(found: re.Match[str]) -> str:
    if found.group("bullet"):
        return found.group("bullet")
    if ordered := found.group("ordered"):
        return ordered if ordered[0] == "." else "1."
    return "<1>" if found.group("callout") else found.group("description")


def _start_item(line: str, found: re.Match[str]) -> ListItem:
    kind: ListKind = (
        "bullet" if found.group("bullet")
        else "ordered" if found.group("ordered")
        else "callout" if found.group("callout")
        else "description"
    )  # fmt: skip
    text = line[found.end() :]
    if kind == "bullet" and (check := _CHECK.match(text)):
        box = "\N{BALLOT BOX}" if check.group(1) == " " else "\N{BALLOT BOX WITH CHECK}"
        text = f"{box} {text[check.end() :]}"
    return ListItem(kind, _get_mark(found), text, found.group("term") or "")


def _take_words(lines: Sequence[str], at: int, item: ListItem) -> int:
    """Add the lines that go on with an item's words."""
    if item.kind == "description" and not item.text:
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at < len(lines) and _starts_block(lines[at]):
            return at
    while at < len(lines):
        line = lines[at].rstrip()
        if not line or line == "+" or find_list_mark(line) or _starts_block(line):
            break
        if not line.startswith("//"):
            item.text = f"{item.text}\n{line.strip()}" if item.text else line.strip()
        at += 1
    return at


def _starts_block(line: str) -> bool:
    line = line.rstrip()
    return bool(_DELIMITER.match(line)) or bool(re.match(r"^\[[^\]]+\]$|^\.[^\s.]|^={1,6} ", line))


def _take_attached(lines: Sequence[str], at: int, item: ListItem, own: str) -> int | None:
    """Add a nested list or a block after a plus sign; None where the list ends."""
    start = at
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at >= len(lines):
        return None
    line = lines[at].rstrip()
    if line == "+":
        return _take_block(lines, at + 1, item)
    found = find_list_mark(line)
    if found:
        mark = _get_mark(found)
        if mark == own:
            return at
        if _is_deeper(mark, own, item):
            return _take_nested(lines, at, item, own)
        return None
    if at == start and item.kind == "description" and _starts_block(line):
        return _take_block(lines, at, item)
    if line[:1] in {" ", "\t"} and at > start:  # an indented paragraph below an item
        return _take_block(lines, at, item)
    return None


def _is_deeper(mark: str, own: str, item: ListItem) -> bool:
    """Return True if a list with another mark is inside the item."""
    same = mark[0] == own[0] and mark[0] in "*."
    return len(mark) > len(own) if same else mark not in item.mark


def _take_nested(lines: Sequence[str], at: int, item: ListItem, own: str) -> int:
    """Add the lines of a list inside an item, up to the next item of the outer list."""
    item.blocks.append("")
    while at < len(lines):
        line = lines[at].rstrip()
        found = find_list_mark(line)
        if found and _get_mark(found) == own:
            break
        if not line:
            following = next((n for n in range(at, len(lines)) if lines[n].strip()), len(lines))
            ahead = lines[following].rstrip() if following < len(lines) else ""
            if ahead != "+" and not find_list_mark(ahead):
                break
        if line == "+":
            item.blocks.append(line)
            size = len(item.blocks)
            at = _take_block(lines, at + 1, item)
            del item.blocks[size : size + 1]  # the blank line that parts blocks
            continue
        item.blocks.append(line)
        at += 1
    return at


def _take_block(lines: Sequence[str], at: int, item: ListItem) -> int:
    """Add one block with the lines above it that describe it."""
    item.blocks.append("")
    while at < len(lines) and not lines[at].strip():
        at += 1
    while at < len(lines) and re.match(r"^(?:\[.*\]|\.[^\s.].*)$", lines[at].rstrip()):
        item.blocks.append(lines[at].rstrip())
        at += 1
    if at < len(lines) and (found := _DELIMITER.match(lines[at].rstrip())):
        closing = found.group(1)
        item.blocks.append(lines[at].rstrip())
        at += 1
        while at < len(lines):
            item.blocks.append(lines[at].rstrip())
            at += 1
            if item.blocks[-1] == closing:
                break
        return at
    while at < len(lines) and lines[at].strip() and lines[at].rstrip() != "+":
        if find_list_mark(lines[at]) and item.blocks[-1]:
            break
        item.blocks.append(lines[at].rstrip())
        at += 1
    return at
