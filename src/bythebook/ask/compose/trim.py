"""Chosen units -> as much of them as fits into an answer."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from bythebook.domain.answers import Evidence
from bythebook.domain.sentences import split_sentences

MOST_CHARACTERS = (
    1500  # contract A's text allows 2000; the rest is for the disclaimer and formatting
)
MOST_QUOTE = 500  # contract A's referenced_text
LONG = 45  # words of a sentence, beyond which only the clauses around the answer are shown

_STOPS = frozenset(".!?…。！？｡।؟")
_CLAUSE = re.compile(r"(?<=[,;:)])\s+|\s+(?=[(–—])")
Place = tuple[str, int]


def place_of(evidence: Evidence) -> Place:
    """Return the place of a unit, which stays the same when it is shortened."""
    return evidence.passage.chunk.chunk_id, evidence.unit.start


def speakable(
    chosen: Sequence[Evidence], best: Collection[Place], most: int | None
) -> list[Evidence]:
    """Keep as many sentences as are allowed.

    The best stay, and the first, so that answers of every length open alike; then as ranked.
    """
    if most is None:
        return list(chosen)
    kept: set[Place] = set()
    spoken = 0
    for evidence in sorted(
        chosen, key=lambda one: (place_of(one) not in best, one is not chosen[0], -one.support)
    ):
        spoken += len(_find_sentence_ends(evidence))
        if kept and spoken > most:
            break
        kept.add(place_of(evidence))
    return [_opening(one, most) for one in chosen if place_of(one) in kept]


def _find_sentence_ends(evidence: Evidence) -> list[int]:
    """Return where the sentences of a unit end; bare words of an item or a row are not sentences."""
    if evidence.unit.kind in {"code", "formula"}:
        return []
    if evidence.unit.kind == "sentence":
        return [len(evidence.quote)]
    ends = (end for _, end in split_sentences(evidence.quote))
    return [end for end in ends if evidence.quote[:end].rstrip("\"'”’)]»*_")[-1:] in _STOPS]


def _opening(evidence: Evidence, most: int) -> Evidence:
    """Shorten a unit that has more sentences than are allowed."""
    ends = _find_sentence_ends(evidence)
    return evidence if len(ends) <= most else _shorten_to(evidence, ends[most - 1])


def within_limit(
    chosen: Sequence[Evidence], best: Evidence, most: int = MOST_CHARACTERS
) -> list[Evidence]:
    """Keep what fits into an answer, the best unit first; code that is too long is cut by lines."""
    best = _shorten(best, most)
    room = most - len(best.quote)
    kept = []
    for evidence in chosen:
        if place_of(evidence) == place_of(best):
            kept.append(best)
        elif len(evidence.quote) < room:
            room -= len(evidence.quote) + 1
            kept.append(evidence)
    return kept


def _shorten(evidence: Evidence, most: int) -> Evidence:
    if len(evidence.quote) <= most:
        return evidence
    ends = (evidence.quote.rfind(mark, 1, most) for mark in ("\n", " "))
    return _shorten_to(evidence, next((end for end in ends if end > 0), most))


def _shorten_to(evidence: Evidence, length: int) -> Evidence:
    return replace(evidence, unit=replace(evidence.unit, end=evidence.unit.start + length))


def around_answer(evidence: Evidence) -> tuple[int, int]:
    """Return the span of a long sentence to show: the clauses around the answer, if it is known."""
    quote, start = evidence.quote, evidence.unit.start
    whole = (0, len(quote))
    if evidence.answer is None or evidence.unit.kind not in {"sentence", "item"}:
        return whole
    answer = evidence.answer[0] - start, evidence.answer[1] - start
    if not 0 <= answer[0] < answer[1] <= len(quote) or len(quote.split()) <= LONG:
        return whole
    ends = [0, *_clause_ends(quote), len(quote)]
    first = max(place for place, end in enumerate(ends) if end <= answer[0])
    last = min(place for place, end in enumerate(ends) if end >= answer[1])
    while True:
        wider = [(max(first - 1, 0), last), (first, min(last + 1, len(ends) - 1))]
        fitting = [
            one
            for one in wider
            if one != (first, last) and len(quote[ends[one[0]] : ends[one[1]]].split()) <= LONG
        ]
        if not fitting:
            return ends[first], ends[last]
        first, last = fitting[0]


def _clause_ends(text: str) -> Iterator[int]:
    """Yield where clauses end, outside of formulas and brackets."""
    for match in _CLAUSE.finditer(text):
        before = text[: match.start()]
        if before.count("$") % 2 == 0 and before.count("(") == before.count(")"):
            yield match.end()


def quotable(quote: str) -> Iterator[str]:
    """Split a text that is too long for a quote at line, clause or word ends."""
    while len(quote) > MOST_QUOTE:
        cut = max(quote.rfind(mark, 1, MOST_QUOTE) for mark in ("\n", "; ", ", "))
        if cut <= 0:
            cut = quote.rfind(" ", 1, MOST_QUOTE)
        cut = cut + 1 if cut > 0 else MOST_QUOTE
        yield quote[:cut].rstrip()
        quote = quote[cut:].lstrip()
    yield quote
