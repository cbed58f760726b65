"""Where sentences begin and end, for ingest and for selections alike."""

import re
from collections.abc import Collection, Iterator

_ABBREVIATIONS = frozenset(
    """al approx art ca ch chap co corp dept dr ed eds eq eqs etc fig figs gen gov inc jr ltd max min
    mr mrs ms mt no nos p pp par prof ref refs rev sec sr st tab univ viz vol vols vs
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_DOTTED = re.compile(r"(?:^|[\s(\[“\"'])(?:[A-Za-z]\.){1,}[A-Za-z]?$")  # e.g. i.e. U.S. J.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]»*_]*(?=\s|$)|[。！？｡।؟]+[」』”’）]*|\n+")
_OPENERS = frozenset("a an but he if in it she that the these they this those we".split())
_OPENING = re.compile(r"\s*[\"'“‘(\[]*([A-Z][a-z]*)\b")
_LAST_WORD = re.compile(r"([A-Za-z]+)$")


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence, without white space around it."""
    start = 0
    for match in _END.finditer(text):
        if _ends_here(text, match):
            yield from _trim(text, start, match.end())
            start = match.end()
    yield from _trim(text, start, len(text))


def _ends_here(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] in "!?…" or mark.startswith("..."):
        return not _continues(text, match.end())
    if mark[0] != ".":
        return True
    before = text[max(0, match.start() - 24) : match.start()]
    if _continues(text, match.end()):
        return False
    if _DOTTED.search(before + "."):
        # "the U.S. The" and "plan B. It" are ends all the same, "J. Smith" and "e.g. Python" are not
        return len(mark) > 1 or (
            bool(re.search(r"[A-Z]\.[A-Z]$|\w\s[A-Za-z]$", before))
            and _starts_sentence(text, match.end())
        )
    word = _LAST_WORD.search(before)
    if word and word.group(1).lower() in _ABBREVIATIONS:
        # "takes 5 min. The" is an end, "Fig. A" is not
        return _starts_sentence(text, match.end(), but=() if word.group(1) == "etc" else ("a",))
    # A bare number and a dot opens an entry of an enumeration: "2. Build it."
    return not re.search(r"(?:^|\n|[.!?]\s)\s*\d{1,3}$", before)


def _continues(text: str, position: int) -> bool:
    following = text[position : position + 40].lstrip()
    return bool(following) and (following[0].islower() or following[0] in ",;:")


def _starts_sentence(text: str, position: int, but: Collection[str] = ()) -> bool:
    word = _OPENING.match(text[position : position + 40])
    return word is not None and word.group(1).lower() in _OPENERS.difference(but)


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    body = piece.strip()
    if body:
        begin = start + len(piece) - len(piece.lstrip())
        yield begin, begin + len(body)
