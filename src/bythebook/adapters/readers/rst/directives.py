"""Directives: what a reader sees of each kind, as elements of a parsed document."""

import re
from collections.abc import Iterable
from typing import cast

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives.misc import Replace, Unicode
from docutils.statemachine import StringList

from bythebook.adapters.readers.rst.elements import code_block
from bythebook.adapters.readers.rst.roles import RoleContext

ADMONITIONS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "important": "Important",
    "caution": "Caution", "attention": "Attention", "danger": "Danger", "hint": "Hint",
    "error": "Error", "seealso": "See also", "todo": "Todo",
}  # fmt: skip
VERSIONS = {
    "versionadded": "Added in version", "version-added": "Added in version",
    "versionchanged": "Changed in version", "version-changed": "Changed in version",
    "deprecated": "Deprecated since version", "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version", "version-removed": "Removed in version",
}  # fmt: skip


class _Options(dict[str, object]):
    """Takes every option as it is written: one that is not known must not lose the content."""

    def __missing__(self, name: str) -> object:
        return _as_written

    def __bool__(self) -> bool:
        return True


def _as_written(value: str | None) -> str:
    return (value or "").strip()


class Part(Directive):
    """A directive with content; its first line is content too."""

    has_content = True
    option_spec = cast("None", _Options())

    @property
    def context(self) -> RoleContext:
        """What the document's references need."""
        return cast("RoleContext", self.state.memo.inliner.context)

    @property
    def argument(self) -> str:
        """What stands after the two colons."""
        return self.arguments[0] if self.arguments else ""

    def option(self, name: str) -> str:
        """Give an option's value, or nothing."""
        return str(self.options.get(name) or "")

    def parsed(self, lines: Iterable[str] | None = None) -> list[nodes.Node]:
        """Read the content, or other lines, as markup."""
        block = self.content if lines is None else StringList(list(lines), source="")
        holder = nodes.container()
        self.state.nested_parse(block, self.content_offset, holder, match_titles=True)
        return list(holder.children)

    def line(self, words: str, kind: type[nodes.TextElement] = nodes.paragraph) -> list[nodes.Node]:
        """Read words as a paragraph of inline markup."""
        if not words.strip():
            return []
        found, _messages = self.state.inline_text(words, self.lineno)
        return [kind(words, "", *found)]

    def named(self) -> list[nodes.Node]:
        """Make a place of the directive's name, if it has one."""
        name = nodes.fully_normalize_name(self.option("name"))
        if not name:
            return []
        target = nodes.target("", "", names=[name])
        self.state.document.note_explicit_target(target, target)
        return [target]

    def run(self) -> list[nodes.Node]:
        """Give the content alone."""
        return [nodes.container("", *self.named(), *self.parsed())]


class Argued(Part):
    """A directive whose first lines are an argument that no reader sees."""

    optional_arguments = 1
    final_argument_whitespace = True


class Titled(Argued):
    """A title, then content."""

    def run(self) -> list[nodes.Node]:
        """Give the title as a paragraph of its own."""
        title = self.line(self.argument)
        return [nodes.container("", *self.named(), *title, *self.parsed())]


class Admonition(Part):
    """A note, a warning and their like: the word, then content."""

    def run(self) -> list[nodes.Node]:
        """Give the word as a paragraph of its own."""
        word = ADMONITIONS[self.name.lower()]
        return [nodes.container("", nodes.paragraph(word, word), *self.named(), *self.parsed())]


class Version(Argued):
    """When something was added, changed or given up."""

    def run(self) -> list[nodes.Node]:
        """Give the words and the version, then what changed."""
        version, *rest = self.argument.split(None, 1) or [""]
        words = " ".join(rest)
        opening = f"{VERSIONS[self.name.lower()]} {version}".strip()
        title = self.line(f"{opening}: {words}" if words.strip() else opening)
        return [nodes.container("", *title, *self.parsed())]


class Invisible(Argued):
    """What no reader sees."""

    def run(self) -> list[nodes.Node]:
        """Give nothing."""
        return []


class Lines(Part):
    """Lines that keep their breaks."""

    def run(self) -> list[nodes.Node]:
        """Give a line each."""
        block = nodes.line_block()
        for words in self.content:
            block += self.line(words, nodes.line)
        return [block]


class Signature(Argued):
    """A description of a function, a class, an option: how it is written, then content."""

    def run(self) -> list[nodes.Node]:
        """Give the signature as code."""
        domain = self.name.partition(":")[0] if ":" in self.name else ""
        signature = "\n".join(line.strip() for line in self.argument.split("\n"))
        shown = code_block(signature, {"py": "python", "js": "javascript"}.get(domain, domain))
        return [nodes.container("", shown, *self.parsed())]


class Unknown(Argued):
    """A directive of an extension: all its words are kept."""

    def run(self) -> list[nodes.Node]:
        """Give the argument and the content as text."""
        return [nodes.container("", *self.line(self.argument), *self.parsed())]


class Role(Argued):
    """A role of the document's own."""

    def run(self) -> list[nodes.Node]:
        """Remember what it is made of."""
        match = re.match(r"([\w.:+-]+)\s*(?:\(\s*([\w.:+-]+)\s*\))?", self.argument)
        if match:
            base = (match.group(2) or "emphasis").lower()
            form = self.option("format") or ":".join(self.content).partition(":format:")[2].strip()
            if base != match.group(1).lower():
                self.context.own[match.group(1).lower()] = (base, form)
        return []


class DefaultRole(Argued):
    """The role of interpreted text that names none."""

    def run(self) -> list[nodes.Node]:
        """Remember it for the rest of the document."""
        self.context.default = self.argument.lower() or "emphasis"
        return []


class Highlight(Argued):
    """The language of code that names none."""

    def run(self) -> list[nodes.Node]:
        """Remember it for what follows."""
        return [nodes.comment("", "", highlight=self.argument)]


SUBSTITUTIONS: dict[str, type[Directive]] = {"replace": Replace, "unicode": Unicode}
