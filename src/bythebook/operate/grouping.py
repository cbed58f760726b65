"""Wordings -> groups that ask the same question, by the content words they share."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from bythebook.domain.insight import Wording
from bythebook.domain.text.words import FUNCTION_WORDS, find_words, stem

ALIKE_FROM = 0.6  # share of words in common, of all the words that either has
_COMMON = FUNCTION_WORDS | frozenset(  # words of questions about any book
    "being book chapter explain know many mean means more section shall show tell want".split()
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


def group_wordings(wordings: Iterable[Wording]) -> list[Group]:
    """Group wordings that ask the same; the groups asked most come first.

    A wording is reduced to the words that carry its meaning: lower-case, without common words such
    as "what" and "the", each cut to its stem, order and repetition aside. Taken in the order given,
    it joins the first group whose leading wording shares at least 60 % of all the words that
    either has and the very same figures ("ROS 1" is not "ROS 2"); otherwise it leads a new group.
    Only leaders are compared, so that no chain of small differences joins what has nothing in common.
    """
    leaders: list[frozenset[str]] = []
    members: list[list[Wording]] = []
    leading: dict[str, list[int]] = defaultdict(list)  # places of the leaders that have a word
    places: dict[frozenset[str], int] = {}  # of words met before: later leaders do not move them
    for wording in wordings:
        words = _find_stems(wording.text)
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
    least = ALIKE_FROM * len(words)  # a lower bound: the union of both may be larger
    figures = _figures(words)
    alike = (
        place
        for place, common in shared.items()
        if common >= least
        and common >= ALIKE_FROM * (len(words) + len(leaders[place]) - common)
        and _figures(leaders[place]) == figures
    )
    return min(alike, default=None)


def _find_stems(text: str) -> frozenset[str]:
    """Return the stems of a wording's content words, or of all its words if it has none."""
    words = find_words(text)
    telling = [word for word in words if word not in _COMMON]
    return frozenset(map(stem, telling or words)) or frozenset({text})


def _figures(words: Iterable[str]) -> set[str]:
    return {word for word in words if any(letter.isdigit() for letter in word)}
