"""Writes the roles of MyST as words and links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter
from bythebook.adapters.readers.markdown.syntax.tokens import (
    make_code_span,
    make_emphasis,
    make_link,
    make_strong,
    make_text,
)
from bythebook.adapters.readers.myst.citations import Reference, cite
from bythebook.adapters.readers.myst.labels import Label, ProjectLabels, strip_markup

_NAMED = re.compile(r"\A(.+?)\s*(?<!\\)<([^<>]+)>\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"\s*(?:%s|\{number\})")
_ABBREVIATION = re.compile(r"\A(.+?)\s*\([^()]*\)\s*\Z", re.DOTALL)
_CODE = frozenset(
    {"code", "file", "kbd", "command", "samp", "program", "option", "envvar", "literal"}
)
_CODE_DOMAINS = ("py:", "c:", "cpp:", "js:", "func", "class", "meth", "mod", "attr", "obj", "data")
_HIDDEN = frozenset({"raw", "eval-rst", "html"})
_TEXTUAL = frozenset({"cite:t", "cite:ts", "cite:ct", "cite:cts", "citet", "citet:t"})


@dataclass(frozen=True, slots=True)
class RoleWriter:
    """Writes the roles of one page."""

    file: SourceFile
    labels: ProjectLabels
    references: Mapping[str, Reference]

    def write(self, token: Token, rewriter: Rewriter) -> Sequence[Token]:
        """Return what a reader sees of a role."""
        name = str(token.meta["name"]).lower()
        content = token.content.strip()
        match name:
            case "math":
                return [Token("math_inline", "math", 0, content=content, markup="$")]
            case "eq" | "ref" | "numref" | "prf:ref" | "doc" | "any":
                return self.write_reference(name, content, rewriter)
            case "strong" | "strong-text":
                return make_strong(rewriter.parse_inline(content))
            case "emphasis" | "em":
                return make_emphasis(rewriter.parse_inline(content))
            case "abbr":
                short = _ABBREVIATION.match(content)
                return make_text(short.group(1) if short else content)
        if name in _HIDDEN:
            return []
        if name.startswith(("cite", "footcite")):
            return make_text(cite(self.references, content, textual=name in _TEXTUAL))
        return self._write_other(name, content, rewriter)

    def _write_other(self, name: str, content: str, rewriter: Rewriter) -> Sequence[Token]:
        if name in _CODE or name.startswith(_CODE_DOMAINS):
            return [make_code_span(_cut_target(content).lstrip("~!"))]
        if name == "index":
            named = _NAMED.match(content)
            return rewriter.parse_inline(named.group(1)) if named else make_text(content)
        if name == "download" and (named := _NAMED.match(content)):
            return make_link(named.group(2), rewriter.parse_inline(named.group(1)))
        return rewriter.parse_inline(_cut_target(content))

    def write_reference(self, name: str, content: str, rewriter: Rewriter) -> list[Token]:
        """Write a cross reference as a link, with its own words or those of its target."""
        named = _NAMED.match(content)
        target = (named.group(2) if named else content).strip()
        label = self.find(target, is_page=name == "doc")
        if named and name == "numref" and _NUMBER.search(named.group(1)):
            words = label.words if label else _NUMBER.sub("", named.group(1))
            shown = make_text(words)
        elif named:
            shown = rewriter.parse_inline(named.group(1))
        else:
            shown = make_text(label.words if label else _write_unknown(target))
        return make_link(label.target if label else "", shown)

    def find(self, target: str, *, is_page: bool = False) -> Label | None:
        """Find what a reference leads to."""
        target = target.removeprefix("#")
        # A reference may lead to another project, by its name before a colon.
        bare = target.partition(":")[2]
        found = None if is_page else self.labels.labels.get(target)
        return (
            found
            or self.labels.find_page(self.file, target)
            or (self.labels.labels.get(bare) if bare else None)
            or (self.labels.find_page(self.file, bare) if bare else None)
        )


def _cut_target(content: str) -> str:
    named = _NAMED.match(content)
    return named.group(1) if named else content


def _write_unknown(target: str) -> str:
    """Write a target that is not in the book by its name."""
    words = target.rpartition("/")[2].rpartition(":")[2] or target
    return strip_markup(words.replace("_", " ").replace("-", " "))
