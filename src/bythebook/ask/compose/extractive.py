"""Evidence -> drafts: excerpts of the book as its author wrote it, with the key sentences marked."""

from collections.abc import AsyncGenerator, Iterator, Sequence

from bythebook.ask.compose.drafts import draft_excerpts, draft_keys
from bythebook.ask.compose.excerpt import Excerpt, cut_excerpt
from bythebook.ask.compose.keys import KEY_WORTH, SECOND_WORTH, Keys, choose_keys
from bythebook.ask.plan.make_plan import asks_for_list
from bythebook.domain.answers import Draft, Judgement, PartEvidence
from bythebook.domain.questions import Plan

EXTRACTIVE = "bythebook-extractive"  # model name of answers without a language model
MOST_EXCERPTS = 2  # of a question of one part
ROOM = 130.0  # words of an answer; lists and short code count half
FIRST_SHARE = 0.7  # of the room, for the first of two excerpts
MOST_ROOM = 180.0  # beyond which not even a second excerpt's key is added


class ExtractiveGenerator:
    """Answers in the book's own words: grounded by construction."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        """Yield the units of the excerpts in reading order, each as a sentence that quotes itself.

        An answer of few sentences consists of the key units alone.
        """
        excerpts, most = cut_excerpts(plan, judgement), plan.most_sentences
        for draft in draft_excerpts(excerpts) if most is None else draft_keys(excerpts, most):
            yield draft


def cut_excerpts(plan: Plan, judgement: Judgement) -> list[Excerpt]:
    """Cut the excerpts that answer a question, or each of its parts in turn."""
    parts = judgement.parts or (PartEvidence(plan.question, judgement.evidence),)
    most = 1 if len(parts) > 1 else MOST_EXCERPTS
    excerpts: list[Excerpt] = []
    for part in parts:
        # Without their context, only units that likely answer are worth a sentence.
        worth = SECOND_WORTH if plan.most_sentences is None else KEY_WORTH
        chosen = choose_keys(part.evidence, most, worth)
        whole_list = asks_for_list(part.question)
        for excerpt in _cut(chosen, ROOM / len(parts), whole_list=whole_list):
            excerpts = _merge(excerpts, excerpt)
    return excerpts


def _cut(chosen: Sequence[Keys], room: float, *, whole_list: bool) -> Iterator[Excerpt]:
    """Cut one excerpt of each passage; the last may fill the room that the others left."""
    spare = MOST_ROOM - ROOM
    for number, keys in enumerate(chosen):
        last = number + 1 == len(chosen)
        share = room if last else room * FIRST_SHARE
        excerpt = cut_excerpt(keys.passage, keys.units, share, whole_list=whole_list)
        if number and excerpt.length > room + spare:
            continue
        room -= excerpt.length
        yield excerpt


def _merge(excerpts: Sequence[Excerpt], excerpt: Excerpt) -> list[Excerpt]:
    """Add an excerpt; two of the same passage become one."""
    if all(one.passage != excerpt.passage for one in excerpts):
        return [*excerpts, excerpt]
    return [one.join(excerpt) if one.passage == excerpt.passage else one for one in excerpts]
