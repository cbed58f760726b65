"""Tables with borders: every cell is a field in a grid of lines."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.pdf.extraction import Rule, Run
from bythebook.adapters.readers.pdf.page.rows import Row, join_runs, make_rows
from bythebook.adapters.readers.pdf.page.tables import Table, TableRow

_TOUCH = 3.0  # points
_MAX_RULES = 600
_MAX_FIELDS = 20_000
_MIN_FILLED = 0.4  # share of rows with several cells that contain text


@dataclass(slots=True)
class _RuleGroup:
    """Lines that touch each other, and the box around them."""

    rules: list[Rule]
    box: Rule

    def touches(self, rule: Rule) -> bool:
        """Return True if a line touches the box."""
        box = self.box
        apart = rule.left > box.right + _TOUCH or rule.right < box.left - _TOUCH
        return not (apart or rule.low > box.high + _TOUCH or rule.high < box.low - _TOUCH)


def find_grids(runs: Sequence[Run], rules: Sequence[Rule]) -> list[tuple[Table, set[int]]]:
    """Find the tables of a page that have borders, each with the numbers of its runs."""
    found: list[tuple[Table, set[int]]] = []
    for group in _group_rules(rules[:_MAX_RULES]):
        columns = _merge_edges(
            [group.box.left, group.box.right, *(rule.left for rule in _find_vertical(group))]
        )
        heights = _merge_edges(
            [group.box.low, group.box.high, *(rule.low for rule in _find_horizontal(group))]
        )
        if len(columns) < 3 or len(heights) < 3 or len(columns) * len(heights) > _MAX_FIELDS:
            continue
        inside = {number for number, run in enumerate(runs) if _is_inside(run, group.box)}
        inside -= {number for _, others in found for number in others}
        table = _make_table([runs[number] for number in sorted(inside)], columns, heights)
        if table is not None:
            found.append((table, inside))
    return found


def _group_rules(rules: Sequence[Rule]) -> list[_RuleGroup]:
    groups: list[_RuleGroup] = []
    for rule in sorted(rules, key=lambda rule: (-rule.high, rule.left)):
        touched = [group for group in groups if group.touches(rule)]
        merged = _RuleGroup([rule], rule)
        for group in touched:
            merged.rules.extend(group.rules)
            merged.box = _merge_boxes(merged.box, group.box)
        groups = [group for group in groups if group not in touched]
        groups.append(merged)
    return groups


def _merge_boxes(one: Rule, two: Rule) -> Rule:
    return Rule(
        min(one.left, two.left), max(one.right, two.right),
        min(one.low, two.low), max(one.high, two.high),
    )  # fmt: skip


def _find_vertical(group: _RuleGroup) -> Iterator[Rule]:
    return (rule for rule in group.rules if rule.high - rule.low > rule.right - rule.left)


def _find_horizontal(group: _RuleGroup) -> Iterator[Rule]:
    return (rule for rule in group.rules if rule.right - rule.left > rule.high - rule.low)


def _merge_edges(edges: Iterable[float]) -> list[float]:
    """Merge lines that are drawn next to each other."""
    places: list[float] = []
    for edge in sorted(edges):
        if not places or edge - places[-1] > _TOUCH:
            places.append(edge)
    return places


def _is_inside(run: Run, box: Rule) -> bool:
    middle, height = (run.left + run.right) / 2, run.base + 0.3 * run.size
    return box.left < middle < box.right and box.low < height < box.high


def _make_table(
    runs: Sequence[Run], columns: Sequence[float], heights: Sequence[float]
) -> Table | None:
    """Put runs into the fields of a grid; return None if most of it is empty, as in a chart."""
    fields: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        column = sum(edge < run.left + _TOUCH for edge in columns) - 1
        row = sum(edge > run.base + 0.3 * run.size for edge in heights)
        fields.setdefault((row, min(max(column, 0), len(columns) - 2)), []).append(run)
    if any(_hides_more_cells(fields, row) for row in {row for row, _ in fields}):
        return None
    rows = sorted({row for row, _ in fields})
    table = []
    for row in rows:
        cells = [fields.get((row, column), []) for column in range(len(columns) - 1)]
        held = [run for cell in cells for run in cell]
        if held:
            first = max(held, key=lambda run: run.base)
            texts = tuple(" ".join(join_runs(r.runs) for r in make_rows(cell)) for cell in cells)
            table.append(TableRow(Row(first.base, first.size, held), texts))
    several = sum(sum(bool(cell) for cell in row.cells) > 1 for row in table)
    if len(table) < 2 or several < max(2, _MIN_FILLED * (len(heights) - 1)):
        return None
    return Table(tuple(table))


def _hides_more_cells(fields: dict[tuple[int, int], list[Run]], row: int) -> bool:
    """Return True if one row of fields contains several rows or columns of a less ruled table."""
    cells = [make_rows(runs) for (number, _), runs in fields.items() if number == row]
    apart = sum(len(line.runs) > 1 for cell in cells for line in cell)
    if apart > 0.3 * sum(len(cell) for cell in cells):
        return True
    bases = [{round(line.base) for line in cell} for cell in cells]
    return any(
        len(one & two) > 2 and len(one & two) > 0.8 * max(len(one), len(two))
        for number, one in enumerate(bases)
        for two in bases[number + 1 : number + 3]
    )
