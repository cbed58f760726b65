"""Evidence -> drafts: the book's own sentences, the fewest that answer, in reading order."""

import re
from collections.abc import AsyncIterator, Collection, Iterator, Sequence

from bythebook.domain.answers import Draft, Evidence, Judgement
from bythebook.domain.books import Unit
from bythebook.domain.questions import Plan

MOST_SENTENCES = 3
MOST_STEPS = 8
MOST_WORDS = 60  # beyond the first sentence
MOST_CHARACTERS = 1800  # contract A's text has 2000, with room for a disclaimer
MOST_QUOTE = 500  # contract A's referenced_text
NEAR_BEST = 0.8  # share of the best support that a further sentence needs

_ASKS_FOR_STEPS = re.compile(
    r"\b(how (do|can|should|would|to)|steps?|procedure|list|what are the|stages|phases)\b",
    re.IGNORECASE,
)


class ExtractiveGenerator:
    """Answers in the book's own words: grounded by construction."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncIterator[Draft]:
        """Give the chosen units, each as a sentence that quotes itself."""
        for evidence in choose(plan.question, judgement.evidence):
            quotes = tuple((evidence.passage, piece) for piece in _quotable(evidence.quote))
            yield Draft(evidence.quote, quotes)


def choose(question: str, ranked: Sequence[Evidence]) -> list[Evidence]:
    """Choose the fewest units that answer: the best, what comes close to it, what it announces."""
    best = ranked[0]
    chosen = {_key(best): best}
    words = 0
    for evidence in ranked[1:]:
        words += len(evidence.quote.split())
        full = len(chosen) == MOST_SENTENCES or words > MOST_WORDS
        if full or evidence.support < best.support * NEAR_BEST:
            break
        chosen[_key(evidence)] = evidence
    for evidence in _announced(question, best):
        chosen.setdefault(_key(evidence), evidence)
    return _within_limit(_reading_order(chosen.values(), best))


def _announced(question: str, best: Evidence) -> Iterator[Evidence]:
    """Give what belongs to the best unit: the list it opens or stands in, the formula after it."""
    units = best.passage.chunk.units
    at = units.index(best.unit)
    if best.quote.rstrip().endswith(":"):
        for unit in units[at + 1 : at + 1 + MOST_STEPS]:
            if unit.kind != units[at + 1].kind or unit.kind == "sentence":
                break
            yield _beside(best, unit)
    elif best.unit.kind == "item" and _ASKS_FOR_STEPS.search(question):
        yield from (_beside(best, unit) for unit in _run_of_items(units, at))


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


def _within_limit(chosen: Sequence[Evidence]) -> list[Evidence]:
    kept: list[Evidence] = []
    room = MOST_CHARACTERS
    for evidence in chosen:
        room -= len(evidence.quote) + 1
        if room >= 0:
            kept.append(evidence)
    return kept


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
