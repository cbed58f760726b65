"""The funnel: where the gold of a question is lost, and the page of misses."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from evals.funnel import GoldTrace, hold_gold, name_loss, trace_gold
from evals.harness import make_book_plan
from evals.report.misses import render_misses
from evals.report.results import EvalReport, Miss, SetResult
from evals.sets.book_questions import AskedQuestion, list_misses, make_book_figures
from tests.unit.evals.eval_harness import make_result
from tests.unit.fakes import make_chunk

from bythebook.domain.answers import Judgement, Passage
from bythebook.evaluate.sets import EvalQuestion

QUESTION = EvalQuestion("q1", "test", "answered", "What is a gait?", ("a Pattern, of steps",))
HELD = GoldTrace(among_8=True, among_20=True, in_best=True, in_two_best=True)


@dataclass
class RatingJudge:
    """Rates each passage by the number that its text ends in."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        supports = tuple(float(passage.chunk.text.split()[-1]) for passage in passages)
        return Judgement(0.9, supports, ())


def make_passages(*texts: str) -> list[Passage]:
    starts = range(0, 100 * len(texts), 100)
    return [
        Passage(make_chunk(text, char_start=start), 0.9)
        for text, start in zip(texts, starts, strict=True)
    ]


def trace(passages: Sequence[Passage], question: EvalQuestion = QUESTION) -> GoldTrace:
    plan = make_book_plan(question.question, "robots")
    return asyncio.run(trace_gold(question, plan, passages, RatingJudge()))


GOLD = "A gait is a pattern of steps {}"


@pytest.mark.parametrize(
    ("place", "rating", "expected"),
    [
        (0, 9, HELD),
        (7, 5, replace(HELD, in_best=False)),
        (7, 1, replace(HELD, in_best=False, in_two_best=False)),
        (8, 9, GoldTrace(among_8=False, among_20=True, in_best=False, in_two_best=False)),
        (20, 9, GoldTrace(among_8=False, among_20=False, in_best=False, in_two_best=False)),
    ],
)
def test_the_gold_is_traced_by_rank_and_by_the_judges_rating(
    place: int, rating: int, expected: GoldTrace
) -> None:
    texts = [f"Other words {2 + number / 100}" for number in range(21)]
    texts[20 if place == 0 else 0] = "The best of the others 6"
    texts[place] = GOLD.format(rating)
    assert trace(make_passages(*texts)) == expected


def test_nothing_holds_a_gold_where_nothing_was_found() -> None:
    assert trace([]) == GoldTrace(among_8=False, among_20=False, in_best=False, in_two_best=False)


def test_a_gold_may_be_cut_by_the_end_of_a_chunk() -> None:
    end, start = make_passages("of steps", "A gait is a pattern")
    assert not hold_gold([end, start], QUESTION)
    assert hold_gold([replace(end, chunk=replace(end.chunk, char_start=200)), start], QUESTION)


def test_a_gold_is_whole_words_in_one_run() -> None:
    assert not hold_gold(make_passages("a pattern of stepstones"), QUESTION)
    assert not hold_gold(make_passages("a pattern of many steps"), QUESTION)
    assert not hold_gold(make_passages("a pattern"), replace(QUESTION, golds=("…",)))


def test_only_the_paragraph_that_the_set_names_counts() -> None:
    (passage,) = make_passages("a pattern of steps")
    document = passage.chunk.document_id
    near = replace(QUESTION, document_id=document, paragraph=(5, 60))
    assert hold_gold([passage], near)
    assert not hold_gold([passage], replace(near, paragraph=(60, 90)))
    assert not hold_gold([passage], replace(near, document_id="other"))


@pytest.mark.parametrize(
    ("trace", "refusal", "expected"),
    [
        (replace(HELD, among_8=False, among_20=False), "low_relevance", "not among 20 passages"),
        (replace(HELD, among_8=False, in_two_best=False), None, "not among 8 passages"),
        (replace(HELD, in_two_best=False), "low_relevance", "not in the two best passages"),
        (HELD, "low_relevance", "refused (low_relevance)"),
        (HELD, None, "not shown"),
    ],
)
def test_a_miss_names_the_first_stage_that_lost_the_gold(
    trace: GoldTrace, refusal: str | None, expected: str
) -> None:
    assert name_loss(make_result(QUESTION, refusal=refusal), trace) == expected


def test_the_figures_follow_the_funnel_and_misses_are_what_is_not_shown() -> None:
    shown = AskedQuestion(make_result(QUESTION, text="one two", shown=True), 0.9, (True,), HELD)
    lost = AskedQuestion(
        make_result(QUESTION, refusal="low_relevance"), 0.9, (), replace(HELD, in_two_best=False)
    )
    figures = {one.name: one.value for one in make_book_figures([shown, lost], 0.5)}
    assert list(figures)[:9] == [
        "gold among 8 passages",
        "gold among 20 passages",
        "gold in the best passage",
        "gold in the two best passages",
        "gold in the best sentence",
        "gold in one of the three best sentences",
        "gold in a key sentence",
        "gold shown in the answer",
        "wrongly refused",
    ]
    assert list(figures.values())[:4] == [1, 1, 1, 0.5]
    assert figures["gold shown in the answer"] == 0.5
    (miss,) = list_misses([shown, lost])
    assert (miss.question, miss.golds, miss.answer, miss.lost) == (
        "What is a gait?",
        QUESTION.golds,
        "",
        "not in the two best passages",
    )


def test_the_page_of_misses_has_question_gold_and_answer_and_counts_the_losses() -> None:
    misses = (
        Miss("q1", "Who <b>?", ("gold & one", "gold two"), "An answer.", "not shown"),
        Miss("q2", "What?", ("gold three",), "", "refused (low_relevance)"),
        Miss("q3", "Why?", ("gold four",), "", "refused (low_relevance)"),
    )
    result = SetResult("Set <b>", "About.", (), misses=misses)
    report = EvalReport((result,), (), 0.5, quick=False, seconds=1.0)
    page = render_misses(report)
    assert "Set &lt;b&gt;: 3" in page
    assert "refused (low_relevance): 2; not shown: 1" in page
    assert "q1. Who &lt;b&gt;?" in page
    assert page.count("<dt>gold</dt>") == 4
    assert "gold &amp; one" in page
    assert "<pre>An answer.</pre>" in page
    assert page.count("<dd>none</dd>") == 2
    assert not re.search(r"<b>|<script|<link|https?://|url\(|@import", page)
    assert "No set has a miss." in render_misses(replace(report, results=()))
