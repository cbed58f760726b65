"""A risk-coverage curve as a self-contained picture, and as lines for a terminal."""

from collections.abc import Iterator
from html import escape
from textwrap import shorten

from bythebook.domain.calibrations import Calibration, RiskPoint

_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 56, 60
_INK, _PALE, _ACCENT = "#1f2933", "#d5dbe1", "#0b7285"
_BAR = 20  # characters of a full bar


def risk_plot(title: str, fit: Calibration) -> str:
    """Plot false answers over answered questions, with the chosen threshold and the requested rate."""
    chosen = _at(fit)
    line = " ".join(
        f"{_x(point.answered):.1f},{_y(point.false_answers):.1f}" for point in fit.curve
    )
    rate = _y(fit.false_answer_rate)
    x, y = _x(chosen.answered), _y(chosen.false_answers)
    label = f"answers from {fit.answer_from:.2f}"
    side = ("end", x - 10) if chosen.answered > 0.5 else ("start", x + 10)
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    font = 'font-family="sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>Risk and coverage of {escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(
            _LEFT,
            26,
            f"{shorten(title, 40, placeholder=' …')}: what it answers, and what it should not",
            weight="bold",
        ),
        *_grid(),
        _line(_LEFT, rate, _WIDTH - _RIGHT, rate, _ACCENT, dash="5 4"),
        _text(_LEFT + 6, rate - 6, f"{fit.false_answer_rate:.0%} false answers", fill=_ACCENT),
        f'<polyline points="{line}" fill="none" stroke="{_INK}" stroke-width="2"/>',
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{_ACCENT}"/>',
        _text(side[1], y - 10, label, anchor=side[0], fill=_ACCENT),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def risk_lines(fit: Calibration, every: int = 4) -> Iterator[str]:
    """Write the curve as a few lines, including the chosen threshold."""
    chosen = _at(fit)
    points = sorted([*fit.curve[::every], chosen], key=lambda point: point.threshold)
    yield f"  {'from':>5}  {'answered':>8}  {'':<{_BAR}}  {'false answers':>13}"
    for point in points:
        mark = "  <- fitted" if point is chosen else ""
        yield (
            f"  {point.threshold:5.2f}  {point.answered:8.0%}  {_bar(point.answered)}"
            f"  {point.false_answers:13.0%}  {_bar(point.false_answers).rstrip()}{mark}"
        )


def _at(fit: Calibration) -> RiskPoint:
    """Read the curve at the fitted threshold."""
    above = [point for point in fit.curve if point.threshold >= fit.answer_from]
    near = above[0] if above else RiskPoint(1.0, 0.0, 0.0)
    return RiskPoint(fit.answer_from, near.answered, near.false_answers)


def _bar(share: float) -> str:
    return ("█" * round(share * _BAR)).ljust(_BAR)


def _grid() -> Iterator[str]:
    for step in range(0, 11, 2):
        share = step / 10
        yield _line(_LEFT, _y(share), _WIDTH - _RIGHT, _y(share), _PALE)
        yield _line(_x(share), _TOP, _x(share), _HEIGHT - _BOTTOM, _PALE)
        yield _text(_LEFT - 8, _y(share) + 4, f"{share:.0%}", anchor="end")
        yield _text(_x(share), _HEIGHT - _BOTTOM + 18, f"{share:.0%}", anchor="middle")
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    yield _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, "own questions answered", "middle")
    yield (
        f'<text x="20" y="{middle:.1f}" text-anchor="middle" fill="{_INK}" '
        f'transform="rotate(-90 20 {middle:.1f})">unanswerable questions answered</text>'
    )


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    fill: str = _INK,
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
