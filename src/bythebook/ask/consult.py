"""The other roles of a language model: planning a question, searching further, giving a second opinion.

Each is called only where it is configured and can change something. What it says never lets more
through than the judge and verification do; where it fails, the question fails.
"""

from collections.abc import Sequence
from dataclasses import replace

from bythebook.ask.plan.accept_rewrite import accept_rewrite, is_plain
from bythebook.ask.read.verdict import Verdict, is_doubtful, is_foreign, refusal_after_reading
from bythebook.ask.retrieve.passages import READ_AT_MOST, find_passages
from bythebook.ask.run import AnswerRun
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Plan
from bythebook.ports import Planner, Searcher, Validator


async def plan_question(run: AnswerRun, planner: Planner) -> None:
    """Let a model plan a question that refers to earlier ones or asks several things at once."""
    plan, question = run.plan, run.question
    if is_plain(plan, question.turns):
        return
    if may_search_further(run):
        return  # the searcher's own planner reads it
    rewrite = await planner.read(question.text, question.turns, plan.model)
    run.usage.add(rewrite.usage)
    run.plan = accept_rewrite(plan, rewrite, question.turns)


def may_search_further(run: AnswerRun) -> bool:
    """Return True if a model may search the book for what one search may not find.

    Known parts of a question are searched one by one anyway.
    """
    plan = run.plan
    in_book = plan.selected_text is None and not plan.overview
    return run.ports.searcher is not None and in_book and not plan.parts


async def search_further(run: AnswerRun, searcher: Searcher) -> None:
    """Let a model search on from what was found, unless nothing relevant was found."""
    if not may_search_further(run) or is_foreign(run.found):
        return
    plan = run.plan

    async def search(query: str) -> Sequence[Passage]:
        again = replace(plan, question=query, turns=())
        return await find_passages(again, run.ports)  # of the same books, with the same rights

    journey = await run.resources.enter_async_context(
        searcher.begin(plan, run.question.turns, run.found[: plan.top_k], search)
    )
    rewrite, passages = await journey.finish_search()
    run.usage.add(rewrite.usage)
    # Its searches are steps to one answer, not parts that are answered one by one.
    run.plan = accept_rewrite(plan, replace(rewrite, parts=()), run.question.turns)
    run.found = tuple(sorted(passages, key=lambda one: -one.relevance))
    run.generator = journey


async def second_opinion(
    run: AnswerRun,
    plan: Plan,
    passages: tuple[Passage, ...],
    verdict: Verdict,
    validator: Validator,
) -> Verdict:
    """Ask a model to confirm a verdict to answer; both must agree."""
    if not verdict.answers or plan.overview:
        return verdict
    opinion = await validator.review(plan.question, passages[:READ_AT_MOST], plan.model)
    run.usage.add(opinion.usage)
    if opinion.answers:
        return verdict
    return Verdict(
        refusal_after_reading(passages, doubtful=is_doubtful(passages)), verdict.judgement
    )
