"""Where a language model is asked besides writing: how a question reads, what to look up, whether it is answered.

Each is asked only where it is configured and can change something. What it says never lets more through
than the judge and verification do; where it fails, the question fails.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.bill import Bill
from bythebook.ask.guard import neutral
from bythebook.ask.judge import Clearance, Refusal, is_foreign
from bythebook.ask.plan import make_plan
from bythebook.ask.reading import is_plain, with_reading
from bythebook.ask.retrieve import READ_AT_MOST, retrieve
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Plan, Question
from bythebook.ports import Generator


async def planned(question: Question, ports: AskPorts, bill: Bill) -> Plan:
    """Plan a question; a model reads it where it leans on others or asks several things at once."""
    plan = make_plan(question)
    if ports.planner is None or is_plain(plan, question.turns) or _asks_nothing(plan):
        return plan
    if may_search(plan, ports):
        return plan  # the searcher's own planner reads it
    words = question.asked or question.text
    reading = await ports.planner.read(words, question.turns, plan.model)
    bill.add(reading.usage)
    return with_reading(plan, reading, question.turns)


def may_search(plan: Plan, ports: AskPorts) -> bool:
    """Whether a model may search on: in the book, for what one search may not find.

    Parts that are known are looked up one by one anyway.
    """
    in_book = plan.selected_text is None and not plan.overview
    return ports.searcher is not None and in_book and not plan.parts


async def searched(
    question: Question,
    plan: Plan,
    found: tuple[Passage, ...],
    ports: AskPorts,
    bill: Bill,
    journeys: AsyncExitStack,
) -> tuple[Plan, tuple[Passage, ...], Generator]:
    """Let a model search on from what was found, unless the book is silent: then no model is called."""
    if ports.searcher is None or not may_search(plan, ports) or is_foreign(found):
        return plan, found, ports.generator

    async def search(query: str) -> Sequence[Passage]:
        again = replace(plan, question=query)
        return await retrieve(again, ports)  # of the same books, with the same rights

    journey = await journeys.enter_async_context(
        ports.searcher.begin(plan, question.turns, found[: plan.top_k], search)
    )
    reading, passages = await journey.found()
    bill.add(reading.usage)
    # What it looks up are steps to one answer, no parts that are answered one by one.
    plan = with_reading(plan, replace(reading, parts=()), question.turns)
    return plan, tuple(sorted(passages, key=lambda one: -one.relevance)), journey


async def reviewed(
    plan: Plan,
    passages: tuple[Passage, ...],
    verdict: Refusal | Clearance,
    ports: AskPorts,
    bill: Bill,
) -> Refusal | Clearance:
    """Ask a model for a second opinion on a verdict to answer; both must agree."""
    cleared = isinstance(verdict, Clearance) and not plan.overview and not _asks_nothing(plan)
    if ports.validator is None or not cleared:
        return verdict
    opinion = await ports.validator.review(plan.question, passages[:READ_AT_MOST], plan.model)
    bill.add(opinion.usage)
    return verdict if opinion.answers else _refusal(verdict, passages)


def _refusal(verdict: Refusal | Clearance, passages: tuple[Passage, ...]) -> Refusal:
    """Refuse as the judge would have, had it not been convinced."""
    if passages[0].is_selection:
        return Refusal("selected_text_missing", verdict.judgement)
    doubted = isinstance(verdict, Clearance) and verdict.disclaimer is not None
    return Refusal("low_relevance" if doubted else "insufficient_grounding", verdict.judgement)


def _asks_nothing(plan: Plan) -> bool:
    """Whether a question consists of orders to whoever answers: no model need read it."""
    return not neutral(plan.question).strip()
