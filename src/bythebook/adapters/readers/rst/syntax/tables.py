"""Directives for tables and glossaries."""

import csv
from collections.abc import Iterator

from docutils import nodes

from bythebook.adapters.readers.rst.lines import measure_indent
from bythebook.adapters.readers.rst.references import make_term_anchor
from bythebook.adapters.readers.rst.syntax.directives import ArgumentDirective, ContentDirective

_MAX_CELLS = 200_000


class TableDirective(ArgumentDirective):
    """A drawn table with a title."""

    def run(self) -> list[nodes.Node]:
        """Return the title as a caption, then the table."""
        title = self.parse_line(self.argument, nodes.caption)
        return [nodes.container("", *self.make_target(), *title, *self.parse_content())]


class ListTableDirective(ArgumentDirective):
    """A table written as a list of lists."""

    def run(self) -> list[nodes.Node]:
        """Return a row per item; other content is unchanged."""
        title = self.parse_line(self.argument, nodes.caption)
        content = self.parse_content()
        rows = [row for node in content for row in _iterate_rows(node)]
        others = [node for node in content if not isinstance(node, nodes.bullet_list)]
        table = [_make_table(rows)] if rows else []
        return [nodes.container("", *self.make_target(), *title, *table, *others)]


class CsvTableDirective(ArgumentDirective):
    """A table written as comma-separated values."""

    def run(self) -> list[nodes.Node]:
        """Return a row per line, the header first."""
        title = self.parse_line(self.argument, nodes.caption)
        parts = (self.get_option("header").splitlines(), list(self.content))
        rows = [self._make_row(cells) for lines in parts for cells in self._read_rows(lines)]
        return [nodes.container("", *self.make_target(), *title, _make_table(rows))]

    def _read_rows(self, lines: list[str]) -> Iterator[list[str]]:
        delimiter = {"tab": "\t", "space": " "}.get(
            self.get_option("delim"), self.get_option("delim")
        )
        quote = self.get_option("quote")
        reader = csv.reader(
            [f"{line}\n" for line in lines],
            delimiter=delimiter if len(delimiter) == 1 else ",",
            quotechar=quote if len(quote) == 1 else '"',
            skipinitialspace=True,
        )
        try:
            for count, cells in enumerate(reader):
                yield cells
                if count > _MAX_CELLS:
                    return
        except csv.Error:
            yield from ([line] for line in lines)

    def _make_row(self, cells: list[str]) -> nodes.row:
        return nodes.row(
            "", *(nodes.entry("", *self.parse_content(cell.split("\n"))) for cell in cells)
        )


class GlossaryDirective(ContentDirective):
    """Terms and their definitions."""

    def run(self) -> list[nodes.Node]:
        """Return a definition list; several terms may share a definition."""
        glossary = nodes.definition_list()
        terms: list[str] = []
        meaning: list[str] = []
        for line in [*self.content, "."]:
            if not line.strip() or line.startswith(" "):
                meaning.append(line)
                continue
            if terms and any(part.strip() for part in meaning):
                glossary += self._make_item(terms, meaning)
                terms, meaning = [], []
            if not line.startswith(".. "):
                terms.append(line)
        if terms[:-1]:
            glossary += self._make_item(terms[:-1], [])
        return [glossary]

    def _make_item(self, terms: list[str], meaning: list[str]) -> nodes.definition_list_item:
        item = nodes.definition_list_item()
        for words in terms:
            for term in self.parse_line(words.split(" : ")[0], nodes.term):
                item += nodes.target("", "", ids=[make_term_anchor(term.astext())])
                item += term
        filled = [line for line in meaning if line.strip()]
        least = min(map(measure_indent, filled), default=0)
        item += nodes.definition("", *self.parse_content(line[least:] for line in meaning))
        return item


def _iterate_rows(node: nodes.Node) -> Iterator[nodes.row]:
    if not isinstance(node, nodes.bullet_list):
        return
    for item in node.children:
        cells: list[nodes.Node] = []
        for part in item.children:
            if isinstance(part, nodes.bullet_list):
                cells += [nodes.entry("", *cell.children) for cell in part.children]
            else:
                cells.append(nodes.entry("", part))
        yield nodes.row("", *cells)


def _make_table(rows: list[nodes.row]) -> nodes.table:
    return nodes.table("", nodes.tgroup("", nodes.tbody("", *rows)))
