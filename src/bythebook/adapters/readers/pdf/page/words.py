"""Repairs words that typesetting split or drew with special characters."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_SOFT_HYPHEN = "\u00ad"
_HYPHENS = "-\u2010\u2011" + _SOFT_HYPHEN
_COMBINING_ACCENTS = {
    "´": "\u0301", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a",
    "¯": "\u0304", "˘": "\u0306", "˙": "\u0307", "˝": "\u030b",
}  # fmt: skip
_LOOSE_ACCENT = re.compile(r"([´¨ˆ˜ˇ˚¯˘˙˝])([^\W\d_])|([cCsStTeEaA])¸")
_MAX_ENTRY_LENGTH = 1_000
_MAX_WORD_LENGTH = 300
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(r"([^\W\d_]+)$")
_FIRST_WORD = re.compile(r"([^\W\d_]+)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[/\-_=&?.]$")
# Dots before a page number in a table of contents.
_LEADERS = re.compile(r"(?:\s*\.){5,}\s*(?=(?:\| )?[\divxlc]*$)")


def clean(text: str) -> str:
    """Replace ligatures, separate accents and improvised quotes by regular characters."""
    if text.isascii() and "``" not in text and "''" not in text and "...." not in text:
        return _shorten_leaders(text) if ". . . . ." in text else text
    text = text.translate(_LIGATURES)
    text = text[:-1].replace(_SOFT_HYPHEN, "") + text[-1:]
    text = text.replace("``", "“").replace("''", "”").replace("’’", "”").replace("‘‘", "“")
    text = _LOOSE_ACCENT.sub(_combine_accent, text)
    text = _shorten_leaders(text)
    return unicodedata.normalize("NFC", text)


def _shorten_leaders(text: str) -> str:
    """Shorten dot leaders before a page number; very long lines are skipped because they take too long."""
    return _LEADERS.sub(" . . . ", text) if len(text) < _MAX_ENTRY_LENGTH else text


def _combine_accent(match: re.Match[str]) -> str:
    accent, letter, above = match.groups()
    sign = f"{letter}{_COMBINING_ACCENTS[accent]}" if accent else f"{above}\u0327"
    return unicodedata.normalize("NFC", sign)


class Vocabulary:
    """The words of a book, which show how a word split at a line end is written."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._counts = Counter[str]()
        for text in texts:
            self.learn(text)

    def learn(self, text: str) -> None:
        """Count the words of a line, except one split at its end."""
        text = clean(text)
        if text[-1:] in _HYPHENS:
            text = text[: -len(text.split()[-1])] if text.split() else ""
        self._counts.update(word.casefold() for word in _WORD.findall(text))

    def find_seam(self, before: str, after: str) -> tuple[int, str]:
        """Return how two lines join: characters to remove from the first, and text to insert between."""
        if not before or not after:
            return 0, ""
        before = before[-_MAX_WORD_LENGTH:]
        if before[-1] in _HYPHENS and len(before) > 1 and not before[-2].isspace():
            return self._find_hyphen_seam(before, after)
        if before[-1] == "—" or after[0] == "—":
            return 0, ""
        return 0, "" if _ADDRESS.search(before) and not after[0].isupper() else " "

    def _find_hyphen_seam(self, before: str, after: str) -> tuple[int, str]:
        first, last = _LAST_WORD.search(before[:-1]), _FIRST_WORD.match(after)
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
