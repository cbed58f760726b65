"""A fixed draw of every report set, by the bundled models: no figure drops by more than chance."""

from pathlib import Path

from bythebook.cli.measuring_all import run_all
from bythebook.evaluate.floor import drops, read_floor
from bythebook.evaluate.sets import load_questions

EVALS = Path(__file__).resolve().parents[2] / "evals"


def test_no_figure_drops_by_more_than_chance(eval_data: Path, tmp_path: Path) -> None:
    questions = load_questions(EVALS / "sample-book.jsonl")
    report = run_all(questions, eval_data, tmp_path, quick=True, calibrate=False)
    assert report.left_out == ()
    assert list(drops(report, read_floor(EVALS / "floor.json"))) == []
