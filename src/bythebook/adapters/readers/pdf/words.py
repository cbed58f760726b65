"""Puts words right that typesetting took apart or drew with special signs."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_SOFT_HYPHEN = "\u00ad"
_HYPHENS = "-\u2010\u2011" + _SOFT_HYPHEN
_BEFORE = {
    "´": "\u0301", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a",
    "¯": "\u0304", "˘": "\u0306", "˙": "\u0307", "˝": "\u030b",
}  # fmt: skip
_LOOSE_ACCENT = re.compile(r"([´¨ˆ˜ˇ˚¯˘˙˝])([^\W\d_])|([cCsStTeEaA])¸")
_LONGEST_ENTRY = 1_000
_LONGEST_WORD = 300
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*(?:-[^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+)$")
_FIRST = re.compile(r"([^\W\d_]+)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[/\-_=&?.]$")
_LEADERS = re.compile(r"(?:\s*\.){5,}\s*(?=(?:\| )?[\divxlc]*$)")  # of a table of contents


def clean(text: str) -> str:
    """Write ligatures, loose accents and makeshift quotes as the letters and signs they stand for."""
    if text.isascii() and "``" not in text and "''" not in text and "...." not in text:
        return _without_leaders(text) if ". . . . ." in text else text
    text = text.translate(_LIGATURES)
    text = text[:-1].replace(_SOFT_HYPHEN, "") + text[-1:]
    text = text.replace("``", "“").replace("''", "”").replace("’’", "”").replace("‘‘", "“")
    text = _LOOSE_ACCENT.sub(_accented, text)
    text = _without_leaders(text)
    return unicodedata.normalize("NFC", text)


def _without_leaders(text: str) -> str:
    """Shorten the dots that lead to a page number; a line of nothing but dots takes too long."""
    return _LEADERS.sub(" . . . ", text) if len(text) < _LONGEST_ENTRY else text


def _accented(match: re.Match[str]) -> str:
    accent, letter, above = match.groups()
    sign = f"{letter}{_BEFORE[accent]}" if accent else f"{above}\u0327"
    return unicodedata.normalize("NFC", sign)


class Vocabulary:
    """The words that a book uses elsewhere: they tell how a word cut by a line end is written."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._counts = Counter[str]()
        for text in texts:
            self.learn(text)

    def learn(self, text: str) -> None:
        """Take the words of a line, but not one that its end cuts off."""
        text = clean(text)
        if text[-1:] in _HYPHENS:
            text = text[: -len(text.split()[-1])] if text.split() else ""
        self._counts.update(word.casefold() for word in _WORD.findall(text))

    def seam(self, before: str, after: str) -> tuple[int, str]:
        """Say how two lines join: how much of the first one's end goes, and what comes between."""
        if not before or not after:
            return 0, ""
        before = before[-_LONGEST_WORD:]
        if before[-1] in _HYPHENS and len(before) > 1 and not before[-2].isspace():
            return self._hyphen_seam(before, after)
        if before[-1] == "—" or after[0] == "—":
            return 0, ""
        return 0, "" if _ADDRESS.search(before) and not after[0].isupper() else " "

    def _hyphen_seam(self, before: str, after: str) -> tuple[int, str]:
        first, last = _LAST.search(before[:-1]), _FIRST.match(after)
        if before[-1] == _SOFT_HYPHEN:
            return 1, ""
        if first is None or last is None or last.group()[0].isupper():
            return 1, "-"
        one, two = first.group().casefold(), last.group().casefold()
        compound, whole = self._counts[f"{one}-{two}"], self._counts[one + two]
        if compound or whole:
            return 1, "-" if compound > whole else ""
        known = len(one) > 1 and self._counts[one] and self._counts[two]
        return 1, "-" if known else ""
