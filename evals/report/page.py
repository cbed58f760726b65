"""The report as one self-contained HTML page: the table, and two plots for each set."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from bythebook.evaluate.figures import share
from evals.report.plots import Curve, draw_reliability, draw_risk_coverage
from evals.report.results import Decision, EvalReport, SetResult
from evals.report.statistics import (
    ReliabilityBin,
    RiskPoint,
    compute_calibration_error,
    compute_reliability,
    compute_risk_coverage,
)
from evals.report.table import HEAD, format_cells

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
_COVERAGE_STEPS = tuple(step / 10 for step in range(1, 11))


def render_page(report: EvalReport) -> str:
    """Render the page."""
    sample = "a fixed sample of each set" if report.quick else "every set in full"
    sections = "".join(_render_section(one, report.cosine_threshold) for one in report.results)
    return wrap_page(
        "ByTheBook, measured",
        f"<p>Measured on {sample}. The baseline answers, or accepts a claim, wherever the best cosine is at "
        f"least {report.cosine_threshold:.3f}: one threshold for all sets, chosen on the sample book’s dev "
        "questions. ± is one standard error.</p>"
        f"{_render_table(report)}{_render_skipped(report)}{sections}",
        _STYLE,
    )


def wrap_page(title: str, body: str, style: str) -> str:
    """Wrap the body of a page, with the reader pages' style and its own."""
    shared = files("bythebook.web").joinpath("reader.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{shared}{style}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )


def _render_table(report: EvalReport) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    rows = "".join(row for one in report.results for row in _render_rows(one))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _render_rows(one: SetResult) -> Iterator[str]:
    yield f'<tr><th scope="rowgroup" colspan="{len(HEAD)}">{escape(one.name)}</th></tr>'
    for figure in one.figures:
        is_better = figure.baseline is not None and (
            figure.value < figure.baseline
            if figure.better == "lower"
            else figure.value > figure.baseline
        )
        name, value, *others = map(escape, format_cells(figure))
        rest = "".join(f"<td>{cell}</td>" for cell in others)
        style = ' class="better"' if is_better else ""
        yield f"<tr><td>{name}</td><td{style}>{value}</td>{rest}</tr>"


def _render_skipped(report: EvalReport) -> str:
    items = "".join(f"<li>{escape(one.name)}: {escape(one.reason)}</li>" for one in report.skipped)
    return f"<h2>Skipped</h2><ul>{items}</ul>" if items else ""


def _render_section(one: SetResult, cosine_threshold: float) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in one.notes)
    plots = _render_plots(one.name, one.decisions, cosine_threshold)
    return f"<section><h2>{escape(one.name)}</h2><p>{escape(one.about)}</p>{notes}{plots}</section>"


def _render_plots(name: str, decisions: Sequence[Decision], cosine_threshold: float) -> str:
    if not decisions:
        return ""
    good = [one.positive and one.right for one in decisions]
    cosine_good = [one.positive and one.cosine_right for one in decisions]
    ours = compute_risk_coverage([one.score for one in decisions], good)
    cosine = compute_risk_coverage([one.cosine for one in decisions], cosine_good)
    near = [one.cosine >= cosine_threshold for one in decisions]
    curves = (
        Curve("cosine", cosine, _locate_decisions(near, cosine_good)),
        Curve("ours", ours, _locate_decisions([one.answered for one in decisions], good)),
    )
    bins = compute_reliability(
        [one.score for one in decisions], [one.positive for one in decisions]
    )
    key = "Solid: the judge; dashed: the cosine; a dot marks what was decided."
    return (
        f'<div class="plots"><figure>{draw_risk_coverage(f"{name}: risk and coverage", curves)}'
        f"<figcaption>Risk and coverage. {key}</figcaption>{_render_risks(ours, cosine)}</figure>"
        f"<figure>{draw_reliability(f'{name}: reliability', bins)}<figcaption>Reliability. Expected "
        f"calibration error {compute_calibration_error(bins):.3f}; larger dots hold more examples."
        f"</figcaption>{_render_bins(bins)}</figure></div>"
    )


def _locate_decisions(answered: Sequence[bool], good: Sequence[bool]) -> tuple[float, float]:
    """Return the coverage and risk of decisions."""
    wrong = [not right for kept, right in zip(answered, good, strict=True) if kept]
    return share(answered), share(wrong) if wrong else 0.0


def _render_risks(ours: Sequence[RiskPoint], cosine: Sequence[RiskPoint]) -> str:
    rows = [
        (f"{at:.1f}", f"{_find_risk(ours, at):.3f}", f"{_find_risk(cosine, at):.3f}")
        for at in _COVERAGE_STEPS
    ]
    return _render_details(("answered", "wrong, judge", "wrong, cosine"), rows)


def _find_risk(points: Sequence[RiskPoint], coverage: float) -> float:
    """Return the risk at the first threshold that answers at least this share."""
    return next(point.risk for point in points if point.coverage >= coverage - 1e-9)


def _render_bins(bins: Sequence[ReliabilityBin]) -> str:
    rows = [(f"{one.predicted:.3f}", f"{one.observed:.3f}", f"{one.examples}") for one in bins]
    return _render_details(("probability", "came true", "examples"), rows)


def _render_details(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        "<details><summary>As a table</summary>"
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></details>"
    )
