"""What a reader is told besides the book's own words."""

import re
from collections.abc import Mapping, Sequence

from bythebook.ask.judge import DISCLAIMER
from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import NearestSection, RefusalType, Refused

MOST_WORDS_QUOTED = 120  # characters of a reader's own words
_BOOK, _SELECTION = "The book does not say", "The selected text does not say"
_OPENING = re.compile(
    rf"\A(?:{re.escape(DISCLAIMER)}\s*)?(?:(?:{_BOOK}|{_SELECTION}): “[^”]*”(?:; “[^”]*”)*\.\s*)?"
)
# What was looked at, and what to try; what is nearest, each place shows in its own way.
_ADVICE: Mapping[RefusalType, str] = {
    "empty_retrieval": "Nothing was found to read. Try other words, or look in a larger part of the book.",
    "low_relevance": "No passage comes near the question. If the book should cover it, try the words "
    "that the book uses.",
    "insufficient_grounding": "The nearest passages were read, and none of them answers. Try other words, "
    "or ask about one thing at a time.",
    "selected_text_missing": "Only the selected text was read. Ask without the selection to search the book.",
}


def opening(caution: str | None, missing: Sequence[str], *, selection: bool) -> str | None:
    """Give what an answer must open with: a caution, and the parts of the question it leaves out."""
    told = [caution] if caution else []
    if missing:
        words = "; ".join(f"“{_quoted(part)}”" for part in missing)
        told.append(f"{_SELECTION if selection else _BOOK}: {words}.")
    return " ".join(told) or None


def without_opening(text: str) -> str:
    """Give an answer without what it opens with."""
    return _OPENING.sub("", text, count=1)


def advice(refused: Refused) -> str:
    """Say what was looked at, and what the reader may try."""
    return _ADVICE[refused.refusal_type]


def section_name(near: NearestSection) -> str:
    """Name a section for people: its chapter, then itself."""
    return " · ".join(dict.fromkeys(filter(None, (near.chapter, near.section))))


def _quoted(words: str) -> str:
    """Give a reader's words back, in one line and no longer than needed to know them again."""
    words = words.replace("“", '"').replace("”", '"').strip(" ?.!")
    if len(words) <= MOST_WORDS_QUOTED:
        return words
    return words[: MOST_WORDS_QUOTED - 1].rsplit(" ", 1)[0] + ELLIPSIS
