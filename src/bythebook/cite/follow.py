"""Follows a passage whose words were edited: aligns it, with its surroundings, with the text of today."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from bythebook.cite.word_row import WordRow
from bythebook.cite.words import Runs

_AROUND = 40  # words on each side that help to find the place
_GRAM = 3  # words that must stand together to count as a trace
_COMMON = 200  # a gram in more places tells nothing
_DIAGONAL = 24  # words that text may be shifted by within one place
_PLACES = 8  # the most promising ones that are compared
_SLACK = 6  # words that an edit may add or take at an edge
_LIKE = 0.72  # of the letters: likeness that suffices by itself
_LIKE_IN_PLACE = 0.45  # between the neighbours that it had
_LONGEST = 3000  # letters that are compared


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a passage may stand now, in words of the book."""

    at: int
    count: int
    likeness: float
    in_place: bool  # between the neighbours that it had


def follow(then: WordRow, at: int, count: int, now: WordRow) -> Iterator[Followed]:
    """Yield the passages that may be an edited form of one that stood in an older text, best first."""
    first, last = then.around(at - _AROUND, at + count + _AROUND)
    if not first <= at < at + count <= last:  # a long one near the begin or end of a document
        first, last = min(first, at), max(last, at + count)
    words = then.hashes[first:last]
    quote = then.text_of(at, count)
    alone = words[at - first : at - first + count]
    found = []
    for shift in _likely_shifts(words, now):
        # Words that changed places with their neighbours can only be aligned without them.
        for old, start in ((words, at - first), (alone, 0)):
            moved = shift + at - first - start
            if followed := _align(old, (start, count), quote, now, moved):
                found.append(followed)
    found.sort(key=lambda one: one.likeness + 0.2 * one.in_place, reverse=True)
    seen: set[tuple[int, int]] = set()
    for one in found:
        enough = _LIKE_IN_PLACE if one.in_place else _LIKE
        if one.likeness >= enough and (one.at, one.count) not in seen:
            seen.add((one.at, one.count))
            yield one


def _likely_shifts(words: np.ndarray, now: WordRow) -> list[int]:
    """Return by how much the words seem to be shifted, by the grams that they share with the text."""
    grams = Runs(words).of(_GRAM)
    if not len(grams):
        return []
    order = np.argsort(grams, kind="stable")
    every = now.runs.of(_GRAM)
    hits = np.flatnonzero(np.isin(every, grams))
    origin = order[np.searchsorted(grams[order], every[hits])]
    times = np.bincount(origin, minlength=len(grams))
    keep = times[origin] <= _COMMON
    hits, origin = hits[keep], origin[keep]
    votes: dict[int, float] = {}
    for shift, weight in zip((hits - origin).tolist(), (1 / times[origin]).tolist(), strict=True):
        bucket = shift // _DIAGONAL
        for near in (bucket, bucket + 1):  # so that no border splits a place
            votes[near] = votes.get(near, 0.0) + weight
    best = sorted(votes, key=lambda bucket: -votes[bucket])[:_PLACES]
    return [bucket * _DIAGONAL for bucket in best]


def _align(
    words: np.ndarray, span: tuple[int, int], quote: str, now: WordRow, shift: int
) -> Followed | None:
    """Align old words with the text at a shift, and read off where the quote went."""
    at, count = span
    room = _DIAGONAL + count // 2
    low, high = now.around(shift - room, shift + len(words) + room)
    if low >= high:
        return None
    old, new = words.tolist(), now.hashes[low:high].tolist()
    matches = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    new_at = {a + k: b + k for a, b, size in matches for k in range(size)}
    edges = _find_edges(new_at, at, at + count)
    if edges is None:
        return None
    start, end, in_place = max(edges[0], 0), min(edges[1], len(new)), edges[2]
    if not start < end <= start + 3 * count + 8:
        return None
    likeness = compare(quote, now.text_of(low + start, end - start))
    return Followed(low + start, end - start, likeness, in_place=in_place)


def _find_edges(new_at: dict[int, int], start: int, end: int) -> tuple[int, int, bool] | None:
    """Return where a span of old words begins and ends now, and whether its neighbours are still next to it."""
    inside = _keep_together({word: new_at[word] for word in range(start, end) if word in new_at})
    before, after = new_at.get(start - 1), new_at.get(end)
    if not inside and (before is None or after is None):
        return None
    left = _snap(
        min((new - (old - start) for old, new in list(inside.items())[:1]), default=None),
        None if before is None else before + 1,
        is_known=start in inside,
    )
    right = _snap(
        max((new + end - old for old, new in list(inside.items())[-1:]), default=None),
        after,
        is_known=end - 1 in inside,
    )
    return left, right, before == left - 1 and after == right


def _keep_together(inside: dict[int, int]) -> dict[int, int]:
    """Drop words at the edges that were matched apart from the others, such as a full stop after inserted text."""
    words = sorted(inside.items())
    while len(words) > 1 and _gap(words[-2], words[-1]) > _SLACK:
        words.pop()
    while len(words) > 1 and _gap(words[0], words[1]) > _SLACK:
        words.pop(0)
    return dict(words)


def _gap(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Return how many words were put between two."""
    return other[1] - one[1] - (other[0] - one[0])


def _snap(guess: int | None, neighbour: int | None, *, is_known: bool) -> int:
    """Return an edge: as matched, else at the neighbour, unless other text was put between."""
    if guess is None or (
        neighbour is not None and not is_known and abs(neighbour - guess) <= _SLACK
    ):
        return neighbour or 0
    return guess


def compare(one: str, other: str) -> float:
    """Return the share of letters that two texts have in common, in order; white space does not count."""
    left, right = "".join(one.split())[:_LONGEST], "".join(other.split())[:_LONGEST]
    return SequenceMatcher(None, left, right, autojunk=False).ratio()
