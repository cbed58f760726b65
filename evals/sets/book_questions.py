"""Asks a whole book by the path that answers readers, and compares with the nearest sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.retrieve.passages import READ_AT_MOST
from bythebook.domain.answers import Passage
from bythebook.evaluate.figures import share
from bythebook.evaluate.run import QuestionResult, ask_one, holds_gold
from bythebook.evaluate.sets import EvalQuestion, Kind
from evals.funnel import DEPTH, FIRST, GoldTrace, name_loss, trace_gold
from evals.harness import Harness, get_best_cosine, make_book_plan
from evals.report.figures import (
    drop_empty_figures,
    make_auroc_figure,
    make_median_figure,
    make_share_figure,
)
from evals.report.results import Decision, Figure, Miss, SetResult

KINDS: tuple[Kind, ...] = ("answered", "look_alike", "foreign")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The product's result for a question, and what the nearest sentence would have given."""

    result: QuestionResult
    cosine: float
    nearest_right: tuple[bool, ...]  # whether the nearest sentences hold a gold, best first
    trace: GoldTrace | None  # none where there is no gold

    def make_decision(self) -> Decision:
        """Reduce the question to one decision."""
        return Decision(
            score=self.result.answerable,
            cosine=self.cosine,
            positive=self.result.question.kind == "answered",
            right=self.result.gold_first,
            cosine_right=any(self.nearest_right[:1]),
            answered=self.result.answered,
        )


async def ask_book(
    questions: Sequence[EvalQuestion], book_id: str, harness: Harness
) -> list[AskedQuestion]:
    """Ask the questions one after another, by the product and by the baseline."""
    asked = []
    for number, question in enumerate(questions, 1):
        result = await ask_one(question, harness.ask, book_id)
        plan = make_book_plan(question.question, book_id, DEPTH)
        found = await harness.retrieve(plan)
        read = found[:READ_AT_MOST]
        nearest = await _check_nearest(question, read, harness) if question.golds else ()
        trace = (
            await trace_gold(question, plan, found, harness.ask.judge) if question.golds else None
        )
        asked.append(AskedQuestion(result, get_best_cosine(read), nearest, trace))
        harness.on_progress(number, len(questions))
    return asked


async def _check_nearest(
    question: EvalQuestion, passages: Sequence[Passage], harness: Harness
) -> tuple[bool, ...]:
    units = [text for passage in passages for text in passage.chunk.unit_texts()]
    nearest = await harness.cosines.find_nearest(question.question, units)
    return tuple(holds_gold(text, question.golds) for text in nearest)


def make_set_result(
    name: str,
    about: str,
    asked: Sequence[AskedQuestion],
    harness: Harness,
    *,
    more_figures: Sequence[Figure] = (),
    notes: Sequence[str] = (),
) -> SetResult:
    """Summarise the questions of a set, with a page's worth of misses."""
    figures = (*make_book_figures(asked, harness.cosine_threshold), *more_figures)
    return SetResult(
        name,
        about,
        drop_empty_figures(figures),
        tuple(one.make_decision() for one in asked),
        tuple(notes),
        tuple(list_misses(asked)),
    )


def list_misses(asked: Sequence[AskedQuestion]) -> list[Miss]:
    """List the questions whose answer does not show a gold."""
    return [
        Miss(
            one.result.question.question_id,
            one.result.question.question,
            one.result.question.golds,
            one.result.text,
            name_loss(one.result, one.trace),
        )
        for one in asked
        if one.trace is not None and not one.result.gold_in_answer
    ]


def make_book_figures(
    asked: Sequence[AskedQuestion], cosine_threshold: float
) -> tuple[Figure, ...]:
    """Make the figures of a book's questions; a kind that is not asked has none."""
    answered, look_alikes, foreign = (
        [one for one in asked if one.result.question.kind == kind] for kind in KINDS
    )
    return drop_empty_figures(
        (
            *_make_funnel_figures(answered),
            *_make_answer_figures(answered, cosine_threshold),
            *_make_refusal_figures("look-alikes", answered, look_alikes, cosine_threshold),
            *_make_refusal_figures("foreign questions", answered, foreign, cosine_threshold),
            *_make_shown_figures([one.result for one in asked]),
        )
    )


def _make_funnel_figures(asked: Sequence[AskedQuestion]) -> tuple[Figure, ...]:
    traces = [one.trace for one in asked if one.trace is not None]
    return (
        make_share_figure(f"gold among {FIRST} passages", [one.among_8 for one in traces]),
        make_share_figure(f"gold among {DEPTH} passages", [one.among_20 for one in traces]),
        make_share_figure("gold in the best passage", [one.in_best for one in traces]),
        make_share_figure("gold in the two best passages", [one.in_two_best for one in traces]),
    )


def _make_answer_figures(
    asked: Sequence[AskedQuestion], cosine_threshold: float
) -> tuple[Figure, ...]:
    results = [one.result for one in asked]
    near = [one.cosine >= cosine_threshold for one in asked]
    first = [any(one.nearest_right[:1]) for one in asked]
    return (
        make_share_figure("gold in the best sentence", [one.gold_first for one in results], first),
        make_share_figure(
            "gold in one of the three best sentences",
            [one.gold_among_three for one in results],
            [any(one.nearest_right) for one in asked],
        ),
        make_share_figure("gold in a key sentence", [one.gold_in_key for one in results]),
        make_share_figure(
            "gold shown in the answer",
            [one.gold_in_answer for one in results],
            [close and right for close, right in zip(near, first, strict=True)],
        ),
        make_share_figure(
            "wrongly refused",
            [not one.answered for one in results],
            [not close for close in near],
            better="lower",
        ),
    )


def _make_refusal_figures(
    name: str,
    answered: Sequence[AskedQuestion],
    others: Sequence[AskedQuestion],
    cosine_threshold: float,
) -> tuple[Figure, ...]:
    return (
        make_share_figure(
            f"{name} refused",
            [not one.result.answered for one in others],
            [one.cosine < cosine_threshold for one in others],
        ),
        make_auroc_figure(
            f"{name}, AUROC of the judge",
            [one.result.answerable for one in answered],
            [one.result.answerable for one in others],
            ([one.cosine for one in answered], [one.cosine for one in others]),
        ),
    )


def _make_shown_figures(results: Sequence[QuestionResult]) -> tuple[Figure, ...]:
    shown = [one for one in results if one.answered]
    exact = [place < one.exact_quotes for one in shown for place in range(one.quotes)]
    return (
        Figure("quotes exact", share(exact), len(exact), 0.0),  # every quote must be exact
        make_median_figure("words in an answer, median", [one.words for one in shown]),
        make_median_figure(
            "milliseconds when answered, median", [one.milliseconds for one in shown]
        ),
    )
