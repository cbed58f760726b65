"""Text without typography, each letter with its place in the original."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_QUOTES = "'\"`´‘’‚‛“”„‟«»‹›′″＇＂"
_INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_ALIKE = str.maketrans(dict.fromkeys(_QUOTES, '"') | dict.fromkeys(_INVISIBLE, ""))
_DASH = re.compile(r" ?-(?: ?-)* ?")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded letters, and the place of each in the original text."""

    letters: str
    places: Sequence[int]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of folded letters in the original text."""
        return self.places[start], self.places[end - 1] + 1


def fold(text: str) -> Folded:
    """Fold quotes, dashes, ligatures, accents and white space; the case of letters is kept."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in _fold_character(character):
            if letter == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(letter)
            places.append(place)
    if letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return Folded("".join(letters), places)


def without_hyphens(folded: Folded) -> Folded:
    """Join words split by a hyphen, at the end of a line or not, and merge dashes."""
    letters: list[str] = []
    places: list[int] = []
    done = 0
    for match in _DASH.finditer(folded.letters):
        letters.append(folded.letters[done : match.start()])
        places.extend(folded.places[done : match.start()])
        done = match.end()
        before, after = (
            folded.letters[match.start() - 1 : match.start()],
            folded.letters[done : done + 1],
        )
        if not (before.isalpha() and after.isalpha()):
            letters.append("-")
            places.append(folded.places[folded.letters.index("-", match.start())])
    letters.append(folded.letters[done:])
    places.extend(folded.places[done:])
    return Folded("".join(letters), places)


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    """Return the plain form of a character: nothing, itself, or several letters."""
    letters = unicodedata.normalize("NFKD", character.translate(_ALIKE)).translate(_ALIKE)
    return "".join(map(_simplify, letters))


def _simplify(letter: str) -> str:
    if letter.isspace():
        return " "
    if letter == "⁄":
        return "/"
    return "-" if letter == "−" or unicodedata.category(letter) == "Pd" else letter
