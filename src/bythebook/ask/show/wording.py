"""Our own sentences around an answer or a refusal."""

import re
from collections.abc import Mapping, Sequence

from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import NearestSection, RefusalType, Refused

DISCLAIMER = "The book may cover this only in part; please check the quoted passage."
MOST_WORDS_QUOTED = 120  # characters of a reader's own words
_BOOK, _SELECTION = "The book does not say", "The selected text does not say"
_OPENING = re.compile(
    rf"\A(?:{re.escape(DISCLAIMER)}\s*)?(?:(?:{_BOOK}|{_SELECTION}): “[^”]*”(?:; “[^”]*”)*\.\s*)?"
)
# What was read, and what to try; each page shows the nearest sections itself.
_ADVICE: Mapping[RefusalType, str] = {
    "empty_retrieval": "Nothing was found to read. Try other words, or look in a larger part of the book.",
    "low_relevance": "No passage comes near the question. If the book should cover it, try the words "
    "that the book uses.",
    "insufficient_grounding": "The nearest passages were read, and none of them answers. Try other words, "
    "or ask about one thing at a time.",
    "selected_text_missing": "Only the selected text was read. Ask without the selection to search the book.",
}


def answer_opening(*, cautious: bool, missing: Sequence[str], selection: bool) -> str | None:
    """Write the disclaimer of an answer: a caution, and the parts of the question it leaves out."""
    sentences = [DISCLAIMER] if cautious else []
    if missing:
        words = "; ".join(f"“{_shorten(part)}”" for part in missing)
        sentences.append(f"{_SELECTION if selection else _BOOK}: {words}.")
    return " ".join(sentences) or None


def remove_opening(text: str) -> str:
    """Remove the disclaimer from an answer."""
    return _OPENING.sub("", text, count=1)


def advice(refused: Refused) -> str:
    """Return what was read, and what the reader can try."""
    return _ADVICE[refused.refusal_type]


def section_name(near: NearestSection) -> str:
    """Return a section's name for people: its chapter, then its title."""
    return " · ".join(dict.fromkeys(filter(None, (near.chapter, near.section))))


def _shorten(words: str) -> str:
    """Shorten a reader's words, so that they can still be recognised."""
    words = words.replace("“", '"').replace("”", '"').strip(" ?.!")
    if len(words) <= MOST_WORDS_QUOTED:
        return words
    return words[: MOST_WORDS_QUOTED - 1].rsplit(" ", 1)[0] + ELLIPSIS
