"""A published book -> questions -> signals -> relevance -> verdicts -> threshold."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bythebook.ask.read.verdict import ANSWER_FROM
from bythebook.ask.retrieve.passages import require_embedder
from bythebook.ask.retrieve.relevance import is_measured, relevance_map
from bythebook.calibrate.fit import (
    GUESSED,
    MEASURED,
    fit_relevance,
    fit_threshold,
    measure_held_out,
    risk_curve,
)
from bythebook.calibrate.foreign import draw_foreign, far_from
from bythebook.calibrate.product_search import CalibratePorts, search_book
from bythebook.calibrate.questions import OwnQuestion, draw_questions
from bythebook.calibrate.score_questions import (
    Effort,
    JudgeScores,
    Samples,
    Shares,
    score_questions,
)
from bythebook.calibrate.withhold import signals_of
from bythebook.domain.books import Book
from bythebook.domain.calibrations import Calibration, RelevanceMap

OnQuestion = Callable[[int, int], None]  # how many are done, of how many

FALSE_ANSWERS = 0.05  # share of unanswerable questions that may be answered
FEWEST_QUESTIONS = 8  # of the book's own; with fewer the defaults are better
CARRIED_BELOW = 0.1  # share of chunks that may change before a book is fitted again
# A quick fit that nobody reviews trusts the default more than its few questions.
QUICK = Effort(own=60, foreign=66, own_judged=8, withheld_judged=20, foreign_judged=4, prior=160)
THOROUGH = Effort(
    own=240, foreign=198, own_judged=80, withheld_judged=100, foreign_judged=20, prior=40
)
_SEED = 1


@dataclass(frozen=True, slots=True)
class CalibrateOrder:
    """Which book to fit, for what rate of false answers, how thoroughly."""

    book_id: str
    false_answers: float = FALSE_ANSWERS
    effort: Effort = THOROUGH
    seed: int = _SEED
    compare: bool = True  # try the present setting on the same questions


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides whether a question is answered."""

    relevance: RelevanceMap
    answer_from: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit, not yet stored, with its effect on questions and that of the present setting."""

    calibration: Calibration
    present: Setting
    after: Shares
    before: Shares | None
    left_out: int  # foreign questions on topics that the book covers


async def calibrate(
    order: CalibrateOrder, ports: CalibratePorts, on_question: OnQuestion
) -> Fitted | None:
    """Fit relevance and threshold to a book; return None if it yields too few questions."""
    book = ports.library.book(order.book_id)
    require_embedder(book, ports.embedder)
    documents = await asyncio.to_thread(ports.library.documents, book.book_id)
    own = await asyncio.to_thread(draw_questions, documents, order.effort.own, order.seed)
    if len(own) < FEWEST_QUESTIONS:
        return None
    show = _Progress(on_question, order, len(own))
    samples, left_out = await _find(own, order, book, ports, show)
    relevance = fit_relevance(
        [strength for one in samples.own for strength in signals_of(*one)],
        [found.signal for found in samples.foreign],
        relevance_map(ports.embedder.model_id),
        MEASURED if is_measured(ports.embedder.model_id) else GUESSED,
    )
    scores = await score_questions(samples, order.effort, book, relevance, ports, show.step)
    fit = _calibration(order, book, ports, samples, relevance, scores)
    present, before = _present(book, ports), None
    if order.compare:
        tried = await score_questions(
            samples, order.effort, book, present.relevance, ports, show.step
        )
        before = tried.shares(present.answer_from)
    show.end()
    return Fitted(fit, present, scores.shares(fit.answer_from), before, left_out)


def _calibration(
    order: CalibrateOrder,
    book: Book,
    ports: CalibratePorts,
    samples: Samples,
    relevance: RelevanceMap,
    scores: JudgeScores,
) -> Calibration:
    asked = scores.own, scores.unanswerable, order.false_answers
    prior = order.effort.prior
    return Calibration(
        generation=book.generation,
        embedding_model=book.embedding_model,
        judge_model=ports.judge_model,
        false_answer_rate=order.false_answers,
        relevance=relevance,
        answer_from=fit_threshold(*asked, default=ANSWER_FROM, prior=prior),
        own_questions=len(samples.own),
        other_questions=len(samples.foreign) + len(scores.withheld),
        curve=risk_curve(scores.own, scores.unanswerable),
        quick=order.effort == QUICK,
        reached=measure_held_out(*asked, default=ANSWER_FROM, prior=prior),
    )


def carry_over(fit: Calibration | None, book: Book, changed: float) -> Calibration | None:
    """Reuse the fit of the previous generation if few of its chunks changed.

    Changes add up over generations, so that a book does not drift away from its fit in small steps.
    """
    if fit is None or fit.embedding_model != book.embedding_model:
        return None
    total = fit.changed + changed
    if total >= CARRIED_BELOW:
        return None
    return replace(fit, generation=book.generation, changed=total)


def warning_of(book: Book, fit: Calibration | None) -> str | None:
    """Return a warning for a book whose scores `bythebook calibrate` has not fitted."""
    if is_measured(book.embedding_model) or (fit is not None and not fit.quick):
        return None
    known = "guessed" if fit is None else "estimated from few questions"
    return (
        f"What the scores of {book.embedding_model} mean for {book.book_id} was only {known}: "
        f"run `bythebook calibrate {book.book_id}`."
    )


async def _find(
    own: Sequence[OwnQuestion],
    order: CalibrateOrder,
    book: Book,
    ports: CalibratePorts,
    show: "_Progress",
) -> tuple[Samples, int]:
    found = []
    for question in own:
        found.append((question, await search_book(question.text, book, ports)))
        show.step()
    asked = []
    for foreign in draw_foreign(order.effort.foreign, order.seed):
        asked.append((foreign, await search_book(foreign.text, book, ports)))
        show.step()
    far = far_from([one.signal for _, one in found], asked)
    return Samples(found, far), len(asked) - len(far)


def _present(book: Book, ports: CalibratePorts) -> Setting:
    fit = ports.calibrations.of(book)
    if fit is None:
        return Setting(relevance_map(ports.embedder.model_id), ANSWER_FROM)
    return Setting(fit.relevance, fit.answer_from)


class _Progress:
    """Counts questions against their maximum."""

    def __init__(self, on_question: OnQuestion, order: CalibrateOrder, own: int) -> None:
        self._on_question = on_question
        effort = order.effort
        judged = min(effort.own_judged, own) + min(effort.withheld_judged, own)
        self._total = own + effort.foreign + judged * (2 if order.compare else 1)
        self._done = 0

    def step(self) -> None:
        self._done = min(self._done + 1, self._total)
        self._on_question(self._done, self._total)

    def end(self) -> None:
        self._on_question(self._total, self._total)
