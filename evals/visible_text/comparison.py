"""Which of the visible words are found again in the chunks of a book.

The measure is words (runs of letters and digits), weighted by their length: the share of letters
and digits that is found. Each group of documents that belong together is compared as two bags of
words, so that order does not matter, and a word lost in one place is not made up for by another
document. A word that the bag lacks still counts if it stands with its neighbours in the chunks
once all white space is gone: one side may part words where the other does not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.visible_text.words import Visible, words

SHINGLE = 6  # words that tell which documents belong together
NEIGHBOURS = 14  # letters beside a word that show where it stands


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a source's visible text its chunks hold, in letters and digits."""

    visible: int
    covered: int
    extra: int  # in the chunks, and not seen in the source
    missing: Mapping[str, tuple[str, ...]]  # words by visible document, in reading order

    @property
    def percent(self) -> float:
        """The share that is covered."""
        return 100.0 * self.covered / self.visible if self.visible else 100.0

    def worst(self, most: int) -> list[tuple[str, tuple[str, ...]]]:
        """Give the documents that miss the most letters."""
        ranked = sorted(self.missing.items(), key=lambda item: -letters(item[1]))
        return ranked[:most]


@dataclass(frozen=True, slots=True)
class _Group:
    visible: tuple[int, ...]
    ours: tuple[int, ...]


def letters(found: Iterable[str]) -> int:
    """Count the letters and digits of words."""
    return sum(map(len, found))


def compare(visible: Sequence[Visible], ours: Sequence[str]) -> Coverage:
    """Look for the words of the visible documents in our documents' chunks."""
    seen = [words(document.text) for document in visible]
    held = [words(text) for text in ours]
    total = missed = extra = 0
    missing: dict[str, tuple[str, ...]] = {}
    for group in _groups(seen, held):
        theirs = [seen[place] for place in group.visible]
        mine = [word for place in group.ours for word in held[place]]
        lost = _missing(theirs, mine)
        for place, gone in zip(group.visible, lost, strict=True):
            total += letters(seen[place])
            missed += letters(gone)
            if gone:
                missing[visible[place].name] = tuple(gone)
        surplus = Counter(mine) - Counter(word for text in theirs for word in text)
        extra += sum(len(word) * count for word, count in surplus.items())
    return Coverage(total, total - missed, extra, missing)


def _missing(theirs: Sequence[Sequence[str]], mine: Sequence[str]) -> list[list[str]]:
    """Give, for each text, its words that are lacking; where a word is lacking is told by context."""
    lacking = Counter(word for text in theirs for word in text) - Counter(mine)
    stream = "".join(mine)
    lost: list[list[str]] = []
    for text in theirs:
        gone: list[str] = []
        for place, word in enumerate(text):
            if lacking[word] > 0 and not _stands(text, place, stream):
                lacking[word] -= 1
                gone.append(word)
        lost.append(gone)
    return lost


def _stands(text: Sequence[str], place: int, stream: str) -> bool:
    before = "".join(text[max(place - NEIGHBOURS, 0) : place])[-NEIGHBOURS:]
    after = "".join(text[place + 1 : place + 1 + NEIGHBOURS])[:NEIGHBOURS]
    enough = [run for run in (before + text[place], text[place] + after) if len(run) >= NEIGHBOURS]
    return any(run in stream for run in enough)


def _groups(seen: Sequence[Sequence[str]], held: Sequence[Sequence[str]]) -> Iterator[_Group]:
    """Put documents together that share runs of words."""
    owner = _owners(held)
    shared: Counter[tuple[int, int]] = Counter()
    for place, text in enumerate(seen):
        for shingle in set(_shingles(text)):
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
            _join(parent, place, len(seen) + _most_alike(text, held))
    members: defaultdict[int, list[int]] = defaultdict(list)
    for place in range(len(parent)):
        members[_root(parent, place)].append(place)
    for group in members.values():
        yield _Group(
            tuple(place for place in group if place < len(seen)),
            tuple(place - len(seen) for place in group if place >= len(seen)),
        )


def _most_alike(text: Sequence[str], held: Sequence[Sequence[str]]) -> int:
    """Find the document of most equal words, for a text too short or too common to tell."""
    bag = Counter(text)

    def likeness(place: int) -> float:
        shared = (bag & Counter(held[place])).total()
        return shared / (len(text) + len(held[place]) - shared)

    return max(range(len(held)), key=likeness)


def _shingles(text: Sequence[str]) -> Iterator[tuple[str, ...]]:
    size = min(SHINGLE, max(len(text), 1))
    return (tuple(text[start : start + size]) for start in range(len(text) - size + 1))


def _owners(held: Sequence[Sequence[str]]) -> dict[tuple[str, ...], int]:
    """Say which document each run of words is in; -1 if it is in several."""
    owner: dict[tuple[str, ...], int] = {}
    for place, text in enumerate(held):
        for shingle in _shingles(text):
            owner[shingle] = place if owner.get(shingle, place) == place else -1
    return owner


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _join(parent: list[int], one: int, other: int) -> None:
    parent[_root(parent, one)] = _root(parent, other)
