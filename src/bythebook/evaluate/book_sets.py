"""Questions asked of a whole book by the product's path, and by the cosine beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.retrieve import READ_AT_MOST, retrieve
from bythebook.domain.answers import Passage
from bythebook.evaluate.bench import Bench, best_cosine, plan_for
from bythebook.evaluate.figures import share
from bythebook.evaluate.measured import (
    Figure,
    Verdict,
    apart,
    known,
    median,
    rate,
)
from bythebook.evaluate.run import Asked, ask_one, holds_gold
from bythebook.evaluate.sets import EvalQuestion


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of a question, and what the nearest sentence would have given."""

    asked: Asked
    cosine: float
    nearest: tuple[bool, ...]  # whether the nearest sentences hold the gold, best first

    @property
    def verdict(self) -> Verdict:
        """The question as one decision."""
        return Verdict(
            score=self.asked.answerable,
            cosine=self.cosine,
            positive=self.asked.question.kind == "answered",
            right=self.asked.gold_first,
            cosine_right=any(self.nearest[:1]),
            answered=self.asked.answered,
        )


async def ask_book(questions: Sequence[EvalQuestion], book_id: str, bench: Bench) -> list[Compared]:
    """Ask one question after the other, both ways."""
    compared = []
    for number, question in enumerate(questions, 1):
        asked = await ask_one(question, bench.ask, book_id)
        found = await retrieve(plan_for(question.question, book_id), bench.ask)
        nearest = await _nearest(question, found[:READ_AT_MOST], bench) if question.golds else ()
        compared.append(Compared(asked, best_cosine(found), nearest))
        bench.on_done(number, len(questions))
    return compared


async def _nearest(
    question: EvalQuestion, passages: Sequence[Passage], bench: Bench
) -> tuple[bool, ...]:
    units = [text for passage in passages for text in passage.chunk.unit_texts()]
    nearest = await bench.cosines.nearest(question.question, units)
    return tuple(holds_gold(text, question.golds) for text in nearest)


def book_figures(compared: Sequence[Compared], bench: Bench) -> tuple[Figure, ...]:
    """Sum up questions of a book; a kind that is not among them has no figure."""
    kinds = {
        kind: [one for one in compared if one.asked.question.kind == kind]
        for kind in ("answered", "look_alike", "foreign")
    }
    return known(
        (
            *_answer_figures(kinds["answered"], bench.cosine_from),
            *_refusal_figures("look-alikes", kinds["answered"], kinds["look_alike"], bench),
            *_refusal_figures("foreign questions", kinds["answered"], kinds["foreign"], bench),
            *_shown_figures([one.asked for one in compared]),
        )
    )


def _answer_figures(compared: Sequence[Compared], cosine_from: float) -> tuple[Figure, ...]:
    asked = [one.asked for one in compared]
    near = [one.cosine >= cosine_from for one in compared]
    first = [any(one.nearest[:1]) for one in compared]
    return (
        rate(
            "answered with the right sentence",
            [one.gold_in_answer for one in asked],
            [close and right for close, right in zip(near, first, strict=True)],
        ),
        rate("the first sentence chosen is right", [one.gold_first for one in asked], first),
        rate(
            "one of the first three chosen is right",
            [one.gold_among_three for one in asked],
            [any(one.nearest) for one in compared],
        ),
        rate(
            "wrongly refused",
            [not one.answered for one in asked],
            [not close for close in near],
            better="lower",
        ),
    )


def _refusal_figures(
    name: str, own: Sequence[Compared], others: Sequence[Compared], bench: Bench
) -> tuple[Figure, ...]:
    return (
        rate(
            f"{name} refused",
            [not one.asked.answered for one in others],
            [one.cosine < bench.cosine_from for one in others],
        ),
        apart(
            f"{name} told by the judge",
            [one.asked.answerable for one in own],
            [one.asked.answerable for one in others],
            ([one.cosine for one in own], [one.cosine for one in others]),
        ),
    )


def _shown_figures(asked: Sequence[Asked]) -> tuple[Figure, ...]:
    shown = [one for one in asked if one.answered]
    exact = [good for one in shown for good in _quotes(one)]
    return (
        Figure("quotes exact", share(exact), len(exact), 0.0),  # no quote may ever be inexact
        median("words in an answer, median", [one.words for one in shown]),
        median("milliseconds when answered, median", [one.milliseconds for one in shown]),
    )


def _quotes(asked: Asked) -> list[bool]:
    return [place < asked.exact_quotes for place in range(asked.quotes)]


def verdicts_of(compared: Sequence[Compared]) -> tuple[Verdict, ...]:
    """Give each question as one decision."""
    return tuple(one.verdict for one in compared)
