"""Evidence -> key units: the few that answer, passage by passage."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.compose.context import announces
from bythebook.domain.answers import Evidence, Passage
from bythebook.domain.books import Unit

MOST_KEYS = 3  # of one passage
KEY_WORTH = 0.2  # of the best unit's chance: below it a unit is context, not key
SECOND_WORTH = 0.01  # of the best unit's chance: below it a second passage adds no answer
SAME_WORDS = 0.85  # shared by two units that say the same


@dataclass(frozen=True, slots=True)
class Keys:
    """The key units of a passage, best first, with the chance of the best."""

    passage: Passage
    units: tuple[Unit, ...]
    support: float


def choose_keys(
    ranked: Sequence[Evidence], passages: int, worth: float = SECOND_WORTH
) -> list[Keys]:
    """Choose the units that answer, from at most so many passages, best first.

    A passage after the first must have a unit of `worth`, as a share of the best one's chance.
    """
    chosen: list[Keys] = []
    used: list[Evidence] = []
    for best in ranked:
        known = any(keys.passage == best.passage for keys in chosen)
        if len(chosen) == passages or best.support < worth * ranked[0].support:
            break
        if known or any(say_same(best, other) for other in used):
            continue
        found = _find_keys(best, ranked)
        used += found
        chosen.append(Keys(best.passage, tuple(one.unit for one in found), best.support))
    return chosen


def _find_keys(best: Evidence, ranked: Sequence[Evidence]) -> list[Evidence]:
    """Find the units of the best one's passage that are nearly as likely to answer."""
    least = KEY_WORTH * ranked[0].support
    others = (
        one
        for one in ranked
        if one.passage == best.passage and one is not best and one.support >= least
    )
    return [best, *(one for one in others if not announces(one.quote))][:MOST_KEYS]


def say_same(one: Evidence, other: Evidence) -> bool:
    """Return True if two units say the same in nearly the same words."""
    # By plain \w+: two rows that differ in an identifier do not say the same.
    ours, theirs = (set(re.findall(r"\w+", each.quote.lower())) for each in (one, other))
    both = ours | theirs
    return bool(both) and len(ours & theirs) > SAME_WORDS * len(both)
