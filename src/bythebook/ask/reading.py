"""A plan and a model's reading of the question -> the plan by that reading, as far as it is borne out."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Part, Plan
from bythebook.ports.models import Reading

MOST_CHARACTERS = 500
MOST_PARTS = 3
BORNE_OUT = 0.5  # of a reading's words, which must come from the question or the conversation
_FEWEST_WORDS = 5  # of a question that stands alone after others
_LEANS = re.compile(
    r"""\A\W*(?:and|but|so|or|what\ about|how\ about|why|also)\b
    |\b(?:it|its|he|him|his|she|her|they|them|their|this|that|these|those|one|ones|there|then|former|latter
    |same|else|more|another|other|again|above|before|second|third|last)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"\w{4,}")
_ASKING = frozenset(
    "about been does from have many mean much that their there they this were what when where which whose with".split()
)


def is_plain(plan: Plan, turns: Sequence[Turn]) -> bool:
    """Say whether a plan needs no second reading: it asks one thing, or known parts, and leans on nothing."""
    if plan.selected_text is not None or plan.overview:
        return True
    several = plan.question.count("?") > 1 and not plan.parts
    leans = bool(turns) and (
        len(plan.question.split()) < _FEWEST_WORDS or bool(_LEANS.search(plan.question))
    )
    return not several and not leans


def with_reading(plan: Plan, reading: Reading, turns: Sequence[Turn]) -> Plan:
    """Take over how a model reads a question, unless it asks for something that nobody asked."""
    told = " ".join((plan.question, *(turn.answer for turn in turns)))
    known = _words(" ".join((told, *(turn.question for turn in turns))))
    question = _one_line(reading.question)
    if not _is_borne_out(question, known):
        return plan
    parts = [_one_line(part) for part in reading.parts]
    several = 1 < len(parts) <= min(MOST_PARTS, plan.top_k)
    # A part that is not answered is told to the reader, so that none may hold a word of the model's own, nor one
    # of an earlier question that the book did not take up.
    sound = several and all(_is_borne_out(part, _words(told) | _ASKING, 1.0) for part in parts)
    return replace(
        plan, question=question, parts=tuple(Part(part, part) for part in parts) if sound else ()
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_borne_out(text: str, known: frozenset[str], share: float = BORNE_OUT) -> bool:
    words = _words(text)
    return 0 < len(text) <= MOST_CHARACTERS and len(words & known) >= share * len(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
