"""Directives that only lead elsewhere: tables of contents, headers, footers."""

from collections.abc import Iterable

from docutils import nodes

from bythebook.adapters.readers.rst.directives import Argued, Part
from bythebook.adapters.readers.rst.elements import navigation_words
from bythebook.adapters.readers.rst.order import entries_of
from bythebook.adapters.readers.rst.outline import TocTree, split_entry
from bythebook.domain.books import Link


class Contents(Argued):
    """A table of the document's own headings."""

    def run(self) -> list[nodes.Node]:
        """Give only its title: the headings are in the text."""
        shown = self.argument or "Contents"
        found = navigation_words([shown] if self.argument or "local" not in self.options else [])
        name = nodes.fully_normalize_name(shown)
        if not self.state.document.has_name(name):
            found["names"].append(name)
        self.state.document.note_implicit_target(found)  # as docutils, lest later ids differ
        return [found]


class Toc(Argued):
    """A table of other documents."""

    def run(self) -> list[nodes.Node]:
        """Give the titles that it shows, and the links behind them."""
        filled = [line.strip() for line in self.content if line.strip()]
        written = tuple(split_entry(line) for line in filled if not line.startswith("#"))
        titles = self.context.references.titles
        toctree = TocTree(written, glob="glob" in self.options, reverse="reversed" in self.options)
        found = entries_of(toctree, self.context.document_id, titles)
        targets = [target for _, target in written] if not toctree.glob else []
        words = [self.option("caption"), *(title or titles.get(name, "") for title, name in found)]
        links = [Link(name, name) for _, name in found if name]
        links += [Link(target, "") for target in self._missing(targets)]
        return [navigation_words([] if "hidden" in self.options else words, links)]

    def _missing(self, targets: list[str]) -> Iterable[str]:
        titles = self.context.references.titles
        for target in targets:
            alone = TocTree((("", target),))
            if any(not name for _, name in entries_of(alone, self.context.document_id, titles)):
                yield target


class Running(Part):
    """A header or footer of every page."""

    def run(self) -> list[nodes.Node]:
        """Give words that are left out."""
        return [navigation_words(["\n".join(self.content)])]
