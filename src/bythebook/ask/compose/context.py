"""The context that a unit of a passage needs to be understood."""

import re
from collections.abc import Sequence
from itertools import takewhile

from bythebook.domain.books import Chunk, Unit

MOST_STEPS = 8  # of a list that is shown whole
MOST_LEAD = 40  # words of a sentence that is shown only as context
_MOST_BACK = 2  # sentences to go back at most

_POINTS_BACK = re.compile(
    r"""[\W_]*(?:
    (?:it|its|he|him|his|she|her|they|them|their|both|neither|the\ (?:former|latter|same))\b
    |(?:this|that|these|those|such)\b(?!\ (?:book|chapter|section|page|course|days?)\b)
    |(?:therefore|thus|hence|consequently|accordingly|however|instead|otherwise|nevertheless|nonetheless
      |moreover|furthermore|besides|similarly|likewise|conversely|also|then|afterwards|here|so|but|yet|and
      |as\ a\ (?:result|consequence)|for\ (?:example|instance|this|that)|in\ (?:addition|contrast|turn|this|that)
      |by\ contrast|on\ the\ other\ hand|because\ of\ (?:this|that))\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTS_NOWHERE = re.compile(r"[\W_]*it (?:is|was) (?:\w+ )?\w+ (?:to|that)\b", re.IGNORECASE)
_WHOLE = re.compile(r"[A-Z0-9\"“'‘(\[`$\\].*[.!?…。！？][\"'”’)\]]*", re.DOTALL)


def add_context(chunk: Chunk, at: int, *, steps: bool = False) -> list[Unit]:
    """Return a unit with the units needed to understand it, in reading order.

    With `steps`, a list is returned whole.
    """
    units = chunk.units
    match units[at].kind:
        case "item":
            items = _list_around(units, at) if steps else [units[at]]
            return [*_lead_of(chunk, at, wanted=steps or not reads_alone(chunk, at)), *items]
        case "row":
            return [*_head_of(chunk, at), units[at]]
        case "code" | "formula":
            return [*_lead_of(chunk, at), units[at]]
        case _:
            back = _find_referents(chunk, at)
            return [*back, units[at], *_find_announced(chunk, at, steps=steps)]


def reads_alone(chunk: Chunk, at: int) -> bool:
    """Return True if an item is a sentence by itself."""
    text = _text(chunk, at)
    return bool(_WHOLE.fullmatch(text)) and len(text.split()) > 4 and not points_back(text)


def points_back(sentence: str) -> bool:
    """Return True if a sentence starts with a word that refers to an earlier sentence."""
    return bool(_POINTS_BACK.match(sentence)) and not _POINTS_NOWHERE.match(sentence)


def announces(text: str) -> bool:
    """Return True if something must follow a text: a list, or a formula in mid-sentence."""
    return text.rstrip("*_ ").endswith((":", "：", ","))


def _text(chunk: Chunk, at: int) -> str:
    return chunk.text[chunk.units[at].start : chunk.units[at].end]


def _find_referents(chunk: Chunk, at: int) -> Sequence[Unit]:
    """Return the sentences just before that a sentence refers to, if they are short."""
    first = at
    while first > max(at - _MOST_BACK, 0) and points_back(_text(chunk, first)):
        before = _text(chunk, first - 1)
        kind = chunk.units[first - 1].kind
        whole = kind == "formula" or (kind == "sentence" and _WHOLE.fullmatch(before))
        if not whole or len(before.split()) > MOST_LEAD:
            break
        first -= 1
    return chunk.units[first:at]


def _find_announced(chunk: Chunk, at: int, *, steps: bool) -> Sequence[Unit]:
    """Return the list, table, code or formula that a sentence introduces; with steps, also the next one."""
    following = at + 1 < len(chunk.units) and announces(_text(chunk, at + 1))
    opener = at + 1 if steps and following and chunk.units[at + 1].kind == "sentence" else at
    rest = chunk.units[opener + 1 :]
    if not rest or rest[0].kind == "sentence" or not announces(_text(chunk, opener)):
        return ()
    opened = list(takewhile(lambda unit: unit.kind == rest[0].kind, rest))[:MOST_STEPS]
    return (*chunk.units[at + 1 : opener + 1], *opened)


def _lead_of(chunk: Chunk, at: int, *, wanted: bool = True) -> Sequence[Unit]:
    """Return the sentence that introduces a list, code or formula."""
    first = _run_start(chunk.units, at)
    if not wanted or first == 0 or chunk.units[first - 1].kind != "sentence":
        return ()
    lead = _text(chunk, first - 1)
    fits = announces(lead) and len(lead.split()) <= MOST_LEAD
    return (*_find_referents(chunk, first - 1), chunk.units[first - 1]) if fits else ()


def _list_around(units: Sequence[Unit], at: int) -> Sequence[Unit]:
    """Return the whole list of an item; if it is too long to show, the item alone."""
    first = _run_start(units, at)
    items = list(takewhile(lambda unit: unit.kind == "item", units[first:]))
    return items if len(items) <= MOST_STEPS else [units[at]]


def _head_of(chunk: Chunk, at: int) -> Sequence[Unit]:
    """Return the head row, if the table begins in this chunk and has one."""
    first = _run_start(chunk.units, at)
    goes_on = bool(chunk.header) and first == 0
    head, row = (_cells(_text(chunk, place)) for place in (first, at))
    names = len(head) == len(row) > 1 and not any(re.fullmatch(r"[\W\d]+", cell) for cell in head)
    return (chunk.units[first],) if first < at and names and not goes_on else ()


def _run_start(units: Sequence[Unit], at: int) -> int:
    """Return where the run of units of one kind begins."""
    first = at
    while first > 0 and units[first - 1].kind == units[at].kind:
        first -= 1
    return first


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split(" | ")]
