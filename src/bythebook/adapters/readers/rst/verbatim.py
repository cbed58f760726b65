"""Directives whose content is no markup: code, formulas, text of other formats."""

from docutils import nodes

from bythebook.adapters.readers.rst.directives import Argued, Part
from bythebook.adapters.readers.rst.elements import code_block


class Code(Argued):
    """Code: a language, then lines as they are."""

    def run(self) -> list[nodes.Node]:
        """Give the code; words after the language belong to it."""
        first, _, rest = self.argument.partition("\n")
        language, _, more = first.partition(" ")
        lines = [line for line in (more, rest) if line.strip()]
        text = "\n".join([*lines, *self.content])
        return [*self.named(), code_block(text, language, self.option("caption"))]


class CodeTab(Argued):
    """A tab of code: a language, a title, lines as they are."""

    def run(self) -> list[nodes.Node]:
        """Give the title as a paragraph, then the code."""
        language, _, title = self.argument.partition(" ")
        words = self.line(title or language)
        return [nodes.container("", *words, code_block("\n".join(self.content), language))]


class Prompt(Argued):
    """Commands after a prompt; or a drawing in a language of its own."""

    def run(self) -> list[nodes.Node]:
        """Give the lines as code."""
        language = "bash" if self.name == "prompt" else self.name
        caption = self.option("caption")
        return [code_block("\n".join(self.content) or self.argument, language, caption)]


class Math(Argued):
    """A formula."""

    def run(self) -> list[nodes.Node]:
        """Give the formula, whichever lines it stands on."""
        parts = (self.argument, "\n".join(self.content))
        formula = "\n\n".join(part for part in parts if part)
        return [*self.named(), nodes.math_block(formula, formula)]


class Parsed(Part):
    """Lines as they are, with inline markup in them."""

    def run(self) -> list[nodes.Node]:
        """Give the lines as code."""
        text = "\n".join(self.content)
        found, _messages = self.state.inline_text(text, self.lineno)
        return [nodes.literal_block(text, "", *found)]


class Raw(Argued):
    """Text of another format."""

    def run(self) -> list[nodes.Node]:
        """Give the text; only HTML has words that a reader sees."""
        text = "\n".join(self.content)
        return [nodes.raw(text, text, format=self.argument.lower())]
