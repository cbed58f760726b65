"""Markdown and MDX text -> plain text with typed blocks at exact offsets."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.markdown.guard import (
    DEEPEST,
    refuse_hostile,
    refuse_open,
    refuse_too_deep,
    refuse_unended,
)
from bythebook.adapters.readers.markdown.html import HtmlBlock, read_html
from bythebook.adapters.readers.markdown.inline import Inline, LinkOf
from bythebook.adapters.readers.markdown.mdx import Flavour, without_mdx
from bythebook.adapters.readers.plain_text import PlainText

_HEADING_ID = re.compile(r"(?:\{#([\w:.-]+)[^{}]*\}|<!--\s*#([\w:.-]+)\s*-->)\s*$")
_SHOWN_ID = re.compile(r"\{#[\w:.-]+[^{}]*\}\s*$")
_NAME = re.compile(r"[\w.-]+")
_TASK = re.compile(r"^\[([ xX])\](?=\s+\S)")
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*")
_CODE_TITLE = re.compile(r"""title\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def parse_markdown(source: str, flavour: Flavour = "mdx") -> PlainText:
    """Read Markdown as its reader sees it: no markup, no imports, every word."""
    return plain_text(markdown_tokens(source, flavour), flavour)


def markdown_tokens(source: str, flavour: Flavour) -> list[Token]:
    """Parse a page; hostile ones are refused before they take forever."""
    text = without_mdx(source, flavour)
    refuse_hostile(text)
    tokens = _parser(flavour).parse(text)
    refuse_too_deep(tokens)
    return tokens


def plain_text(
    tokens: Sequence[Token],
    flavour: Flavour,
    link_of: LinkOf = lambda _target: None,
    title: str | None = None,
) -> PlainText:
    """Make plain text of a parsed page, under a heading of its title if one is given."""
    plain = PlainText()
    if title is not None:
        plain.add_heading(title, 1)
    _Walk(tokens, plain, flavour, link_of).blocks()
    return plain


@cache
def _parser(flavour: Flavour) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    parser = parser.use(dollarmath_plugin, allow_space=False, double_inline=True)
    parser.core.ruler.before("inline", "refuse_unended", refuse_unended)
    if flavour == "mdx":
        return parser.disable("code")  # MDX has no indented code: it indents what components hold
    if flavour == "commonmark":
        return parser.use(deflist_plugin).disable("math_inline")
    return parser


class _Walk:
    """One pass over the tokens of a page."""

    def __init__(
        self, tokens: Sequence[Token], plain: PlainText, flavour: Flavour, link_of: LinkOf
    ) -> None:
        self.tokens = tokens
        self.plain = plain
        self.flavour = flavour
        self.inline = Inline(plain, link_of, expressions=flavour == "mdx")
        self.at = 0
        self.last_table_end = _last_table_end(tokens)
        self.readers: dict[str, Callable[[Token], None]] = {
            "heading_open": self._heading,
            "paragraph_open": self._paragraph,
            "bullet_list_open": self._list,
            "ordered_list_open": self._list,
            "dl_open": self._list,
            "table_open": self._table,
            "fence": self._code,
            "code_block": self._code,
            "math_block": self._formula,
            "math_block_label": self._formula,
            "html_block": self._html,
        }

    def blocks(self) -> None:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if reader := self.readers.get(token.type):
                reader(token)

    def _until(self, closing: str, level: int) -> Iterator[Token]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == closing and token.level == level:
                return
            yield token

    def _heading(self, token: Token) -> None:
        inline = self.tokens[self.at]
        mark = _HEADING_ID.search(inline.content)
        anchor = (mark.group(1) or mark.group(2)) if mark else None
        title = _SHOWN_ID.sub("", self.inline.text(inline))
        self.plain.add_heading(title, int(token.tag[1]), anchor)
        self.at += 2

    def _paragraph(self, _token: Token) -> None:
        inline = self.tokens[self.at]
        children = [child for child in inline.children or () if child.type != "softbreak"]
        only_images = bool(children) and all(child.type == "image" for child in children)
        text = self.inline.text(inline, images=only_images)
        if not only_images and any(child.type == "image" for child in children):
            text = re.sub("  +", " ", text)
        if alert := _ALERT.match(text):
            self.plain.add("paragraph", alert.group(1).capitalize())
            text = text[alert.end() :]
        self.plain.add("caption" if only_images else "paragraph", text)
        for image in () if only_images else (c for c in children if c.type == "image"):
            self.plain.add("caption", self.inline.text(image))  # seen by its words, not in the line
        self.at += 1

    def _list(self, token: Token) -> None:
        """Items become lines of one block; code, formulas and tables inside an item part it."""
        ordered = token.type == "ordered_list_open"
        items: list[str] = []
        for inner in self._until(token.type.replace("open", "close"), token.level):
            if inner.type == "inline":
                items.append(_TASK.sub(_ticked, self.inline.text(inner)))
            elif inner.type == "html_block":
                for block in self._html_blocks(inner):
                    if block.kind in {"paragraph", "list", "heading"}:
                        items.append(block.text)
                    else:
                        items = self._end_list(items, ordered=ordered)
                        self._add(block)
            elif inner.type in _PARTING:
                items = self._end_list(items, ordered=ordered)
                self.readers[inner.type](inner)
        self._end_list(items, ordered=ordered)

    def _end_list(self, items: Sequence[str], *, ordered: bool) -> list[str]:
        self.plain.add("list", "\n".join(item for item in items if item.strip()), ordered=ordered)
        return []

    def _table(self, token: Token) -> None:
        rows: list[str] = []
        cells: list[str] = []
        for inner in self._until("table_close", token.level):
            if inner.type == "inline":
                cells.append(self.inline.text(inner).replace("\n", " "))
            elif inner.type == "tr_close":
                rows.append(" | ".join(cells))
                self._name_row(cells)
                cells = []
        self.plain.add("table", "\n".join(rows))

    def _name_row(self, cells: Sequence[str]) -> None:
        """Let links lead to a row by its name: components of MDX give rows such ids."""
        if self.flavour == "mdx" and cells and _NAME.fullmatch(cells[0]):
            self.plain.anchors.append(cells[0])

    def _code(self, token: Token) -> None:
        info = token.info.strip()
        if title := _CODE_TITLE.search(info):
            self.plain.add("caption", title.group(1) or title.group(2) or "")
        language = re.match(r"[\w+#-]*", info)
        # Lines that mdBook folds away ("# use std;") stay: its readers can unfold them.
        self.plain.add("code", token.content, language=language.group() if language else "")

    def _formula(self, token: Token) -> None:
        self.plain.add("formula", token.content)

    def _html(self, token: Token) -> None:
        for block in self._html_blocks(token):
            self._add(block)

    def _html_blocks(self, token: Token) -> Sequence[HtmlBlock]:
        words = self._marked if self.flavour == "mdx" else None
        fragment = self._whole_table(token)
        refuse_open(fragment)
        found = read_html(fragment, words)
        self.plain.anchors.extend(found.anchors)
        for target in found.links:
            self.inline.note(target)
        return found.blocks

    def _whole_table(self, token: Token) -> str:
        """Give HTML with what stands up to the end of a table that it opens."""
        parts = [token.content]
        parser = _parser(self.flavour)
        missing = _open_tables(token.content)
        while missing > 0 and self.at <= self.last_table_end:
            inner = self.tokens[self.at]
            self.at += 1
            is_html = inner.type == "html_block"
            parts.append(
                inner.content if is_html else parser.renderer.render([inner], parser.options, {})
            )
            missing += _open_tables(inner.content) if is_html else 0
        return "".join(parts)

    def _marked(self, text: str) -> str:
        """Give the words of Markdown inside of HTML."""
        tokens = _parser(self.flavour).parseInline(text)
        return " ".join(self.inline.text(token) for token in tokens)

    def _add(self, block: HtmlBlock) -> None:
        if block.kind == "heading":
            self.plain.add_heading(block.text, block.level, block.anchor)
        else:
            self.plain.add(block.kind, block.text, ordered=block.ordered, language=block.language)


_PARTING = frozenset({"fence", "code_block", "math_block", "math_block_label", "table_open"})


def _open_tables(html: str) -> int:
    lower = html.lower()
    return lower.count("<table") - lower.count("</table")


def _last_table_end(tokens: Sequence[Token]) -> int:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].type == "html_block" and "</table" in tokens[at].content.lower():
            return at
    return -1


def _ticked(task: re.Match[str]) -> str:
    return "\N{BALLOT BOX}" if task.group(1) == " " else "\N{BALLOT BOX WITH CHECK}"
