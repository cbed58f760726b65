"""Evidence -> drafts: the book's own sentences, the fewest that answer, in reading order."""

import re
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence

from bythebook.ask.compose.context import add_context, announces
from bythebook.ask.compose.trim import (
    MOST_CHARACTERS,
    Place,
    around_answer,
    place_of,
    quotable,
    speakable,
    within_limit,
)
from bythebook.ask.plan.make_plan import asks_for_list
from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import Draft, Evidence, Judgement, PartEvidence
from bythebook.domain.books import Unit
from bythebook.domain.questions import Plan

EXTRACTIVE = "bythebook-extractive"  # model name of answers without a language model
MOST_SENTENCES = 4  # that answer, not counting their context
MOST_WORDS = 110  # in all, beyond which no further sentence is added
ENOUGH = 0.8  # of the chance that one of the chosen units answers
WORTH = 0.12  # of the best unit's chance: below it another unit adds no answer
WORTH_MORE = 0.35  # the same, for a unit that needs context
SAME_WORDS = 0.85  # shared by two units that say the same
_TRIED = 2 * MOST_SENTENCES  # units tried for further sentences


class ExtractiveGenerator:
    """Answers in the book's own words: grounded by construction."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        """Yield the chosen units, each as a sentence that quotes itself."""
        for draft in drafts_of(answer_units(plan, judgement)):
            yield draft


def answer_units(plan: Plan, judgement: Judgement) -> list[Evidence]:
    """Choose the units that answer a question, or each of its parts in turn, within the limits."""
    parts = judgement.parts or (PartEvidence(plan.question, judgement.evidence),)
    chosen: list[Evidence] = []
    for part in parts:
        chosen += choose(part.question, part.evidence, chosen, len(parts))
    best = {place_of(part.evidence[0]) for part in parts if part.evidence}
    return speakable(chosen, best, plan.most_sentences)


def choose(
    question: str, ranked: Sequence[Evidence], said: Sequence[Evidence] = (), parts: int = 1
) -> list[Evidence]:
    """Choose the fewest units that answer, with their context.

    The best unit is always chosen; others while they are likely enough and there is room, which
    `parts` of a question share. Nothing that was already `said` is chosen again.
    """
    choice = _Choice(said, MOST_WORDS // parts)
    for evidence in ranked[:_TRIED]:
        if choice.covered >= ENOUGH or choice.taken == max(MOST_SENTENCES - parts + 1, 1):
            break
        steps = evidence is ranked[0] and asks_for_list(question)
        choice.offer(evidence, steps=steps)
    best = choice.best
    if best is None:
        return []
    return within_limit(_reading_order(choice.units, best), best, MOST_CHARACTERS // parts)


class _Choice:
    """The units chosen so far, and how likely they answer."""

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
        """Take a unit if it says something new; after the first, also only if there is room."""
        if any(_same(evidence, other) for other in self._said):
            self.covered += evidence.support
            return
        group = [_with_unit(evidence, unit) for unit in _add_context(evidence, steps=steps)]
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


def _add_context(evidence: Evidence, *, steps: bool) -> list[Unit]:
    chunk = evidence.passage.chunk
    return add_context(chunk, chunk.units.index(evidence.unit), steps=steps)


def _with_unit(evidence: Evidence, unit: Unit) -> Evidence:
    if unit == evidence.unit:
        return evidence
    return Evidence(evidence.passage, unit, evidence.support)


def _same(one: Evidence, other: Evidence) -> bool:
    """Return True if two units say the same in nearly the same words."""
    # By plain \w+: two rows that differ in an identifier do not say the same.
    ours, theirs = (set(re.findall(r"\w+", each.quote.lower())) for each in (one, other))
    both = ours | theirs
    same_place = place_of(one) == place_of(other)
    return same_place or (bool(both) and len(ours & theirs) > SAME_WORDS * len(both))


def _reading_order(chosen: Collection[Evidence], best: Evidence) -> list[Evidence]:
    """Order units: the best unit's page first, other pages as ranked, each in reading order."""
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
    """Yield units as sentences that quote themselves; omissions show as an ellipsis."""
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
    """Return True if a unit was cut, introduces something not shown, or is not the last of its list."""
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
    """Return True if an item is shown without its list."""
    following = any(one.unit.kind == "item" for one in units[place + 1 : place + 2])
    led = place > 0 and _opens_list(units[place - 1])
    return units[place].unit.kind == "item" and not following and not led


def _opens_list(before: Evidence) -> bool:
    return before.unit.kind == "item" or announces(before.quote)
