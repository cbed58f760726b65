"""Rewrites the tokens of a Markdown dialect to those of plain Markdown."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from bythebook.adapters.readers.markdown.syntax.guard import (
    MAX_NESTING,
    HostilePage,
    refuse_hostile,
    refuse_too_deep,
    refuse_unended,
)
from bythebook.adapters.readers.markdown.syntax.tokens import make_text, shift_levels

_MAX_DEPTH = 15  # blocks of the dialect inside each other; each level is parsed again
_MAX_BLOCKS = 20_000  # of the dialect in one page

# A rule returns what replaces a token; None keeps it.
BlockRule = Callable[[Token, "Rewriter"], Sequence[Token] | None]
InlineRule = Callable[[Token, "Rewriter"], Sequence[Token]]


def make_parser() -> MarkdownIt:
    """Make a Markdown parser that refuses hostile pages; a dialect adds its plugins."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.before("inline", "refuse_unended", refuse_unended)
    # Footnotes stay where they are written; their references show the same label.
    return parser.use(footnote_plugin).disable("footnote_tail")


@dataclass(slots=True)
class Rewriter:
    """One page: parses its text, and replaces tokens that Markdown does not have."""

    parser: MarkdownIt
    blocks: Mapping[str, BlockRule]  # by type of token
    inlines: Mapping[str, InlineRule]
    finish: Callable[[list[Token]], list[Token]] = list  # a last step for inline markup
    env: MutableMapping[str, Any] = field(default_factory=dict)  # what all parts of a page share
    depth: int = 0
    count: int = 0

    def parse(self, text: str) -> list[Token]:
        """Parse the text of a page or of a block inside it."""
        if self.depth > _MAX_DEPTH:
            raise HostilePage("Its blocks are nested too deeply.")
        refuse_hostile(text)
        tokens = self.parser.parse(text, self.env)
        refuse_too_deep(tokens)
        self.depth += 1
        try:
            return list(self._rewrite(tokens))
        finally:
            self.depth -= 1

    def parse_inline(self, text: str) -> list[Token]:
        """Parse the text of a title or a caption."""
        tokens = self.parser.parseInline(text.strip(), self.env)
        return [child for token in tokens for child in self._rewrite_children(token.children or ())]

    def _rewrite(self, tokens: Sequence[Token]) -> Iterator[Token]:
        label = ""  # of a footnote that begins here
        for token in tokens:
            if token.type == "inline":
                note = make_text(f"[{label}] ") if label else []
                label = ""
                yield token.copy(children=[*note, *self._rewrite_children(token.children or ())])
            elif token.type == "footnote_reference_open":
                label = str(token.meta["label"])
            elif (found := self._replace(token)) is not None:
                yield from shift_levels(found, token.level)
            else:
                yield token

    def _replace(self, token: Token) -> Sequence[Token] | None:
        rule = self.blocks.get(token.type)
        if rule is None:
            return None
        self.count += 1
        if self.count > _MAX_BLOCKS:
            raise HostilePage(f"It has more than {_MAX_BLOCKS:,} blocks of its dialect.")
        return rule(token, self)

    def _rewrite_children(self, children: Sequence[Token]) -> list[Token]:
        found: list[Token] = []
        for child in children:
            if rule := self.inlines.get(child.type):
                found.extend(rule(child, self))
            elif child.type == "footnote_ref":
                found.extend(self._read_reference(child))
            elif child.children:
                found.append(child.copy(children=self._rewrite_children(child.children)))
            else:
                found.append(child)
        return self.finish(found)

    def _read_reference(self, token: Token) -> list[Token]:
        """Show the label of a footnote, or a note that is written in the text itself."""
        if label := token.meta.get("label"):
            return make_text(f"[{label}]")
        note = self.env["footnotes"]["list"][token.meta["id"]]
        return [*make_text(" ("), *self._rewrite_children(note["tokens"]), *make_text(")")]
