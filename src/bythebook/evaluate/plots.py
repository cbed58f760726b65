"""Plots as SVG that needs nothing else; colours come from the page's style."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from bythebook.evaluate.figures import Bin, Coverage

WIDTH, HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 44
_SEEN = 0.05  # coverage from which risk sets the scale: the first few examples jump
_MOST_POINTS = 240  # of a line; more are not seen


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of a plot: both from 0, and how far up."""

    across: str
    upward: str
    top: float = 1.0

    def x(self, value: float) -> float:
        """Give the place of a value on the horizontal axis."""
        return round(_LEFT + value * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Give the place of a value on the vertical axis."""
        return round(HEIGHT - _BOTTOM - value / self.top * (HEIGHT - _TOP - _BOTTOM), 1)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a risk-coverage plot, with the point of the decisions that were made."""

    style: str  # class in the style sheet
    points: tuple[Coverage, ...]
    decided: tuple[float, float]  # coverage and risk


def risk_coverage_plot(title: str, curves: Sequence[Curve]) -> str:
    """Draw how much of what is answered is wrong, the more is answered."""
    risks = [curve.decided[1] for curve in curves]
    risks += [point.risk for curve in curves for point in curve.points if point.coverage >= _SEEN]
    frame = Frame("share answered", "share of those wrong", _rounded_up(max(risks, default=1.0)))
    return _svg(title, frame, "".join(part for curve in curves for part in _line(curve, frame)))


def _rounded_up(value: float) -> float:
    return next(top for top in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if value <= top or top == 1.0)


def _line(curve: Curve, frame: Frame) -> Iterator[str]:
    step = max(1, len(curve.points) // _MOST_POINTS)
    shown = [*curve.points[:-1:step], *curve.points[-1:]]
    shown = [point for point in shown if point.risk <= frame.top]
    places = " ".join(f"{frame.x(p.coverage)},{frame.y(p.risk)}" for p in shown)
    yield f'<polyline class="{curve.style}" points="{places}"/>'
    coverage, risk = curve.decided
    if coverage:
        yield (
            f'<circle class="{curve.style}" cx="{frame.x(coverage)}" cy="{frame.y(risk)}" r="5">'
            f"<title>answered {coverage:.2f}, of those wrong {risk:.2f}</title></circle>"
        )


def reliability_plot(title: str, bins: Sequence[Bin]) -> str:
    """Draw how often a probability came true; a full circle is a tenth of the examples or more."""
    frame = Frame("probability given", "share that was so")
    total = sum(one.examples for one in bins)
    parts = [
        f'<line class="even" x1="{frame.x(0)}" y1="{frame.y(0)}" x2="{frame.x(1)}" y2="{frame.y(1)}"/>'
    ]
    places = " ".join(f"{frame.x(one.predicted)},{frame.y(one.observed)}" for one in bins)
    parts.append(f'<polyline class="ours" points="{places}"/>')
    for one in bins:
        radius = 2.5 + 5 * min(1.0, 10 * one.examples / total) ** 0.5
        parts.append(
            f'<circle class="ours" cx="{frame.x(one.predicted)}" cy="{frame.y(one.observed)}" '
            f'r="{radius:.1f}"><title>{one.examples} examples</title></circle>'
        )
    return _svg(title, frame, "".join(parts))


def _svg(title: str, frame: Frame, body: str) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {HEIGHT}" aria-label="{escape(title)}">'
        f"{''.join(_axes(frame))}{body}</svg>"
    )


def _axes(frame: Frame) -> Iterator[str]:
    bottom, left = frame.y(0), frame.x(0)
    for step in range(5):
        part = step / 4
        x, y = frame.x(part), frame.y(part * frame.top)
        yield f'<line class="grid" x1="{left}" y1="{y}" x2="{frame.x(1)}" y2="{y}"/>'
        yield f'<text class="end" x="{left - 6}" y="{y + 4}">{part * frame.top:.2g}</text>'
        yield f'<text class="middle" x="{x}" y="{bottom + 16}">{part:.2g}</text>'
    across, upward = escape(frame.across), escape(frame.upward)
    middle = (frame.y(0) + frame.y(frame.top)) / 2
    yield f'<text class="middle" x="{frame.x(0.5)}" y="{HEIGHT - 8}">{across}</text>'
    yield f'<text class="middle" transform="translate(12 {middle}) rotate(-90)">{upward}</text>'
