"""Finds the visible words of a book in its chunks.

The measure is words (runs of letters and digits), weighted by their length: the share of letters
and digits that is found. Each group of documents that belong together is compared as two bags of
words, so that order does not matter, and a word lost in one document is not made up for by another.
A word that the bag lacks still counts if the chunks contain it with its neighbours, ignoring white
space: one side may split words where the other does not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.visible_text.words import VisibleText, split_words

SHINGLE = 6  # words in a run that identifies documents which belong together
NEIGHBOURS = 14  # letters next to a word that identify its place


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the visible text is in the chunks, in letters and digits."""

    visible: int
    covered: int
    extra: int  # in the chunks, but not visible in the source
    missing: Mapping[str, tuple[str, ...]]  # words by visible document, in reading order

    @property
    def percent(self) -> float:
        """The share that is covered."""
        return 100.0 * self.covered / self.visible if self.visible else 100.0

    def list_worst(self, most: int) -> list[tuple[str, tuple[str, ...]]]:
        """List the documents that miss the most letters."""
        ranked = sorted(self.missing.items(), key=lambda item: -count_letters(item[1]))
        return ranked[:most]


@dataclass(frozen=True, slots=True)
class _Group:
    visible: tuple[int, ...]
    ours: tuple[int, ...]


def count_letters(found: Iterable[str]) -> int:
    """Count the letters and digits of words."""
    return sum(map(len, found))


def compare(visible: Sequence[VisibleText], ours: Sequence[str]) -> Coverage:
    """Compare the words of visible documents with those of our chunks."""
    seen = [split_words(document.text) for document in visible]
    held = [split_words(text) for text in ours]
    total = missed = extra = 0
    missing: dict[str, tuple[str, ...]] = {}
    for group in _group_documents(seen, held):
        theirs = [seen[place] for place in group.visible]
        mine = [word for place in group.ours for word in held[place]]
        lost = _find_missing(theirs, mine)
        for place, gone in zip(group.visible, lost, strict=True):
            total += count_letters(seen[place])
            missed += count_letters(gone)
            if gone:
                missing[visible[place].name] = tuple(gone)
        surplus = Counter(mine) - Counter(word for text in theirs for word in text)
        extra += sum(len(word) * count for word, count in surplus.items())
    return Coverage(total, total - missed, extra, missing)


def _find_missing(theirs: Sequence[Sequence[str]], mine: Sequence[str]) -> list[list[str]]:
    """Find the words that each text misses; context shows at which place a word is missing."""
    lacking = Counter(word for text in theirs for word in text) - Counter(mine)
    stream = "".join(mine)
    lost: list[list[str]] = []
    for text in theirs:
        gone: list[str] = []
        for place, word in enumerate(text):
            if lacking[word] > 0 and not _appears(text, place, stream):
                lacking[word] -= 1
                gone.append(word)
        lost.append(gone)
    return lost


def _appears(text: Sequence[str], place: int, stream: str) -> bool:
    before = "".join(text[max(place - NEIGHBOURS, 0) : place])[-NEIGHBOURS:]
    after = "".join(text[place + 1 : place + 1 + NEIGHBOURS])[:NEIGHBOURS]
    enough = [run for run in (before + text[place], text[place] + after) if len(run) >= NEIGHBOURS]
    return any(run in stream for run in enough)


def _group_documents(
    seen: Sequence[Sequence[str]], held: Sequence[Sequence[str]]
) -> Iterator[_Group]:
    """Group documents that share runs of words."""
    owner = _index_shingles(held)
    shared: Counter[tuple[int, int]] = Counter()
    for place, text in enumerate(seen):
        for shingle in set(_make_shingles(text)):
            if (ours := owner.get(shingle, -1)) >= 0:
                shared[place, ours] += 1
    parent = list(range(len(seen) + len(held)))
    best_ours: dict[int, int] = {}
    best_seen: dict[int, int] = {}
    for (place, ours), count in shared.most_common():
        if place not in best_seen or ours not in best_ours or count >= SHINGLE:
            _join(parent, place, len(seen) + ours)
            best_seen.setdefault(place, ours)
            best_ours.setdefault(ours, place)
    for place, text in enumerate(seen):
        if place not in best_seen and text and held:
            _join(parent, place, len(seen) + _find_most_similar(text, held))
    members: defaultdict[int, list[int]] = defaultdict(list)
    for place in range(len(parent)):
        members[_find_root(parent, place)].append(place)
    for group in members.values():
        yield _Group(
            tuple(place for place in group if place < len(seen)),
            tuple(place - len(seen) for place in group if place >= len(seen)),
        )


def _find_most_similar(text: Sequence[str], held: Sequence[Sequence[str]]) -> int:
    """Find the document that shares most words, for a text with no run of its own."""
    bag = Counter(text)

    def similarity(place: int) -> float:
        shared = (bag & Counter(held[place])).total()
        return shared / (len(text) + len(held[place]) - shared)

    return max(range(len(held)), key=similarity)


def _make_shingles(text: Sequence[str]) -> Iterator[tuple[str, ...]]:
    size = min(SHINGLE, max(len(text), 1))
    return (tuple(text[start : start + size]) for start in range(len(text) - size + 1))


def _index_shingles(held: Sequence[Sequence[str]]) -> dict[tuple[str, ...], int]:
    """Map each run of words to its document; -1 if it is in several."""
    owner: dict[tuple[str, ...], int] = {}
    for place, text in enumerate(held):
        for shingle in _make_shingles(text):
            owner[shingle] = place if owner.get(shingle, place) == place else -1
    return owner


def _find_root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _join(parent: list[int], one: int, other: int) -> None:
    parent[_find_root(parent, one)] = _find_root(parent, other)


def count_kept_order(visible: Sequence[VisibleText], ours: Sequence[str]) -> tuple[int, int]:
    """Count the pairs of neighbouring pages that our documents have in the same order, and all pairs."""
    owner = _index_shingles([split_words(text) for text in ours])
    places = []
    for document in visible:
        shingles = _make_shingles(split_words(document.text))
        found = Counter(owner[run] for run in shingles if owner.get(run, -1) >= 0)
        if found:
            places.append(found.most_common(1)[0][0])
    pairs = list(pairwise(places))
    return sum(one < other for one, other in pairs), len(pairs)
