"""Evidence -> drafts: the book's own sentences, the fewest that answer, in reading order."""

import re
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import replace

from bythebook.ask.verify import ELLIPSIS
from bythebook.domain.answers import Draft, Evidence, Judgement
from bythebook.domain.books import Unit
from bythebook.domain.questions import Plan
from bythebook.domain.sentences import split_sentences

EXTRACTIVE = "bythebook-extractive"  # the name of what answers without a language model
MOST_SENTENCES = 4
MOST_STEPS = 8
MOST_WORDS = 110  # in all, beyond which no further sentence is added
MOST_CHARACTERS = 1800  # contract A's text has 2000, with room for a disclaimer
MOST_QUOTE = 500  # contract A's referenced_text
ENOUGH = 0.75  # of the chance that one of the chosen units answers

_STOPS = frozenset(".!?…。！？｡।؟")
_ASKS_FOR_STEPS = re.compile(
    r"\b(how (do|can|should|would|to)|steps?|procedure|list|what are the|stages|phases)\b",
    re.IGNORECASE,
)


class ExtractiveGenerator:
    """Answers in the book's own words: grounded by construction."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncIterator[Draft]:
        """Give the chosen units, each as a sentence that quotes itself."""
        chosen = choose(plan.question, judgement.evidence)
        for evidence, whole in shorten(chosen, judgement.evidence[0], plan.most_sentences):
            quotes = tuple((evidence.passage, piece) for piece in _quotable(evidence.quote))
            whole = whole and evidence.unit in evidence.passage.chunk.units
            text = evidence.quote if whole else f"{evidence.quote}\n{ELLIPSIS}"
            yield Draft(text, quotes, evidence.unit.kind)


def choose(question: str, ranked: Sequence[Evidence]) -> list[Evidence]:
    """Choose the fewest units that answer: the best, others while one may do better, what it opens."""
    best = ranked[0]
    chosen = {_key(best): best}
    words, covered = len(best.quote.split()), best.support
    for evidence in ranked[1:MOST_SENTENCES]:
        length = len(evidence.quote.split())
        if covered >= ENOUGH:
            break
        if words + length <= MOST_WORDS:
            chosen[_key(evidence)] = evidence
            words += length
            covered += evidence.support
    for evidence in _announced(question, best):
        chosen[_key(evidence)] = evidence
    return _within_limit(_reading_order(chosen.values(), best), best)


def shorten(
    chosen: Sequence[Evidence], best: Evidence, most: int | None
) -> Iterator[tuple[Evidence, bool]]:
    """Keep as many sentences as may be said; each unit comes with whether its list goes on whole.

    The best stays, and the first, so that answers of every length open alike; then as ranked.
    """
    kept = _kept(chosen, best, most) if most is not None else {_key(one) for one in chosen}
    for place, evidence in enumerate(chosen):
        if _key(evidence) in kept:
            following = chosen[place + 1 : place + 2]
            cut = any(one.unit.kind != "sentence" and _key(one) not in kept for one in following)
            yield _opening(evidence, most), not cut


def _kept(chosen: Sequence[Evidence], best: Evidence, most: int) -> set[tuple[str, int]]:
    kept: set[tuple[str, int]] = set()
    spoken = 0
    for evidence in sorted(
        chosen, key=lambda one: (_key(one) != _key(best), one is not chosen[0], -one.support)
    ):
        spoken += len(_spoken(evidence))
        if kept and spoken > most:
            break
        kept.add(_key(evidence))
    return kept


def _spoken(evidence: Evidence) -> list[int]:
    """Give where the sentences of a unit end; the bare words of an item or a row are none."""
    if evidence.unit.kind in {"code", "formula"}:
        return []
    if evidence.unit.kind == "sentence":
        return [len(evidence.quote)]
    ends = (end for _, end in split_sentences(evidence.quote))
    return [end for end in ends if evidence.quote[:end].rstrip("\"'”’)]»*_")[-1:] in _STOPS]


def _opening(evidence: Evidence, most: int | None) -> Evidence:
    """Cut what has more sentences in itself than may be said."""
    ends = _spoken(evidence)
    if most is None or len(ends) <= most:
        return evidence
    unit = replace(evidence.unit, end=evidence.unit.start + ends[most - 1])
    return replace(evidence, unit=unit)


def _announced(question: str, best: Evidence) -> Iterator[Evidence]:
    """Give what belongs to the best unit: the list it opens or stands in, the formula after it."""
    chunk = best.passage.chunk
    at = chunk.units.index(best.unit)
    steps = bool(_ASKS_FOR_STEPS.search(question))
    if best.unit.kind == "item" and steps:
        yield from (_beside(best, unit) for unit in _run_of_items(chunk.units, at))
        return
    texts = list(chunk.unit_texts())
    opener = at + 1 if steps and texts[at + 1 : at + 2] and texts[at + 1].endswith(":") else at
    opened = list(_opened(chunk.units[opener + 1 :])) if texts[opener].endswith(":") else []
    if opened:
        yield from (_beside(best, unit) for unit in (chunk.units[opener], *opened))


def _opened(units: Sequence[Unit]) -> Iterator[Unit]:
    """Give the list, table, code or formula that units begin with."""
    for unit in units[:MOST_STEPS]:
        if unit.kind == "sentence" or unit.kind != units[0].kind:
            return
        yield unit


def _run_of_items(units: Sequence[Unit], at: int) -> Sequence[Unit]:
    start = end = at
    while start > 0 and units[start - 1].kind == "item":
        start -= 1
    while end + 1 < len(units) and units[end + 1].kind == "item":
        end += 1
    return units[start : end + 1] if end - start < MOST_STEPS else units[at : at + 1]


def _beside(evidence: Evidence, unit: Unit) -> Evidence:
    return Evidence(evidence.passage, unit, evidence.support)


def _key(evidence: Evidence) -> tuple[str, int]:
    return evidence.passage.chunk.chunk_id, evidence.unit.start


def _reading_order(chosen: Collection[Evidence], best: Evidence) -> list[Evidence]:
    """Put the best unit's page first, other pages as ranked, each page in its own order."""
    pages: dict[tuple[str, str], int] = {}
    for evidence in (best, *chosen):
        chunk = evidence.passage.chunk
        pages.setdefault((chunk.book_id, chunk.document_id), len(pages))
    return sorted(
        chosen,
        key=lambda e: (
            pages[e.passage.chunk.book_id, e.passage.chunk.document_id],
            e.passage.chunk.char_start + e.unit.start,
        ),
    )


def _within_limit(chosen: Sequence[Evidence], best: Evidence) -> list[Evidence]:
    """Keep what an answer has room for, the best first of all; code too long for it is cut by lines."""
    best = _cut(best)
    room = MOST_CHARACTERS - len(best.quote)
    kept = []
    for evidence in chosen:
        if _key(evidence) == _key(best):
            kept.append(best)
        elif len(evidence.quote) < room:
            room -= len(evidence.quote) + 1
            kept.append(evidence)
    return kept


def _cut(evidence: Evidence) -> Evidence:
    if len(evidence.quote) <= MOST_CHARACTERS:
        return evidence
    ends = (evidence.quote.rfind(mark, 1, MOST_CHARACTERS) for mark in ("\n", " "))
    length = next((end for end in ends if end > 0), MOST_CHARACTERS)
    unit = replace(evidence.unit, end=evidence.unit.start + length)
    return replace(evidence, unit=unit)


def _quotable(quote: str) -> Iterator[str]:
    """Part what is longer than a quote may be at line, clause or word ends."""
    while len(quote) > MOST_QUOTE:
        cut = max(quote.rfind(mark, 1, MOST_QUOTE) for mark in ("\n", "; ", ", "))
        if cut <= 0:
            cut = quote.rfind(" ", 1, MOST_QUOTE)
        cut = cut + 1 if cut > 0 else MOST_QUOTE
        yield quote[:cut].rstrip()
        quote = quote[cut:].lstrip()
    yield quote
