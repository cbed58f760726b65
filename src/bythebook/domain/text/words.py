"""Words of a text: how to find them, their stems, and lists that several rooms share."""

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

MONTHS = (
    "january february march april may june july august september october november december"
).split()

# English words that say nothing about a topic. Each room adds those that say nothing in its own texts.
FUNCTION_WORDS = frozenset(
    """a about am an and any are as at be been but by can could did do does doing done for from get give
    had has have how i in into is it its like make may me might much must my need of on one or our please
    should so some than that the their them then there these they thing this those to up us use used using
    was way we were what when where which who whom whose why will with would you your""".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STEMMER = snowballstemmer.stemmer("english")
_STEMMING = Lock()


def find_words(text: str) -> list[str]:
    """Return the words of a text in order, lower-case and without a possessive."""
    return [normalize_word(word) for word in _WORD.findall(text)]


def normalize_word(word: str) -> str:
    """Return a word in lower case, without a possessive."""
    return word.lower().replace("’", "'").removesuffix("'s")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem that the forms of an English word share."""
    with _STEMMING:  # a stemmer keeps state while it works
        return str(_STEMMER.stemWord(word))
