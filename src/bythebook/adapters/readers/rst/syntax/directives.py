"""Directives: the visible content of each kind, as nodes of a parsed document."""

import re
from collections.abc import Iterable
from typing import cast

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives.misc import Replace, Unicode
from docutils.statemachine import StringList

from bythebook.adapters.readers.rst.syntax.elements import make_code
from bythebook.adapters.readers.rst.syntax.roles import RoleContext

ADMONITIONS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "important": "Important",
    "caution": "Caution", "attention": "Attention", "danger": "Danger", "hint": "Hint",
    "error": "Error", "seealso": "See also", "todo": "Todo",
}  # fmt: skip
BOXES = frozenset({"admonition", "topic", "sidebar"})
VERSIONS = {
    "versionadded": "Added in version", "version-added": "Added in version",
    "versionchanged": "Changed in version", "version-changed": "Changed in version",
    "deprecated": "Deprecated since version", "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version", "version-removed": "Removed in version",
}  # fmt: skip


class _Options(dict[str, object]):
    """Accepts every option as written, so that an unknown option does not lose the content."""

    def __missing__(self, name: str) -> object:
        return _keep_as_written

    def __bool__(self) -> bool:
        return True


def _keep_as_written(value: str | None) -> str:
    return (value or "").strip()


class ContentDirective(Directive):
    """A directive with content; its first line is content too."""

    has_content = True
    option_spec = cast("None", _Options())

    @property
    def context(self) -> RoleContext:
        """The document's references and roles."""
        return cast("RoleContext", self.state.memo.inliner.context)

    @property
    def argument(self) -> str:
        """The text after the two colons."""
        return self.arguments[0] if self.arguments else ""

    def get_option(self, name: str) -> str:
        """Return an option's value, or an empty string."""
        return str(self.options.get(name) or "")

    def parse_content(self, lines: Iterable[str] | None = None) -> list[nodes.Node]:
        """Parse the content, or the given lines, as markup."""
        block = self.content if lines is None else StringList(list(lines), source="")
        holder = nodes.container()
        self.state.nested_parse(block, self.content_offset, holder, match_titles=True)
        return list(holder.children)

    def parse_line(
        self, words: str, kind: type[nodes.TextElement] = nodes.paragraph
    ) -> list[nodes.Node]:
        """Parse a line as a paragraph of inline markup."""
        if not words.strip():
            return []
        found, _messages = self.state.inline_text(words, self.lineno)
        return [kind(words, "", *found)]

    def make_target(self) -> list[nodes.Node]:
        """Make a link target from the directive's name option."""
        name = nodes.fully_normalize_name(self.get_option("name"))
        if not name:
            return []
        target = nodes.target("", "", names=[name])
        self.state.document.note_explicit_target(target, target)
        return [target]

    def run(self) -> list[nodes.Node]:
        """Return the content alone."""
        return [nodes.container("", *self.make_target(), *self.parse_content())]


class ArgumentDirective(ContentDirective):
    """A directive whose first lines are an invisible argument."""

    optional_arguments = 1
    final_argument_whitespace = True


class TitledDirective(ArgumentDirective):
    """A title and content."""

    def run(self) -> list[nodes.Node]:
        """Return the title as a separate paragraph, then the content."""
        title = self.parse_line(self.argument)
        box = nodes.container("", *self.make_target(), *title, *self.parse_content())
        if title and self.name.lower() in BOXES:
            box["admonition"] = self.get_option("class").split(" ")[0] or "note"
        return [box]


class AdmonitionDirective(ContentDirective):
    """A note, warning or similar: a label and content."""

    def run(self) -> list[nodes.Node]:
        """Return the label as a separate paragraph, then the content."""
        word = ADMONITIONS[self.name.lower()]
        label = nodes.paragraph(word, word)
        box = nodes.container("", label, *self.make_target(), *self.parse_content())
        box["admonition"] = self.name.lower()
        return [box]


class VersionDirective(ArgumentDirective):
    """When something was added, changed or deprecated."""

    def run(self) -> list[nodes.Node]:
        """Return the label with the version, then the content."""
        version, *rest = self.argument.split(None, 1) or [""]
        words = " ".join(rest)
        opening = f"{VERSIONS[self.name.lower()]} {version}".strip()
        title = self.parse_line(f"{opening}: {words}" if words.strip() else opening)
        return [nodes.container("", *title, *self.parse_content())]


class InvisibleDirective(ArgumentDirective):
    """A directive without visible content."""

    def run(self) -> list[nodes.Node]:
        """Return nothing."""
        return []


class LineBlockDirective(ContentDirective):
    """Lines that keep their breaks."""

    def run(self) -> list[nodes.Node]:
        """Return one line node per line."""
        block = nodes.line_block()
        for words in self.content:
            block += self.parse_line(words, nodes.line)
        return [block]


class SignatureDirective(ArgumentDirective):
    """The signature of a function, class or option, and its description."""

    def run(self) -> list[nodes.Node]:
        """Return the signature as code, then the content."""
        domain = self.name.partition(":")[0] if ":" in self.name else ""
        signature = "\n".join(line.strip() for line in self.argument.split("\n"))
        shown = make_code(signature, {"py": "python", "js": "javascript"}.get(domain, domain))
        return [nodes.container("", shown, *self.parse_content())]


class UnknownDirective(ArgumentDirective):
    """A directive of an extension; all its text is kept."""

    def run(self) -> list[nodes.Node]:
        """Return the argument and the content as text."""
        return [nodes.container("", *self.parse_line(self.argument), *self.parse_content())]


class RoleDirective(ArgumentDirective):
    """Defines a role for this document."""

    def run(self) -> list[nodes.Node]:
        """Record the base role and the format."""
        match = re.match(r"([\w.:+-]+)\s*(?:\(\s*([\w.:+-]+)\s*\))?", self.argument)
        if match:
            base = (match.group(2) or "emphasis").lower()
            form = (
                self.get_option("format") or ":".join(self.content).partition(":format:")[2].strip()
            )
            if base != match.group(1).lower():
                self.context.own[match.group(1).lower()] = (base, form)
        return []


class DefaultRoleDirective(ArgumentDirective):
    """Sets the role of interpreted text without an explicit role."""

    def run(self) -> list[nodes.Node]:
        """Record the role for the rest of the document."""
        self.context.default = self.argument.lower() or "emphasis"
        return []


class HighlightDirective(ArgumentDirective):
    """Sets the language of code without an explicit language."""

    def run(self) -> list[nodes.Node]:
        """Record the language for the following code."""
        return [nodes.comment("", "", highlight=self.argument)]


SUBSTITUTIONS: dict[str, type[Directive]] = {"replace": Replace, "unicode": Unicode}
