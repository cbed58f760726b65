"""Words that no passage holds: a few are other words for the same, many speak of something else.

A judge weighs what a sentence means, and can be talked round by a passage that was written to do so. Words
cannot: what a book does not speak of takes words that it does not have.
"""

import re
from collections.abc import Iterable

KNOWN = 0.6  # of a sentence's words
FEW = 4  # words: of so few, a strange name is another matter, also where it opens the sentence
_WORD = re.compile(
    r"(?<!\w)[A-Za-z\u00c0-\u04ff]{4,}(?!\w)"
)  # of scripts that part words by spaces
_STEM = 5  # letters that forms of a word share
_LITTLE = frozenset(
    """about after again against also among another because been before being below between both could does doing
    down during each even every from further have having here hers herself himself however into itself just like
    many more most much must only onto other others ours over same several shall should since some such than that
    their theirs them themselves then there therefore these they this those through thus together toward towards
    under until upon very were what when where whereas whether which while whom whose will with within without
    would your yours yourself""".split()
)


def is_strange(sentence: str, texts: Iterable[str]) -> bool:
    """Say whether too many of a sentence's words stand in none of the texts, in any form."""
    words = _words(sentence)
    known = frozenset(word[:_STEM] for text in texts for word in _words(text))
    strange = {word for word in words if not _stands(word, known)}
    if len(words) <= FEW and any(word.capitalize() in sentence for word in strange):
        return True
    return len(strange) > (1 - KNOWN) * len(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(
        word for found in _WORD.findall(text) if (word := found.lower()) not in _LITTLE
    )


def _stands(word: str, known: frozenset[str]) -> bool:
    """Find a word by its beginning; one of four letters may have gained an ending or lost one."""
    return (
        word[:_STEM] in known
        or word[: _STEM - 1] in known
        or (len(word) < _STEM and any(other.startswith(word) for other in known))
    )
