"""Tables and glossaries written as directives."""

import csv
from collections.abc import Iterator

from docutils import nodes

from bythebook.adapters.readers.rst.directives import Argued, Part
from bythebook.adapters.readers.rst.references import term_anchor

_MOST_CELLS = 200_000


class Table(Argued):
    """A table drawn in text, with a title."""

    def run(self) -> list[nodes.Node]:
        """Give the title as a caption, then the table."""
        title = self.line(self.argument, nodes.caption)
        return [nodes.container("", *self.named(), *title, *self.parsed())]


class ListTable(Argued):
    """A table written as a list of lists."""

    def run(self) -> list[nodes.Node]:
        """Give a row per item; what is no such list stays as it is."""
        title = self.line(self.argument, nodes.caption)
        content = self.parsed()
        rows = [row for node in content for row in _rows_of(node)]
        others = [node for node in content if not isinstance(node, nodes.bullet_list)]
        table = [_table(rows)] if rows else []
        return [nodes.container("", *self.named(), *title, *table, *others)]


class CsvTable(Argued):
    """A table written as values parted by commas."""

    def run(self) -> list[nodes.Node]:
        """Give a row per line, the header first."""
        title = self.line(self.argument, nodes.caption)
        parts = (self.option("header").splitlines(), list(self.content))
        rows = [self._row(cells) for lines in parts for cells in self._read(lines)]
        return [nodes.container("", *self.named(), *title, _table(rows))]

    def _read(self, lines: list[str]) -> Iterator[list[str]]:
        delimiter = {"tab": "\t", "space": " "}.get(self.option("delim"), self.option("delim"))
        quote = self.option("quote")
        reader = csv.reader(
            [f"{line}\n" for line in lines],
            delimiter=delimiter if len(delimiter) == 1 else ",",
            quotechar=quote if len(quote) == 1 else '"',
            skipinitialspace=True,
        )
        try:
            for count, cells in enumerate(reader):
                yield cells
                if count > _MOST_CELLS:
                    return
        except csv.Error:
            yield from ([line] for line in lines)

    def _row(self, cells: list[str]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", *self.parsed(cell.split("\n"))) for cell in cells))


class Glossary(Part):
    """Terms, each with what it means."""

    def run(self) -> list[nodes.Node]:
        """Give a definition list in which several terms may share a meaning."""
        glossary = nodes.definition_list()
        terms: list[str] = []
        meaning: list[str] = []
        for line in [*self.content, "."]:
            if not line.strip() or line.startswith(" "):
                meaning.append(line)
                continue
            if terms and any(part.strip() for part in meaning):
                glossary += self._item(terms, meaning)
                terms, meaning = [], []
            if not line.startswith(".. "):
                terms.append(line)
        if terms[:-1]:
            glossary += self._item(terms[:-1], [])
        return [glossary]

    def _item(self, terms: list[str], meaning: list[str]) -> nodes.definition_list_item:
        item = nodes.definition_list_item()
        for words in terms:
            for term in self.line(words.split(" : ")[0], nodes.term):
                item += nodes.target("", "", ids=[term_anchor(term.astext())])
                item += term
        filled = [line for line in meaning if line.strip()]
        least = min((len(line) - len(line.lstrip()) for line in filled), default=0)
        item += nodes.definition("", *self.parsed(line[least:] for line in meaning))
        return item


def _rows_of(node: nodes.Node) -> Iterator[nodes.row]:
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


def _table(rows: list[nodes.row]) -> nodes.table:
    return nodes.table("", nodes.tgroup("", nodes.tbody("", *rows)))
