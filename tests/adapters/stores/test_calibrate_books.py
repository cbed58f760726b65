"""Calibration with the real parts, on the sample book and on one that is being served."""

import asyncio
from dataclasses import replace
from pathlib import Path

from tests.adapters.stores.small_books import core_over, publish
from tests.conftest import SAMPLE

from bythebook.ask.pipeline import collect
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.bootstrap import Core
from bythebook.calibrate.pipeline import QUICK, CalibrateOrder, calibrate
from bythebook.domain.answers import Answered
from bythebook.domain.calibrations import Calibration, RelevanceMap
from bythebook.domain.questions import Question, Scope

CHEAP = replace(QUICK, own=24, own_judged=3, withheld_judged=3, foreign_judged=1)


def test_the_sample_book_tells_its_own_questions_from_foreign_ones(sample_core: Core) -> None:
    order = CalibrateOrder(SAMPLE, effort=CHEAP, compare=False)
    fitted = asyncio.run(calibrate(order, sample_core.calibrate, lambda _done, _total: None))
    assert fitted is not None
    fit, default = fitted.calibration, relevance_map(sample_core.embedder.model_id)
    assert fit.own_questions == 24
    assert abs(fit.relevance.midpoint - default.midpoint) < 0.1
    assert 0.5 < fit.relevance.slope / default.slope < 2
    assert fitted.after.foreign_refused > 0.9
    assert fitted.left_out > 0, "the shipped questions on robots are not foreign to this book"
    assert sample_core.calibrations.of(sample_core.library.book(SAMPLE)) is None


def test_a_running_process_goes_by_a_new_fit_at_once(sample_core: Core, tmp_path: Path) -> None:
    core = core_over(tmp_path / "data", sample_core)
    publish(core, tmp_path / "pages", "tales")
    book = core.library.book("tales")
    fit = Calibration(
        book.generation,
        book.embedding_model,
        core.calibrate.judge_model,
        0.05,
        RelevanceMap(0.33, 20.0),
        0.2,
        60,
        60,
    )

    def is_answered() -> bool:
        asked = Question("How is glass made?", Scope("tales"))
        return isinstance(asyncio.run(collect(asked, core.ask)), Answered)

    try:
        assert is_answered()
        core_over(tmp_path / "data", sample_core).calibrations.keep(
            "tales", replace(fit, relevance=RelevanceMap(9.0, 20.0))
        )
        assert not is_answered()
        core.calibrations.keep("tales", fit)
        assert is_answered()
    finally:
        core.close()
