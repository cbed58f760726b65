"""Figures as a table: for a terminal, and as Markdown."""

from collections.abc import Iterator

from bythebook.evaluate.measured import Figure
from bythebook.evaluate.suite import EvalReport

HEAD = ("figure", "ByTheBook", "±", "cosine", "examples")


def cells(figure: Figure) -> tuple[str, str, str, str, str]:
    """Write a figure as it stands in a row."""
    name = f"{figure.name} (less is better)" if figure.better == "lower" else figure.name
    error = number(figure.error) if figure.error else ""
    baseline = "" if figure.baseline is None else number(figure.baseline)
    value = f"{figure.value:.0f}" if figure.better == "neither" else number(figure.value)
    return name, value, error, baseline, f"{figure.examples:,}"


def number(value: float) -> str:
    """Write a share or an area with three digits."""
    return f"{value:.3f}"


def as_text(report: EvalReport) -> Iterator[tuple[str, str]]:
    """Give the lines of the table, each with its style."""
    yield _row(HEAD), "dim"
    for one in report.measured:
        yield one.name, "bold"
        for figure in one.figures:
            yield "  " + _row(cells(figure))[2:], ""
    for left in report.left_out:
        yield f"{left.name}: left out, {left.reason}", "dim"


def _row(row: tuple[str, str, str, str, str]) -> str:
    name, *numbers = row
    return f"  {name:<54}" + "".join(f"{cell:>11}" for cell in numbers)


def as_markdown(report: EvalReport) -> str:
    """Give one Markdown table over all sets."""
    lines = [f"| set | {' | '.join(HEAD)} |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for one in report.measured:
        lines += [f"| {one.name} | {' | '.join(cells(figure))} |" for figure in one.figures]
    lines += [f"\nLeft out: {left.name}, {left.reason}." for left in report.left_out]
    return "\n".join(lines) + "\n"
