"""Runs of inline Markdown -> words, with the links and anchors in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.html import BREAKING, read_html
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.books import Link

LinkOf = Callable[[str], Link | None]
_EXPRESSION = re.compile(r"""\{\s*(?:'([^'{}]*)'|"([^"{}]*)")\s*\}""")
_TAG = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Inline:
    """Reads inline tokens into words; what leads somewhere goes to the page's links."""

    plain: PlainText
    link_of: LinkOf
    expressions: bool  # whether {'text'} is shown as text, as MDX does

    def text(self, inline: Token, *, images: bool = True) -> str:
        """Give the words of a run of inline markup, with or without those of its images."""
        children = inline.children or ()
        shown = children if images else [child for child in children if child.type != "image"]
        return "".join(self._parts(shown))

    def note(self, target: str) -> None:
        """Keep a link if it should lead to a place in the book."""
        if (link := self.link_of(target)) is not None:
            self.plain.links.append(link)

    def _parts(self, children: Sequence[Token]) -> Iterator[str]:
        for child in children:
            match child.type:
                case "text":
                    yield self._words(child.content)
                case "code_inline":
                    yield child.content
                case "softbreak":
                    yield " "
                case "hardbreak":
                    yield "\n"
                case "image":
                    yield self.text(child)
                case "math_inline" | "math_inline_double":
                    yield f"${child.content}$"
                case "link_open":
                    self.note(str(child.attrs.get("href", "")))
                case "html_inline":
                    yield self._tag(child.content)
                case _:
                    pass

    def _words(self, text: str) -> str:
        if not self.expressions or "{" not in text:
            return text
        return _EXPRESSION.sub(lambda found: found.group(1) or found.group(2) or "", text)

    def _tag(self, tag: str) -> str:
        name = _TAG.match(tag)
        if name is None:
            return ""
        shown = ""
        if "=" in tag:
            found = read_html(tag)
            self.plain.anchors.extend(found.anchors)
            for target in found.links:
                self.note(target)
            shown = " ".join(block.text for block in found.blocks)
        return shown or ("\n" if name.group(1).lower() in BREAKING else "")
