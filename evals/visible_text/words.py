"""Words: runs of letters and digits, told apart from typography."""

import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
_UNSEEN = re.compile("[\u00ad\u02b0-\u02ff]")  # soft hyphens; accents that stand by themselves
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\n\s*(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Visible:
    """A page or file of a source with the text a person sees in it."""

    name: str
    text: str


def words(text: str) -> list[str]:
    """Give the words in order; ligatures and styled letters are the letters they stand for."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    return _WORD.findall(_BROKEN.sub("", plain))
