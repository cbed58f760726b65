"""Judges a question that leans on the turns before it: as asked, then together with the question before.

The passages were found with the conversation, so the question as asked is enough to choose among them, and far
better than the joined text, which also fits what was answered before. It says too little to be sure of, though:
docs/decisions/0021 has the measurements.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from bythebook.domain.answers import Evidence, Judgement, Passage
from bythebook.domain.conversations import Turn
from bythebook.ports import Judge

READ_TWICE = 3  # passages: the best of the first reading
# Chosen on the dev dialogues for the bundled judge.
AS_ASKED = 0.75  # weight of the question as asked in the probability of an answer
LEFT_OUT = (
    0.7  # log odds that such a question loses by what it leaves out, for thresholds about .25
)
SAID_BEFORE = 0.1  # of the share of a unit that an earlier answer showed
_WORD = re.compile(r"[^\W_]+")
_UNREAD = 1e-4  # share of a unit that was not read again


async def judge_follow_up(
    judge: Judge, question: str, turns: Sequence[Turn], passages: Sequence[Passage]
) -> Judgement:
    """Judge a follow-up to earlier turns, of which there is at least one."""
    alone = await judge.judge(question, passages)
    ranked = sorted(range(len(passages)), key=lambda place: -alone.supports[place])
    best = [passages[place] for place in sorted(ranked[:READ_TWICE])]
    joined = await judge.judge(f"{question} {turns[-1].question}", best)
    odds = AS_ASKED * _log_odds(alone.answerable) + (1 - AS_ASKED) * _log_odds(joined.answerable)
    said = _words(" ".join(turn.answer for turn in turns))
    evidence = _combine(alone.evidence, joined.evidence, said)
    supports = tuple(
        max((one.support for one in evidence if one.passage is passage), default=0.0)
        for passage in passages
    )
    return Judgement(1 / (1 + math.exp(-odds - LEFT_OUT)), supports, evidence)


def _combine(
    alone: Sequence[Evidence], joined: Sequence[Evidence], said: str
) -> tuple[Evidence, ...]:
    """Combine the shares of both readings by their geometric mean, best first."""
    again = {(id(one.passage), one.unit.start): one.support for one in joined}
    shares = [
        math.sqrt(one.support * again.get((id(one.passage), one.unit.start), _UNREAD))
        * (SAID_BEFORE if _words(one.quote) in said else 1.0)
        for one in alone
    ]
    whole = sum(shares) or 1.0
    weighed = (
        replace(one, support=share / whole) for one, share in zip(alone, shares, strict=True)
    )
    return tuple(sorted(weighed, key=lambda one: -one.support))


def _words(text: str) -> str:
    words = " ".join(_WORD.findall(text.lower()))
    return f" {words} "


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
