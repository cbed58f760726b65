"""A fixed sample of every report set, with the bundled models: no figure drops by more than chance."""

from pathlib import Path

from evals.report.floor import find_drops, read_floor
from evals.sets.sample_book import QUESTIONS
from evals.suite import run_suite

from bythebook.evaluate.sets import load_questions


def test_no_figure_drops_by_more_than_chance(eval_data: Path, tmp_path: Path) -> None:
    questions = load_questions(QUESTIONS)
    report = run_suite(questions, eval_data, tmp_path, quick=True, calibrate=False)
    assert report.skipped == ()
    assert list(find_drops(report, read_floor(QUESTIONS.with_name("floor.json")))) == []
