"""A book that was just published -> its scores: carried over, fitted quickly, or the defaults."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bythebook.calibrate.pipeline import (
    FALSE_ANSWERS,
    QUICK,
    CalibrateOrder,
    OnQuestion,
    calibrate,
    carry_over,
)
from bythebook.calibrate.product_search import CalibratePorts
from bythebook.domain.calibrations import Calibration, RiskPoint
from bythebook.domain.reports import IngestReport
from bythebook.errors import StoreFailed, UnknownBook
from bythebook.ports import Calibrations, Library


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """Where the scores of a book that was just published come from."""

    state: Literal["fitted", "carried over", "default", "failed"]
    answer_from: float | None = None  # None: the default
    why: str = ""  # it was not fitted
    reached: RiskPoint | None = None  # on questions held out of the fit


def live_fit(book_id: str, library: Library, calibrations: Calibrations) -> Calibration | None:
    """Read the fit that the next generation may reuse, before that one is published."""
    try:
        return calibrations.of(library.book(book_id))
    except (UnknownBook, StoreFailed):
        return None


async def fit_published(
    report: IngestReport,
    before: Calibration | None,
    library: Library,
    calibrations: Calibrations,
    make_ports: Callable[[], CalibratePorts],  # called only if there is something to fit
    on_question: OnQuestion,
) -> PublishedScores:
    """Carry the old fit over if little changed, else make a quick one; never raise an error."""
    try:
        book = library.book(report.book_id)
        fit = carry_over(before, book, _measure_change(report))
        if fit is not None:
            calibrations.keep(report.book_id, fit)
            return PublishedScores("carried over", fit.answer_from, reached=fit.reached)
        rate = before.false_answer_rate if before else FALSE_ANSWERS
        order = CalibrateOrder(report.book_id, rate, QUICK, compare=False)
        fitted = await calibrate(order, make_ports(), on_question)
        if fitted is None:
            return PublishedScores("default", why="too little prose to make questions of")
        fit = fitted.calibration
        calibrations.keep(report.book_id, fit)
        return PublishedScores("fitted", fit.answer_from, reached=fit.reached)
    except Exception as error:  # noqa: BLE001 - the book is published, which is what was asked for
        return PublishedScores("failed", why=str(error) or type(error).__name__)


def _measure_change(report: IngestReport) -> float:
    """Return the share of chunks that came or went."""
    return (report.added + report.removed) / max(1, report.chunks)
