"""The report over all sets: table, page, plots and floor."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bythebook.errors import BadQuestions
from bythebook.evaluate.figures import Bin, risk_coverage
from bythebook.evaluate.floor import drops, floor_of, read_floor, write_floor
from bythebook.evaluate.measured import (
    Figure,
    LeftOut,
    Measured,
    Verdict,
    apart,
    known,
    mistakes,
    rate,
)
from bythebook.evaluate.page import report_page
from bythebook.evaluate.plots import Curve, reliability_plot, risk_coverage_plot
from bythebook.evaluate.suite import EvalReport
from bythebook.evaluate.table import as_markdown, as_text

VERDICTS = (
    Verdict(0.9, 0.8, positive=True, right=True, cosine_right=False, answered=True),
    Verdict(0.6, 0.7, positive=True, right=False, cosine_right=True, answered=True),
    Verdict(0.3, 0.2, positive=True, right=True, cosine_right=True, answered=False),
    Verdict(0.7, 0.9, positive=False, right=False, cosine_right=False, answered=True),
    Verdict(0.1, 0.1, positive=False, right=False, cosine_right=False, answered=False),
)
FIGURES = (
    Figure("look-alikes refused", 0.7, 40, 0.05, 0.3),
    Figure("wrongly answered", 0.2, 40, 0.05, 0.5, "lower"),
    Figure("quotes exact", 1.0, 90, 0.0),
    Figure("words in an answer, median", 37.0, 30, better="neither"),
)


def report(*figures: Figure, name: str = "Set <b>") -> EvalReport:
    measured = Measured(name, "Asked & answered.", figures, VERDICTS, ("A note <i>.",))
    return EvalReport((measured,), (LeftOut("squad", "no data"),), 0.5, quick=True, seconds=1.0)


def changed(name: str, value: float) -> EvalReport:
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
    floor = floor_of(report(*FIGURES))
    assert [line for line in drops(changed(name, value), floor) if name in line] == list(
        drops(changed(name, value), floor)
    )
    assert bool(list(drops(changed(name, value), floor))) is fails


def test_a_figure_that_is_no_longer_measured_fails() -> None:
    floor = floor_of(report(*FIGURES))
    assert list(drops(report(*FIGURES[1:]), floor)) == [
        "Set <b>: look-alikes refused was not measured"
    ]
    assert len(list(drops(report(*FIGURES, name="Other"), floor))) == 3


def test_a_floor_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "floor.json"
    write_floor(report(*FIGURES), path)
    assert read_floor(path) == floor_of(report(*FIGURES))
    assert "words in an answer, median" not in read_floor(path)["Set <b>"]
    with pytest.raises(BadQuestions, match="no floor"):
        read_floor(tmp_path / "missing.json")


def test_both_ways_of_being_wrong_are_counted_by_what_was_decided() -> None:
    answered, refused, mean = mistakes(VERDICTS, cosine_from=0.5)
    assert (answered.value, answered.baseline) == (0.5, 0.5)
    assert refused.value == pytest.approx(1 / 3)
    assert mean.value == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert mean.baseline == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert mean.error is not None
    assert mean.error < (answered.error or 0)


def test_figures_of_nothing_are_left_out() -> None:
    figures = known((rate("none", []), apart("none", [], [1.0]), apart("one", [0.9], [0.1])))
    assert [(one.name, one.value, one.error) for one in figures] == [("one, AUROC", 1.0, None)]


def test_the_table_shows_ours_beside_the_baseline() -> None:
    text = "\n".join(line for line, _ in as_text(report(*FIGURES)))
    assert re.search(r"look-alikes refused +0\.700 +0\.050 +0\.300 +40", text)
    assert re.search(r"wrongly answered \(less is better\) +0\.200", text)
    assert re.search(r"words in an answer, median +37 +30", text)
    assert "squad: left out, no data" in text
    assert "| Set <b> | quotes exact | 1.000 |  |  | 90 |" in as_markdown(report(*FIGURES))


def test_the_page_needs_nothing_else_and_escapes_every_text() -> None:
    page = report_page(report(*FIGURES))
    assert "Set &lt;b&gt;" in page
    assert "Asked &amp; answered." in page
    assert not re.search(r"<b>|<i>|<script|<link|https?://|url\(|@import", page)
    assert page.count("<svg") == 2
    assert page.count("As a table") == 2
    assert '<td class="better">0.700</td>' in page
    assert '<td class="better">0.200</td>' in page
    assert "Expected calibration error 0.400" in page
    assert "a fixed draw of each set" in page


def test_a_set_without_verdicts_has_no_plots() -> None:
    bare = EvalReport((Measured("Set", "About.", FIGURES),), (), 0.5, quick=False, seconds=1.0)
    assert "<svg" not in report_page(bare)


def test_a_risk_coverage_plot_draws_each_curve_and_where_it_was_decided() -> None:
    points = risk_coverage([0.9, 0.6, 0.1], [True, True, False])
    drawn = risk_coverage_plot("A <plot>", [Curve("ours", points, (0.66, 0.0))])
    root = ET.fromstring(drawn)  # well-formed
    (line,) = root.iter("polyline")
    xs, ys = zip(
        *(map(float, place.split(",")) for place in line.get("points", "").split()), strict=True
    )
    assert list(xs) == sorted(xs)
    assert ys[0] > ys[-1]  # no risk is at the bottom, where y is large
    (dot,) = root.iter("circle")
    assert xs[0] < float(dot.get("cx", "")) < xs[-1]
    nothing = risk_coverage_plot("A plot", [Curve("ours", points, (0.0, 0.0))])
    assert "<circle" not in nothing


def place(element: ET.Element, across: str, upward: str) -> tuple[float, float]:
    return float(element.get(across, "")), float(element.get(upward, ""))


def test_a_reliability_plot_puts_a_true_probability_on_the_even_line() -> None:
    root = ET.fromstring(
        reliability_plot("Plot", [Bin(5, 0.0, 0.0), Bin(1, 0.5, 0.5), Bin(50, 1.0, 1.0)])
    )
    even = next(line for line in root.iter("line") if line.get("class") == "even")
    low, middle, high = root.iter("circle")
    assert place(low, "cx", "cy") == place(even, "x1", "y1")
    assert place(high, "cx", "cy") == place(even, "x2", "y2")
    assert float(middle.get("r", "")) < float(low.get("r", "")) < float(high.get("r", ""))


def test_a_report_is_plain_values(tmp_path: Path) -> None:
    value = json.loads(json.dumps(asdict(report(*FIGURES)), allow_nan=False))
    assert value["measured"][0]["figures"][0]["baseline"] == 0.3
