"""The report as one HTML page that needs nothing else: the table, and two plots for each set."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from bythebook.evaluate.figures import (
    Bin,
    Coverage,
    calibration_error,
    reliability,
    risk_coverage,
    share,
)
from bythebook.evaluate.measured import Measured, Verdict
from bythebook.evaluate.plots import Curve, reliability_plot, risk_coverage_plot
from bythebook.evaluate.suite import EvalReport
from bythebook.evaluate.table import HEAD, cells

_STYLE = """
main { max-width: 62rem; }
table { display: table; width: 100%; font-family: system-ui, "Segoe UI", Roboto, sans-serif; font-size: .875rem; }
td:nth-child(n+2), thead th:nth-child(n+2) { text-align: right; font-variant-numeric: tabular-nums; width: 6rem; }
thead th, .key { color: var(--quiet); font-weight: normal; }
tbody th { padding-top: 1.4rem; font-size: 1rem; }
td.better { color: var(--accent); font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1.5rem 2.5rem; }
figure { margin: 0; } figcaption, .key, details, .note { font: .85rem/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; } svg polyline { fill: none; stroke-width: 2; }
svg .grid { stroke: var(--rule); } svg .even { stroke: var(--quiet); stroke-dasharray: 3 4; }
svg polyline.ours { stroke: var(--accent); } svg circle.ours { fill: var(--accent); }
svg polyline.cosine { stroke: var(--quiet); stroke-dasharray: 6 3; } svg circle.cosine { fill: var(--quiet); }
details table { width: auto; margin: .5rem 0; } details td, details th { padding: .1rem 1.2rem .1rem 0; }
@media (max-width: 40rem) { td:nth-child(3), thead th:nth-child(3) { display: none; } }
"""
_SHOWN_COVERAGES = tuple(step / 10 for step in range(1, 11))


def report_page(report: EvalReport) -> str:
    """Write the page."""
    style = files("bythebook.web").joinpath("reader.css").read_text("utf-8") + _STYLE
    drawn = "a fixed draw of each set" if report.quick else "every set in full"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>ByTheBook, measured</title><style>{style}</style></head><body><main>"
        "<h1>ByTheBook, measured</h1>"
        f"<p>Measured on {drawn}. The baseline answers or lets through wherever the best cosine is at "
        f"least {report.cosine_from:.3f}, one threshold for all sets, chosen on the sample book’s dev "
        "questions; ± is one standard error.</p>"
        f"{_table(report)}{_left_out(report)}"
        f"{''.join(_section(one, report.cosine_from) for one in report.measured)}</main></body></html>\n"
    )


def _table(report: EvalReport) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    rows = "".join(row for one in report.measured for row in _rows(one))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _rows(one: Measured) -> Iterator[str]:
    yield f'<tr><th scope="rowgroup" colspan="{len(HEAD)}">{escape(one.name)}</th></tr>'
    for figure in one.figures:
        beaten = figure.baseline is not None and (
            figure.value < figure.baseline
            if figure.better == "lower"
            else figure.value > figure.baseline
        )
        name, value, *others = map(escape, cells(figure))
        rest = "".join(f"<td>{cell}</td>" for cell in others)
        mark = ' class="better"' if beaten else ""
        yield f"<tr><td>{name}</td><td{mark}>{value}</td>{rest}</tr>"


def _left_out(report: EvalReport) -> str:
    items = "".join(
        f"<li>{escape(left.name)}: {escape(left.reason)}</li>" for left in report.left_out
    )
    return f"<h2>Left out</h2><ul>{items}</ul>" if items else ""


def _section(one: Measured, cosine_from: float) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in one.notes)
    plots = _plots(one.name, one.verdicts, cosine_from)
    return f"<section><h2>{escape(one.name)}</h2><p>{escape(one.about)}</p>{notes}{plots}</section>"


def _plots(name: str, verdicts: Sequence[Verdict], cosine_from: float) -> str:
    if not verdicts:
        return ""
    good = [one.positive and one.right for one in verdicts]
    beside = [one.positive and one.cosine_right for one in verdicts]
    ours = risk_coverage([one.score for one in verdicts], good)
    cosine = risk_coverage([one.cosine for one in verdicts], beside)
    near = [one.cosine >= cosine_from for one in verdicts]
    curves = (
        Curve("cosine", cosine, _decided(near, beside)),
        Curve("ours", ours, _decided([one.answered for one in verdicts], good)),
    )
    bins = reliability([one.score for one in verdicts], [one.positive for one in verdicts])
    key = "Solid: the judge; dashed: the cosine; a dot marks what was decided."
    return (
        f'<div class="plots"><figure>{risk_coverage_plot(f"{name}: risk and coverage", curves)}'
        f"<figcaption>Risk and coverage. {key}</figcaption>{_risk_table(ours, cosine)}</figure>"
        f"<figure>{reliability_plot(f'{name}: reliability', bins)}<figcaption>Reliability. Expected "
        f"calibration error {calibration_error(bins):.3f}; larger dots hold more examples."
        f"</figcaption>{_bin_table(bins)}</figure></div>"
    )


def _decided(answered: Sequence[bool], good: Sequence[bool]) -> tuple[float, float]:
    """Give coverage and risk of decisions."""
    wrong = [not right for kept, right in zip(answered, good, strict=True) if kept]
    return share(answered), share(wrong) if wrong else 0.0


def _risk_table(ours: Sequence[Coverage], cosine: Sequence[Coverage]) -> str:
    rows = [
        (f"{at:.1f}", f"{_risk_at(ours, at):.3f}", f"{_risk_at(cosine, at):.3f}")
        for at in _SHOWN_COVERAGES
    ]
    return _as_table(("answered", "wrong, judge", "wrong, cosine"), rows)


def _risk_at(points: Sequence[Coverage], coverage: float) -> float:
    """Give the risk at the first threshold that answers at least so much."""
    return next(point.risk for point in points if point.coverage >= coverage - 1e-9)


def _bin_table(bins: Sequence[Bin]) -> str:
    rows = [(f"{one.predicted:.3f}", f"{one.observed:.3f}", f"{one.examples}") for one in bins]
    return _as_table(("probability", "was so", "examples"), rows)


def _as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        "<details><summary>As a table</summary>"
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></details>"
    )
