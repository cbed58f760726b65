"""The report over all sets: table, page, plots and floor."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from evals.report.figures import (
    drop_empty_figures,
    make_auroc_figure,
    make_mistake_figures,
    make_share_figure,
)
from evals.report.floor import find_drops, make_floor, read_floor, write_floor
from evals.report.page import render_page
from evals.report.plots import Curve, draw_reliability, draw_risk_coverage
from evals.report.results import Decision, EvalReport, Figure, SetResult, SkippedSet
from evals.report.statistics import ReliabilityBin, compute_risk_coverage
from evals.report.table import render_markdown, render_text

from bythebook.errors import BadQuestions

DECISIONS = (
    Decision(0.9, 0.8, positive=True, right=True, cosine_right=False, answered=True),
    Decision(0.6, 0.7, positive=True, right=False, cosine_right=True, answered=True),
    Decision(0.3, 0.2, positive=True, right=True, cosine_right=True, answered=False),
    Decision(0.7, 0.9, positive=False, right=False, cosine_right=False, answered=True),
    Decision(0.1, 0.1, positive=False, right=False, cosine_right=False, answered=False),
)
FIGURES = (
    Figure("look-alikes refused", 0.7, 40, 0.05, 0.3),
    Figure("wrongly answered", 0.2, 40, 0.05, 0.5, "lower"),
    Figure("quotes exact", 1.0, 90, 0.0),
    Figure("words in an answer, median", 37.0, 30, better="neither"),
)


def report(*figures: Figure, name: str = "Set <b>") -> EvalReport:
    result = SetResult(name, "Asked & answered.", figures, DECISIONS, ("A note <i>.",))
    return EvalReport((result,), (SkippedSet("squad", "no data"),), 0.5, quick=True, seconds=1.0)


def change_report(name: str, value: float) -> EvalReport:
    return report(*(replace(one, value=value) if one.name == name else one for one in FIGURES))


@pytest.mark.parametrize(
    ("name", "value", "fails"),
    [
        ("look-alikes refused", 0.61, False),
        ("look-alikes refused", 0.59, True),
        ("look-alikes refused", 0.9, False),
        ("wrongly answered", 0.29, False),
        ("wrongly answered", 0.31, True),
        ("wrongly answered", 0.0, False),
        ("quotes exact", 0.999, True),
        ("words in an answer, median", 90.0, False),
    ],
)
def test_a_figure_may_get_worse_by_chance_alone(name: str, value: float, fails: bool) -> None:
    floor = make_floor(report(*FIGURES))
    assert [line for line in find_drops(change_report(name, value), floor) if name in line] == list(
        find_drops(change_report(name, value), floor)
    )
    assert bool(list(find_drops(change_report(name, value), floor))) is fails


def test_a_figure_that_is_no_longer_measured_fails() -> None:
    floor = make_floor(report(*FIGURES))
    assert list(find_drops(report(*FIGURES[1:]), floor)) == [
        "Set <b>: look-alikes refused was not measured"
    ]
    assert len(list(find_drops(report(*FIGURES, name="Other"), floor))) == 3


def test_a_floor_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "floor.json"
    write_floor(report(*FIGURES), path)
    assert read_floor(path) == make_floor(report(*FIGURES))
    assert "words in an answer, median" not in read_floor(path)["Set <b>"]
    with pytest.raises(BadQuestions, match="not a floor"):
        read_floor(tmp_path / "missing.json")


def test_both_ways_of_being_wrong_are_counted_by_what_was_decided() -> None:
    answered, refused, mean = make_mistake_figures(DECISIONS, cosine_threshold=0.5)
    assert (answered.value, answered.baseline) == (0.5, 0.5)
    assert refused.value == pytest.approx(1 / 3)
    assert mean.value == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert mean.baseline == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert mean.error is not None
    assert mean.error < (answered.error or 0)


def test_figures_without_examples_are_dropped() -> None:
    figures = drop_empty_figures(
        (
            make_share_figure("none", []),
            make_auroc_figure("none", [], [1.0]),
            make_auroc_figure("one", [0.9], [0.1]),
        )
    )
    assert [(one.name, one.value, one.error) for one in figures] == [("one", 1.0, None)]


def test_the_table_shows_the_baseline_next_to_our_figure() -> None:
    text = "\n".join(line for line, _ in render_text(report(*FIGURES)))
    assert re.search(r"look-alikes refused +0\.700 +0\.050 +0\.300 +40", text)
    assert re.search(r"wrongly answered \(less is better\) +0\.200", text)
    assert re.search(r"words in an answer, median +37 +30", text)
    assert "squad: skipped, no data" in text
    assert "| Set <b> | quotes exact | 1.000 |  |  | 90 |" in render_markdown(report(*FIGURES))


def test_the_page_is_self_contained_and_escapes_every_text() -> None:
    page = render_page(report(*FIGURES))
    assert "Set &lt;b&gt;" in page
    assert "Asked &amp; answered." in page
    assert not re.search(r"<b>|<i>|<script|<link|https?://|url\(|@import", page)
    assert page.count("<svg") == 2
    assert page.count("As a table") == 2
    assert '<td class="better">0.700</td>' in page
    assert '<td class="better">0.200</td>' in page
    assert "Expected calibration error 0.400" in page
    assert "a fixed sample of each set" in page


def test_a_set_without_decisions_has_no_plots() -> None:
    bare = EvalReport((SetResult("Set", "About.", FIGURES),), (), 0.5, quick=False, seconds=1.0)
    assert "<svg" not in render_page(bare)


def test_a_risk_coverage_plot_draws_each_curve_and_where_it_was_decided() -> None:
    points = compute_risk_coverage([0.9, 0.6, 0.1], [True, True, False])
    drawn = draw_risk_coverage("A <plot>", [Curve("ours", points, (0.66, 0.0))])
    root = ET.fromstring(drawn)  # well-formed
    (line,) = root.iter("polyline")
    xs, ys = zip(
        *(map(float, place.split(",")) for place in line.get("points", "").split()), strict=True
    )
    assert list(xs) == sorted(xs)
    assert ys[0] > ys[-1]  # no risk is at the bottom, where y is large
    (dot,) = root.iter("circle")
    assert xs[0] < float(dot.get("cx", "")) < xs[-1]
    nothing = draw_risk_coverage("A plot", [Curve("ours", points, (0.0, 0.0))])
    assert "<circle" not in nothing


def place(element: ET.Element, across: str, upward: str) -> tuple[float, float]:
    return float(element.get(across, "")), float(element.get(upward, ""))


def test_a_reliability_plot_puts_a_true_probability_on_the_even_line() -> None:
    root = ET.fromstring(
        draw_reliability(
            "Plot",
            [
                ReliabilityBin(5, 0.0, 0.0),
                ReliabilityBin(1, 0.5, 0.5),
                ReliabilityBin(50, 1.0, 1.0),
            ],
        )
    )
    even = next(line for line in root.iter("line") if line.get("class") == "even")
    low, middle, high = root.iter("circle")
    assert place(low, "cx", "cy") == place(even, "x1", "y1")
    assert place(high, "cx", "cy") == place(even, "x2", "y2")
    assert float(middle.get("r", "")) < float(low.get("r", "")) < float(high.get("r", ""))


def test_a_report_is_plain_values(tmp_path: Path) -> None:
    value = json.loads(json.dumps(asdict(report(*FIGURES)), allow_nan=False))
    assert value["results"][0]["figures"][0]["baseline"] == 0.3
