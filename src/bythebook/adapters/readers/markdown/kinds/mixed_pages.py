"""Folders whose pages are written in several syntaxes, recognised by the suffixes of their files."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour
from bythebook.adapters.readers.markdown.syntax.page_syntax import PageSyntax
from bythebook.adapters.readers.notebook.syntax import NotebookSyntax
from bythebook.adapters.readers.quarto.syntax import QuartoSyntax


@dataclass(frozen=True, slots=True)
class SyntaxBySuffix:
    """Parses notebooks and Quarto pages as such, and everything else as Markdown."""

    markdown: PageSyntax
    notebook: PageSyntax = field(default_factory=NotebookSyntax)
    quarto: PageSyntax = field(default_factory=QuartoSyntax)

    @property
    def flavour(self) -> Flavour:
        """The Markdown that HTML inside the pages may contain."""
        return self.markdown.flavour

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page."""
        tokens = self._choose(file).tokenize(file)
        # The table of contents of d2l-like books is navigation.
        return [token for token in tokens if token.type != "fence" or token.info.strip() != "toc"]

    def find_title(self, file: SourceFile) -> str | None:
        """Return the page's own title."""
        return self._choose(file).find_title(file)

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:
        """List what the page shows of others."""
        return self._choose(file).list_dependencies(file)

    def _choose(self, file: SourceFile) -> PageSyntax:
        match file.path.suffix.lower():
            case ".ipynb":
                return self.notebook
            case ".qmd" | ".rmd":
                return self.quarto
            case _:
                return self.markdown
