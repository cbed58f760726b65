"""Directives for navigation: tables of contents, headers, footers."""

from collections.abc import Iterable

from docutils import nodes

from bythebook.adapters.readers.rst.order import resolve_entries
from bythebook.adapters.readers.rst.outline import TocTree, split_entry
from bythebook.adapters.readers.rst.syntax.directives import ArgumentDirective, ContentDirective
from bythebook.adapters.readers.rst.syntax.elements import make_navigation
from bythebook.domain.books import Link


class ContentsDirective(ArgumentDirective):
    """A table of the document's own headings."""

    def run(self) -> list[nodes.Node]:
        """Return only its title; the headings are part of the text."""
        shown = self.argument or "Contents"
        found = make_navigation([shown] if self.argument or "local" not in self.options else [])
        name = nodes.fully_normalize_name(shown)
        if not self.state.document.has_name(name):
            found["names"].append(name)
        # As docutils does; otherwise later ids would differ.
        self.state.document.note_implicit_target(found)
        return [found]


class ToctreeDirective(ArgumentDirective):
    """A table of other documents."""

    def run(self) -> list[nodes.Node]:
        """Return the listed titles and their links."""
        filled = [line.strip() for line in self.content if line.strip()]
        written = tuple(split_entry(line) for line in filled if not line.startswith("#"))
        titles = self.context.references.titles
        toctree = TocTree(written, glob="glob" in self.options, reverse="reversed" in self.options)
        found = resolve_entries(toctree, self.context.document_id, titles)
        targets = [target for _, target in written] if not toctree.glob else []
        words = [
            self.get_option("caption"),
            *(title or titles.get(name, "") for title, name in found),
        ]
        links = [Link(name, name) for _, name in found if name]
        links += [Link(target, "") for target in self._find_missing(targets)]
        return [make_navigation([] if "hidden" in self.options else words, links)]

    def _find_missing(self, targets: list[str]) -> Iterable[str]:
        titles = self.context.references.titles
        for target in targets:
            alone = TocTree((("", target),))
            if any(
                not name for _, name in resolve_entries(alone, self.context.document_id, titles)
            ):
                yield target


class RunningTextDirective(ContentDirective):
    """A header or footer of every page."""

    def run(self) -> list[nodes.Node]:
        """Return text that is left out."""
        return [make_navigation(["\n".join(self.content)])]
