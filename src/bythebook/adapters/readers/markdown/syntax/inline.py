"""Converts inline Markdown to text with marks, and collects its links and anchors."""

import re
from dataclasses import dataclass, field

from markdown_it.token import Token

from bythebook.adapters.readers.html.page.tags import INLINE_STYLES
from bythebook.adapters.readers.markdown.syntax.html_fragments import LINE_BREAKING, read_html
from bythebook.adapters.readers.markdown.syntax.markers import read_note_target
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichBuilder, RichText
from bythebook.adapters.readers.tex import convert_tex
from bythebook.domain.marks import Formula, Mark, NoteReference, Style, StyleKind

_EXPRESSION = re.compile(r"""\{\s*(?:'([^'{}]*)'|"([^"{}]*)")\s*\}""")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
_STYLES: dict[str, StyleKind] = {"em": "emphasis", "strong": "strong", "s": "deleted"}


@dataclass(slots=True)
class _OpenTags:
    """What is still open in one run of inline markup."""

    links: list[Mark | None] = field(default_factory=list)
    html: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MarkdownInline:
    """Reads inline tokens as text with marks; links are added to the page's links."""

    plain: PlainText
    targets: PageTargets
    expressions: bool  # whether {'text'} is shown as text, as in MDX

    def read_text(self, inline: Token, *, images: bool = True) -> RichText:
        """Return the text of inline markup, with or without its images."""
        children = inline.children or ()
        shown = children if images else [child for child in children if child.type != "image"]
        builder, opened = RichBuilder(), _OpenTags()
        for child in shown:
            self._read_token(child, builder, opened)
        return builder.finish()

    def read_image(self, image: Token) -> RichText:
        """Return the alternative text of an image, marked by it if it is kept."""
        words = RichText(self.read_text(image).text)
        picture = self.targets.add_picture(self.plain, str(image.attrs.get("src", "")))
        return words.mark(picture) if picture else words

    def add_link(self, target: str) -> Mark | None:
        """Add a link if it should lead to a place in the book; return the mark of its words."""
        if label := read_note_target(target):
            return NoteReference(0, 0, label)
        return self.targets.add_link(self.plain, target)

    def _read_token(self, token: Token, builder: RichBuilder, opened: _OpenTags) -> None:
        name, _, step = token.type.rpartition("_")
        if name in _STYLES:
            self._read_style(name, step, builder)
            return
        match token.type:
            case "text":
                builder.add(self._read_words(token.content))
            case "code_inline":
                builder.add(token.content, Style(0, 0, "code"))
            case "softbreak" | "hardbreak":
                builder.add(" " if token.type == "softbreak" else "\n")
            case "image":
                builder.add_rich(self.read_image(token))
            case "math_inline" | "math_inline_double":
                is_double = token.type.endswith("double")
                mathml = convert_tex(token.content, display=is_double)
                builder.add(f"${token.content}$", Formula(0, 0, mathml, is_double))
            case "link_open":
                builder.open()
                opened.links.append(self.add_link(str(token.attrs.get("href", ""))))
            case "link_close":
                builder.close(opened.links.pop() if opened.links else None)
            case "html_inline":
                self._read_tag(token.content, builder, opened)

    def _read_style(self, name: str, step: str, builder: RichBuilder) -> None:
        if step == "open":
            builder.open()
        else:
            builder.close(Style(0, 0, _STYLES[name]))

    def _read_words(self, text: str) -> str:
        if not self.expressions or "{" not in text:
            return text
        return _EXPRESSION.sub(lambda found: found.group(1) or found.group(2) or "", text)

    def _read_tag(self, tag: str, builder: RichBuilder, opened: _OpenTags) -> None:
        found = _TAG.match(tag)
        if found is None:
            return
        name = found.group(2).lower()
        if name in INLINE_STYLES or name == "a":
            self._read_html_mark(name, tag, builder, opened, closes=bool(found.group(1)))
            return
        shown = self._read_attributes(tag) if "=" in tag else RichText("")
        if shown:
            builder.add_rich(shown)
        elif name in LINE_BREAKING:
            builder.add("\n")

    def _read_html_mark(
        self, name: str, tag: str, builder: RichBuilder, opened: _OpenTags, *, closes: bool
    ) -> None:
        """Open or close a mark; tags that cross each other are passed over."""
        if not closes:
            found = read_html(tag)
            self.plain.add_anchor(*found.anchors)
            builder.open()
            opened.html.append(name)
            opened.links += [self.add_link(next(iter(found.links), ""))] if name == "a" else []
        elif opened.html[-1:] == [name]:
            opened.html.pop()
            is_link = name == "a" and opened.links
            style = Style(0, 0, INLINE_STYLES[name]) if name != "a" else None
            builder.close(opened.links.pop() if is_link else style)

    def _read_attributes(self, tag: str) -> RichText:
        """Read a tag by itself: its ids, its links, and the text of a picture."""
        found = read_html(tag)
        self.plain.add_anchor(*found.anchors)
        for target in found.links:
            self.add_link(target)
        builder = RichBuilder()
        for number, block in enumerate(found.blocks):
            builder.add(" " if number else "")
            builder.add_rich(self.targets.show_pictures(self.plain, block.text))
        return builder.finish()
