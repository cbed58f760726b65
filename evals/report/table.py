"""Figures as a table, for a terminal and as Markdown."""

from collections.abc import Iterator

from evals.report.results import EvalReport, Figure

HEAD = ("figure", "ByTheBook", "±", "cosine", "examples")


def format_cells(figure: Figure) -> tuple[str, str, str, str, str]:
    """Format a figure as the cells of a row."""
    name = f"{figure.name} (less is better)" if figure.better == "lower" else figure.name
    error = f"{figure.error:.3f}" if figure.error else ""
    baseline = "" if figure.baseline is None else f"{figure.baseline:.3f}"
    value = f"{figure.value:.0f}" if figure.better == "neither" else f"{figure.value:.3f}"
    return name, value, error, baseline, f"{figure.examples:,}"


def render_text(report: EvalReport) -> Iterator[tuple[str, str]]:
    """Yield the lines of the table, each with its style."""
    yield _format_row(HEAD), "dim"
    for one in report.results:
        yield one.name, "bold"
        for figure in one.figures:
            yield _format_row(format_cells(figure)), ""
    for skipped in report.skipped:
        yield f"{skipped.name}: skipped, {skipped.reason}", "dim"


def _format_row(row: tuple[str, str, str, str, str]) -> str:
    name, *numbers = row
    return f"  {name:<54}" + "".join(f"{cell:>11}" for cell in numbers)


def render_markdown(report: EvalReport) -> str:
    """Render one Markdown table of all sets."""
    lines = [f"| set | {' | '.join(HEAD)} |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for one in report.results:
        lines += [f"| {one.name} | {' | '.join(format_cells(figure))} |" for figure in one.figures]
    lines += [f"\nSkipped: {skipped.name}, {skipped.reason}." for skipped in report.skipped]
    return "\n".join(lines) + "\n"
