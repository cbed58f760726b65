"""Directives with verbatim content: code, formulas, text in other formats."""

from docutils import nodes

from bythebook.adapters.readers.rst.syntax.directives import ArgumentDirective, ContentDirective
from bythebook.adapters.readers.rst.syntax.elements import make_code


class CodeDirective(ArgumentDirective):
    """Code: a language, then verbatim lines."""

    def run(self) -> list[nodes.Node]:
        """Return the code, including words after the language."""
        first, _, rest = self.argument.partition("\n")
        language, _, more = first.partition(" ")
        lines = [line for line in (more, rest) if line.strip()]
        text = "\n".join([*lines, *self.content])
        caption, lit = self.get_option("caption"), self.get_option("emphasize-lines")
        return [*self.make_target(), make_code(text, language, caption, lit)]


class CodeTabDirective(ArgumentDirective):
    """A tab of code: a language, a title and verbatim lines."""

    def run(self) -> list[nodes.Node]:
        """Return the title as a paragraph, then the code."""
        language, _, title = self.argument.partition(" ")
        words = self.parse_line(title or language)
        return [nodes.container("", *words, make_code("\n".join(self.content), language))]


class PromptDirective(ArgumentDirective):
    """Commands after a prompt, or the source of a diagram."""

    def run(self) -> list[nodes.Node]:
        """Return the lines as code."""
        language = "bash" if self.name == "prompt" else self.name
        caption = self.get_option("caption")
        return [make_code("\n".join(self.content) or self.argument, language, caption)]


class MathDirective(ArgumentDirective):
    """A formula."""

    def run(self) -> list[nodes.Node]:
        """Return the formula from the argument and the content."""
        parts = (self.argument, "\n".join(self.content))
        formula = "\n\n".join(part for part in parts if part)
        return [*self.make_target(), nodes.math_block(formula, formula)]


class ParsedLiteralDirective(ContentDirective):
    """Verbatim lines that contain inline markup."""

    def run(self) -> list[nodes.Node]:
        """Return the lines as code."""
        text = "\n".join(self.content)
        found, _messages = self.state.inline_text(text, self.lineno)
        return [nodes.literal_block(text, "", *found)]


class RawDirective(ArgumentDirective):
    """Text in another format."""

    def run(self) -> list[nodes.Node]:
        """Return the text; only HTML has visible text."""
        text = "\n".join(self.content)
        return [nodes.raw(text, text, format=self.argument.lower())]
