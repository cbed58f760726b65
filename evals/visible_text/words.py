"""Words: runs of letters and digits, without typography."""

import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
_UNSEEN = re.compile("[\u00ad\u02b0-\u02ff]")  # soft hyphens; accents without a letter
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\n\s*(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A page or file of a source, with its visible text."""

    name: str
    text: str


def split_words(text: str) -> list[str]:
    """Split a text into words; ligatures and styled letters become plain letters."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    return _WORD.findall(_BROKEN.sub("", plain))
