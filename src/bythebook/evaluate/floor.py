"""The floor: what a quick run gave last, below which it must not drop by more than chance."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from bythebook.errors import BadQuestions
from bythebook.evaluate.measured import Figure, Measured
from bythebook.evaluate.suite import EvalReport

NOISE = 2.0  # standard errors that chance may take away
_SLACK = 1e-9
Floor = Mapping[str, Mapping[str, Mapping[str, float]]]


def floor_of(report: EvalReport) -> dict[str, dict[str, dict[str, float]]]:
    """Give each figure of which a drop counts, by set and name."""
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
        for one in report.measured
    }


def write_floor(report: EvalReport, path: Path) -> None:
    """Keep what this run gave as the new floor."""
    path.write_text(json.dumps(floor_of(report), indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_floor(path: Path) -> Floor:
    """Read a floor that was written before."""
    try:
        floor: Floor = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadQuestions(
            f"{path} is no floor.", "Write one: `bythebook eval-all --quick --write-floor PATH`."
        ) from error
    return floor


def drops(report: EvalReport, floor: Floor) -> Iterator[str]:
    """Say which figures of the floor got worse by more than chance, or are no longer there."""
    measured = {one.name: one for one in report.measured}
    for set_name, figures in floor.items():
        for name, was in figures.items():
            now = _figure(measured.get(set_name), name)
            if now is None:
                yield f"{set_name}: {name} was not measured"
            elif _worse_by(now, was["value"]) > NOISE * was["error"] + _SLACK:
                yield (
                    f"{set_name}: {name} is {now.value:.3f}, was {was['value']:.3f} "
                    f"± {was['error']:.3f} on {was['examples']:.0f} examples"
                )


def _figure(measured: Measured | None, name: str) -> Figure | None:
    figures = measured.figures if measured else ()
    return next((figure for figure in figures if figure.name == name), None)


def _worse_by(now: Figure, before: float) -> float:
    return now.value - before if now.better == "lower" else before - now.value
