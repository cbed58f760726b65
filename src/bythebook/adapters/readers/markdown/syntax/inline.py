"""Converts inline Markdown to text, and collects its links and anchors."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.syntax.html_fragments import LINE_BREAKING, read_html
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.books import Link

FindLink = Callable[[str], Link | None]
_EXPRESSION = re.compile(r"""\{\s*(?:'([^'{}]*)'|"([^"{}]*)")\s*\}""")
_TAG = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkdownInline:
    """Reads inline tokens as text; links are added to the page's links."""

    plain: PlainText
    find_link: FindLink
    expressions: bool  # whether {'text'} is shown as text, as in MDX

    def read_text(self, inline: Token, *, images: bool = True) -> str:
        """Return the text of inline markup, with or without its images."""
        children = inline.children or ()
        shown = children if images else [child for child in children if child.type != "image"]
        return "".join(self._iterate_parts(shown))

    def add_link(self, target: str) -> None:
        """Add a link if it should lead to a place in the book."""
        if (link := self.find_link(target)) is not None:
            self.plain.links.append(link)

    def _iterate_parts(self, children: Sequence[Token]) -> Iterator[str]:
        for child in children:
            match child.type:
                case "text":
                    yield self._read_words(child.content)
                case "code_inline":
                    yield child.content
                case "softbreak":
                    yield " "
                case "hardbreak":
                    yield "\n"
                case "image":
                    yield self.read_text(child)
                case "math_inline" | "math_inline_double":
                    yield f"${child.content}$"
                case "link_open":
                    self.add_link(str(child.attrs.get("href", "")))
                case "html_inline":
                    yield self._read_tag(child.content)
                case _:
                    pass

    def _read_words(self, text: str) -> str:
        if not self.expressions or "{" not in text:
            return text
        return _EXPRESSION.sub(lambda found: found.group(1) or found.group(2) or "", text)

    def _read_tag(self, tag: str) -> str:
        name = _TAG.match(tag)
        if name is None:
            return ""
        shown = ""
        if "=" in tag:
            found = read_html(tag)
            self.plain.anchors.extend(found.anchors)
            for target in found.links:
                self.add_link(target)
            shown = " ".join(block.text for block in found.blocks)
        return shown or ("\n" if name.group(1).lower() in LINE_BREAKING else "")
