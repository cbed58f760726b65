"""A model's rewrite of a question -> the plan, if the conversation supports the rewrite."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan, QuestionPart
from bythebook.ports.models import Rewrite

MOST_CHARACTERS = 500
MOST_PARTS = 3
SHARE_KNOWN = 0.5  # of a rewrite's words, which must come from the question or the conversation
_FEWEST_WORDS = 5  # of a question that stands alone after others
_LEANS = re.compile(
    r"""\A\W*(?:and|but|so|or|what\ about|how\ about|why|also)\b
    |\b(?:it|its|he|him|his|she|her|they|them|their|this|that|these|those|one|ones|there|then|former|latter
    |same|else|more|another|other|again|above|before|second|third|last)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"\w{4,}")  # an identifier is one word, or its parts would vouch for it
_ASKING = frozenset(
    "about been does from have many mean much that their there they this were what when where which whose with".split()
)


def is_plain(plan: Plan, turns: Sequence[Turn]) -> bool:
    """Return True if a plan needs no model: it has one question or known parts, and refers to no earlier turn."""
    if plan.selected_text is not None or plan.overview:
        return True
    several = plan.question.count("?") > 1 and not plan.parts
    leans = bool(turns) and (
        len(plan.question.split()) < _FEWEST_WORDS or bool(_LEANS.search(plan.question))
    )
    return not several and not leans


def accept_rewrite(plan: Plan, rewrite: Rewrite, turns: Sequence[Turn]) -> Plan:
    """Use a model's rewrite of a question, unless it asks for something new."""
    answered = " ".join((plan.question, *(turn.answer for turn in turns)))
    known = _words(" ".join((answered, *(turn.question for turn in turns))))
    question = _one_line(rewrite.question)
    if not _is_known(question, known):
        return plan
    parts = [_one_line(part) for part in rewrite.parts]
    several = 1 < len(parts) <= min(MOST_PARTS, plan.top_k)
    # Unanswered parts are shown to the reader, so no part may contain the model's own words, or words of an
    # earlier question that was not answered.
    sound = several and all(_is_known(part, _words(answered) | _ASKING, 1.0) for part in parts)
    return replace(
        plan,
        question=question,
        turns=plan.turns if question == plan.question else (),
        parts=tuple(QuestionPart(part, part) for part in parts) if sound else (),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_known(text: str, known: frozenset[str], share: float = SHARE_KNOWN) -> bool:
    words = _words(text)
    return 0 < len(text) <= MOST_CHARACTERS and len(words & known) >= share * len(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
