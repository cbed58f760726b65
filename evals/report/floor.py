"""The floor: figures of an earlier quick run, below which a new run must not drop by more than chance."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from bythebook.errors import BadQuestions
from evals.report.results import EvalReport, Figure, SetResult

NOISE = 2.0  # standard errors by which a figure may drop by chance
_ROUNDING = 1e-9
Floor = Mapping[str, Mapping[str, Mapping[str, float]]]


def make_floor(report: EvalReport) -> dict[str, dict[str, dict[str, float]]]:
    """Collect the figures of which a drop counts, by set and name."""
    return {
        one.name: {
            figure.name: {
                "value": round(figure.value, 4),
                "examples": figure.examples,
                "error": round(figure.error, 4),
            }
            for figure in one.figures
            if figure.error is not None and figure.better != "neither"
        }
        for one in report.results
    }


def write_floor(report: EvalReport, path: Path) -> None:
    """Write the figures of this run as the new floor."""
    path.write_text(json.dumps(make_floor(report), indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_floor(path: Path) -> Floor:
    """Read a floor from a file."""
    try:
        floor: Floor = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadQuestions(
            f"{path} is not a floor.", "Write one: `python -m evals --quick --write-floor PATH`."
        ) from error
    return floor


def find_drops(report: EvalReport, floor: Floor) -> Iterator[str]:
    """Describe the figures of the floor that dropped by more than chance, or were not measured."""
    results = {one.name: one for one in report.results}
    for set_name, figures in floor.items():
        for name, before in figures.items():
            now = _find_figure(results.get(set_name), name)
            if now is None:
                yield f"{set_name}: {name} was not measured"
            elif _compute_loss(now, before["value"]) > NOISE * before["error"] + _ROUNDING:
                yield (
                    f"{set_name}: {name} is {now.value:.3f}, was {before['value']:.3f} "
                    f"± {before['error']:.3f} on {before['examples']:.0f} examples"
                )


def _find_figure(result: SetResult | None, name: str) -> Figure | None:
    figures = result.figures if result else ()
    return next((figure for figure in figures if figure.name == name), None)


def _compute_loss(now: Figure, before: float) -> float:
    return now.value - before if now.better == "lower" else before - now.value
