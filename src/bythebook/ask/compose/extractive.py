"""Evidence -> drafts: the book's own sentences, the fewest that answer, in reading order."""

import re
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence

from bythebook.ask.compose.context import announces, needed
from bythebook.ask.compose.trim import (
    MOST_CHARACTERS,
    Place,
    around_answer,
    place_of,
    quotable,
    speakable,
    within_limit,
)
from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import Draft, Evidence, Judgement, PartEvidence
from bythebook.domain.books import Unit
from bythebook.domain.questions import Plan

EXTRACTIVE = "bythebook-extractive"  # the name of what answers without a language model
MOST_SENTENCES = 4  # that may answer, besides those by which they are understood
MOST_WORDS = 110  # in all, beyond which no further sentence is added
ENOUGH = 0.8  # of the chance that one of the chosen units answers
WORTH = 0.12  # of the best unit's chance, below which another adds words and no answer
WORTH_MORE = 0.35  # the same, for one that is not understood without others
SAME_WORDS = 0.85  # shared by two units that say the same
_TRIED = 2 * MOST_SENTENCES  # units that may be looked at for further sentences

_ASKS_FOR_STEPS = re.compile(
    r"\b(how (do|can|should|would|to)|steps?|procedure|list|what are the|stages|phases)\b",
    re.IGNORECASE,
)


class ExtractiveGenerator:
    """Answers in the book's own words: grounded by construction."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        """Give the chosen units, each as a sentence that quotes itself."""
        for draft in drafts_of(answer_units(plan, judgement)):
            yield draft


def answer_units(plan: Plan, judgement: Judgement) -> list[Evidence]:
    """Choose what answers a question, or each of its parts in turn, within what may be said."""
    parts = judgement.parts or (PartEvidence(plan.question, judgement.evidence),)
    chosen: list[Evidence] = []
    for part in parts:
        chosen += choose(part.question, part.evidence, chosen, len(parts))
    best = {place_of(part.evidence[0]) for part in parts if part.evidence}
    return speakable(chosen, best, plan.most_sentences)


def choose(
    question: str, ranked: Sequence[Evidence], said: Sequence[Evidence] = (), parts: int = 1
) -> list[Evidence]:
    """Choose the fewest units that answer, with what they need to be understood.

    The best always; others while they may well do better and there is room, where `parts` share
    an answer; nothing that was `said` already.
    """
    choice = _Choice(said, MOST_WORDS // parts)
    for evidence in ranked[:_TRIED]:
        if choice.covered >= ENOUGH or choice.taken == max(MOST_SENTENCES - parts + 1, 1):
            break
        steps = evidence is ranked[0] and bool(_ASKS_FOR_STEPS.search(question))
        choice.offer(evidence, steps=steps)
    best = choice.best
    if best is None:
        return []
    return within_limit(_reading_order(choice.units, best), best, MOST_CHARACTERS // parts)


class _Choice:
    """Units taken so far, and how far they go."""

    def __init__(self, said: Sequence[Evidence], room: int) -> None:
        self.best: Evidence | None = None
        self.taken = 0
        self.covered = 0.0
        self._room = room
        self._said = list(said)
        self._units: dict[Place, Evidence] = {}

    @property
    def units(self) -> Collection[Evidence]:
        return self._units.values()

    def offer(self, evidence: Evidence, *, steps: bool) -> None:
        """Take a unit, unless it says nothing new or, being a further one, has no room."""
        if any(_same(evidence, other) for other in self._said):
            self.covered += evidence.support
            return
        group = [_beside(evidence, unit) for unit in _needed(evidence, steps=steps)]
        fresh = [one for one in group if not any(place_of(one) == place_of(s) for s in self._said)]
        length = sum(len(one.quote.split()) for one in fresh)
        if self.best and not self._may_follow(evidence, self.best, fresh, length):
            return
        self.best = self.best or evidence
        self._units |= {place_of(one): one for one in fresh}
        self._said += fresh
        self.taken += 1
        self.covered += evidence.support
        self._room -= length

    def _may_follow(
        self, evidence: Evidence, best: Evidence, fresh: Sequence[Evidence], length: int
    ) -> bool:
        worth = WORTH if len(fresh) == 1 else WORTH_MORE
        leads_nowhere = announces(fresh[-1].quote)
        return (
            length <= self._room and evidence.support >= worth * best.support and not leads_nowhere
        )


def _needed(evidence: Evidence, *, steps: bool) -> list[Unit]:
    chunk = evidence.passage.chunk
    return needed(chunk, chunk.units.index(evidence.unit), steps=steps)


def _beside(evidence: Evidence, unit: Unit) -> Evidence:
    if unit == evidence.unit:
        return evidence
    return Evidence(evidence.passage, unit, evidence.support)


def _same(one: Evidence, other: Evidence) -> bool:
    """Say whether two units say the same, in all but the same words."""
    ours, theirs = (set(re.findall(r"\w+", each.quote.lower())) for each in (one, other))
    both = ours | theirs
    same_place = place_of(one) == place_of(other)
    return same_place or (bool(both) and len(ours & theirs) > SAME_WORDS * len(both))


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


def drafts_of(units: Sequence[Evidence]) -> Iterator[Draft]:
    """Write units as sentences that quote themselves; what is left out shows as an ellipsis."""
    for place, evidence in enumerate(units):
        start, end = around_answer(evidence)
        quote = evidence.quote[start:end].strip()
        text = f"{ELLIPSIS} {quote}" if start else quote
        if end < len(evidence.quote):
            text = f"{text} {ELLIPSIS}"
        elif _breaks_off(units, place):
            alone = evidence.unit.kind == "sentence"
            text = f"{text} {ELLIPSIS}" if alone else f"{text}\n{ELLIPSIS}"
        quotes = tuple((evidence.passage, piece) for piece in quotable(quote))
        yield Draft(text, quotes, "sentence" if _is_alone(units, place) else evidence.unit.kind)


def _breaks_off(units: Sequence[Evidence], place: int) -> bool:
    """Say whether a unit was cut, announces what is not shown, or is not the last of its list."""
    evidence, chunk = units[place], units[place].passage.chunk
    if evidence.unit not in chunk.units:
        return True
    at = chunk.units.index(evidence.unit)
    following = [(chunk.chunk_id, unit.start) for unit in chunk.units[at + 1 : at + 2]]
    shown = [place_of(one) for one in units[place + 1 : place + 2]]
    if announces(evidence.quote):
        return not following or following != shown
    in_list = evidence.unit.kind == "item" and place > 0 and _opens_list(units[place - 1])
    goes_on = any(unit.kind == "item" for unit in chunk.units[at + 1 : at + 2])
    return in_list and goes_on and following != shown


def _is_alone(units: Sequence[Evidence], place: int) -> bool:
    """Say whether an item is shown without its list, as a sentence like others."""
    following = any(one.unit.kind == "item" for one in units[place + 1 : place + 2])
    led = place > 0 and _opens_list(units[place - 1])
    return units[place].unit.kind == "item" and not following and not led


def _opens_list(before: Evidence) -> bool:
    return before.unit.kind == "item" or announces(before.quote)
