"""Wordings -> groups of one question: by the words they share, whatever stands around these."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from bythebook.domain.insight import Wording

ALIKE_FROM = 0.6  # share of words in common, of all the words that either has
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FEWEST_LETTERS = 3  # that an ending leaves of a word
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "es", "ed", "er", "ly", "s", "y", "e")
_COMMON = frozenset(
    """a about am an and any are as at be been being book but by can chapter could did do does doing done
    explain for from get give had has have how i in into is it its know like make many may me mean means
    might more much must my need of on one or our please section shall should show so some tell than that
    the their them then there these they thing this those to up us use used using want was way we were what
    when where which who whom whose why will with would you your""".split()
)


@dataclass(frozen=True, slots=True)
class Group:
    """Wordings of one question, those asked most first."""

    wordings: tuple[Wording, ...]

    @property
    def times(self) -> int:
        """How often it was asked, in any wording."""
        return sum(wording.times for wording in self.wordings)

    @property
    def last_asked(self) -> datetime:
        """When it was asked last, in any wording."""
        return max(wording.last_asked for wording in self.wordings)


def grouped(wordings: Iterable[Wording]) -> list[Group]:
    """Put wordings together that ask the same, the groups asked most first.

    A wording is reduced to the words that carry its meaning: lower-case, without common words such
    as "what" and "the", each cut to its stem, order and repetition aside. Taken in the order given,
    it joins the first group whose leading wording shares at least 60 % of all the words that
    either has and the very same figures ("ROS 1" is not "ROS 2"); otherwise it leads a new group.
    Only leaders are compared, so that no chain of small differences joins what has nothing in common.
    """
    leaders: list[frozenset[str]] = []
    members: list[list[Wording]] = []
    leading: dict[str, list[int]] = defaultdict(list)  # places of the leaders that have a word
    places: dict[frozenset[str], int] = {}  # of the words met: who leads later does not change them
    for wording in wordings:
        words = _carrying(wording.text)
        place = places.get(words)
        if place is None:
            place = _like(words, leaders, leading)
        if place is None:
            place = len(leaders)
            leaders.append(words)
            members.append([])
            for word in words:
                leading[word].append(place)
        places[words] = place
        members[place].append(wording)
    groups = [Group(tuple(found)) for found in members]
    return sorted(groups, key=lambda one: (one.times, one.last_asked), reverse=True)


def _like(
    words: frozenset[str], leaders: Sequence[frozenset[str]], leading: dict[str, list[int]]
) -> int | None:
    shared = Counter(chain.from_iterable(leading.get(word, ()) for word in words))
    least = ALIKE_FROM * len(words)  # of all that either has, it may be more
    figures = _figures(words)
    alike = (
        place
        for place, common in shared.items()
        if common >= least
        and common >= ALIKE_FROM * (len(words) + len(leaders[place]) - common)
        and _figures(leaders[place]) == figures
    )
    return min(alike, default=None)


def _carrying(text: str) -> frozenset[str]:
    """Give the words that tell one question from another; all of them where none does."""
    words = _WORD.findall(text.casefold())
    telling = [word for word in words if word not in _COMMON]
    return frozenset(map(_stem, telling or words)) or frozenset({text})


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _FEWEST_LETTERS:
            return word[: -len(ending)]
    return word


def _figures(words: Iterable[str]) -> set[str]:
    return {word for word in words if any(letter.isdigit() for letter in word)}
