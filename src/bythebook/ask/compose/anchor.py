"""Drafts of a model -> the sentences of the book that say most of what they say.

A small model often writes a true line and a wrong number. Verification holds a line against whole passages, so the
number alone would let it rest on a sentence next to the one that says so.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from bythebook.domain.answers import Draft, Passage

CLEARLY_MORE = 2.0  # times the words that the cited sentences share with the line
MOST_OF_IT = 0.5  # of the words of a line
_WORDS = re.compile(r"\w+")


def anchor(draft: Draft, passages: Sequence[Passage]) -> Draft:
    """Replace the quotes of a line if another sentence clearly has more of its words."""
    words = _words_of(draft.text)
    cited = len(words & _words_of(" ".join(quote for _, quote in draft.quotes)))
    if not draft.quotes or not words or cited == len(words):
        return draft
    units = [(passage, text) for passage in passages for text in passage.chunk.unit_texts()]
    best = max(units, key=lambda one: len(words & _words_of(one[1])), default=None)
    shared = len(words & _words_of(best[1])) if best else 0
    if best is None or shared < max(CLEARLY_MORE * cited, MOST_OF_IT * len(words)):
        return draft
    return replace(draft, quotes=(best,))


def _words_of(text: str) -> set[str]:
    """Return the words that carry meaning: long ones and numbers."""
    return {word for word in _WORDS.findall(text.lower()) if len(word) > 3 or word.isdigit()}
