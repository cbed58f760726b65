"""How the pages of a kind of book are written: the port between its syntax and the Markdown reader."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.pages import SourceFile, find_first_title
from bythebook.adapters.readers.markdown.syntax.blocks import tokenize
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour


class PageSyntax(Protocol):
    """Turns a page into Markdown tokens, whatever it is written in."""

    @property
    def flavour(self) -> Flavour:
        """The Markdown that HTML inside the page may contain."""
        ...

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page; raise HostilePage for one that would take forever."""
        ...

    def find_title(self, file: SourceFile) -> str | None:
        """Return the page's own title; None if it has none."""
        ...

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:
        """List everything outside a page that it shows: the page changes when they change."""
        ...


@dataclass(frozen=True, slots=True)
class MarkdownSyntax:
    """Markdown and MDX."""

    flavour: Flavour

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page."""
        return tokenize(file.body, self.flavour)

    def find_title(self, file: SourceFile) -> str | None:
        """Return the text of the first level-one heading."""
        return find_first_title(file.body)

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:  # noqa: ARG002 - of the port
        """List nothing: includes are in the body already."""
        return ()
