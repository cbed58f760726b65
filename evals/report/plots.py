"""Plots as self-contained SVG; colours come from the style sheet of the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from evals.report.statistics import ReliabilityBin, RiskPoint

WIDTH, HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 44
_SCALED_FROM = 0.05  # coverage from which risk sets the scale: the first few examples jump
_MOST_POINTS = 240  # of a line; more make no visible difference


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a plot: both start at 0, the vertical one ends at `top`."""

    x_label: str
    y_label: str
    top: float = 1.0

    def x(self, value: float) -> float:
        """Return the position of a value on the horizontal axis."""
        return round(_LEFT + value * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Return the position of a value on the vertical axis."""
        return round(HEIGHT - _BOTTOM - value / self.top * (HEIGHT - _TOP - _BOTTOM), 1)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a risk-coverage plot, and the point that the decisions reached."""

    style: str  # class name in the style sheet
    points: tuple[RiskPoint, ...]
    decided: tuple[float, float]  # coverage and risk


def draw_risk_coverage(title: str, curves: Sequence[Curve]) -> str:
    """Draw the share of wrong answers against the share of questions answered."""
    risks = [curve.decided[1] for curve in curves]
    risks += [
        point.risk for curve in curves for point in curve.points if point.coverage >= _SCALED_FROM
    ]
    axes = Axes("share answered", "share of those wrong", _round_up(max(risks, default=1.0)))
    return _wrap_svg(
        title, axes, "".join(part for curve in curves for part in _draw_line(curve, axes))
    )


def _round_up(value: float) -> float:
    return next(top for top in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if value <= top or top == 1.0)


def _draw_line(curve: Curve, axes: Axes) -> Iterator[str]:
    step = max(1, len(curve.points) // _MOST_POINTS)
    shown = [*curve.points[:-1:step], *curve.points[-1:]]
    shown = [point for point in shown if point.risk <= axes.top]
    places = " ".join(f"{axes.x(p.coverage)},{axes.y(p.risk)}" for p in shown)
    yield f'<polyline class="{curve.style}" points="{places}"/>'
    coverage, risk = curve.decided
    if coverage:
        yield (
            f'<circle class="{curve.style}" cx="{axes.x(coverage)}" cy="{axes.y(risk)}" r="5">'
            f"<title>answered {coverage:.2f}, of those wrong {risk:.2f}</title></circle>"
        )


def draw_reliability(title: str, bins: Sequence[ReliabilityBin]) -> str:
    """Draw how often a probability came true; the largest circles hold a tenth of the examples or more."""
    axes = Axes("probability given", "share that came true")
    total = sum(one.examples for one in bins)
    parts = [
        f'<line class="even" x1="{axes.x(0)}" y1="{axes.y(0)}" x2="{axes.x(1)}" y2="{axes.y(1)}"/>'
    ]
    places = " ".join(f"{axes.x(one.predicted)},{axes.y(one.observed)}" for one in bins)
    parts.append(f'<polyline class="ours" points="{places}"/>')
    for one in bins:
        radius = 2.5 + 5 * min(1.0, 10 * one.examples / total) ** 0.5
        parts.append(
            f'<circle class="ours" cx="{axes.x(one.predicted)}" cy="{axes.y(one.observed)}" '
            f'r="{radius:.1f}"><title>{one.examples} examples</title></circle>'
        )
    return _wrap_svg(title, axes, "".join(parts))


def _wrap_svg(title: str, axes: Axes, body: str) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {HEIGHT}" aria-label="{escape(title)}">'
        f"{''.join(_draw_axes(axes))}{body}</svg>"
    )


def _draw_axes(axes: Axes) -> Iterator[str]:
    bottom, left = axes.y(0), axes.x(0)
    for step in range(5):
        part = step / 4
        x, y = axes.x(part), axes.y(part * axes.top)
        yield f'<line class="grid" x1="{left}" y1="{y}" x2="{axes.x(1)}" y2="{y}"/>'
        yield f'<text class="end" x="{left - 6}" y="{y + 4}">{part * axes.top:.2g}</text>'
        yield f'<text class="middle" x="{x}" y="{bottom + 16}">{part:.2g}</text>'
    x_label, y_label = escape(axes.x_label), escape(axes.y_label)
    middle = (axes.y(0) + axes.y(axes.top)) / 2
    yield f'<text class="middle" x="{axes.x(0.5)}" y="{HEIGHT - 8}">{x_label}</text>'
    yield f'<text class="middle" transform="translate(12 {middle}) rotate(-90)">{y_label}</text>'
