"""Parses notebooks that belong to no larger kind of book."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.markdown.pages import SourceFile, find_first_title
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter, make_parser
from bythebook.adapters.readers.markdown.syntax.tokens import make_formula
from bythebook.adapters.readers.notebook.cells import CELL_END, split_cells


@dataclass(frozen=True, slots=True)
class NotebookSyntax:
    """Markdown as Jupyter shows it."""

    flavour: Flavour = "commonmark"

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse the cells one by one: nothing left open in one reaches the next."""
        formulas = {"amsmath": lambda token, _rewriter: [make_formula(token.content)]}
        rewriter = Rewriter(_get_parser(), formulas, {})
        return [token for cell in split_cells(file.body) for token in rewriter.parse(cell)]

    def find_title(self, file: SourceFile) -> str | None:
        """Return the first heading of the first level."""
        return find_first_title(file.body.replace(CELL_END, "\n"))

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:  # noqa: ARG002 - of the port
        """List nothing: a notebook holds all that it shows."""
        return ()


@cache
def _get_parser() -> MarkdownIt:
    return make_parser().use(dollarmath_plugin, double_inline=True).use(amsmath_plugin)
