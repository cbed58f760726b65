"""Markdown and MDX text -> plain text with typed blocks at exact offsets."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.mdx import without_mdx
from bythebook.domain.books import Block, BlockKind

_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING_ID = re.compile(r"(?:\{#([\w:.-]+)\}|<!--\s*#([\w:.-]+)\s*-->)\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading found in a text."""

    title: str
    level: int
    anchor: str | None  # as the author set it, or none
    start: int


@dataclass(slots=True)
class PlainText:
    """Plain text as it grows, block by block."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self.parts)

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        ordered: bool = False,
        language: str = "",
    ) -> None:
        """Append a block, parted from the one before by a blank line."""
        if not text.strip():
            return
        text = text.strip("\n") if kind == "code" else text.strip()
        lead = "\n\n" if self.parts else ""
        start = self.length + len(lead)
        self.parts.append(lead + text)
        self.length = start + len(text)
        self.blocks.append(Block(kind, start, self.length, level, ordered, language))


def parse_markdown(source: str) -> PlainText:
    """Read Markdown as its reader sees it: no markup, no imports, every word."""
    plain = PlainText()
    tokens = _parser().parse(without_mdx(source))
    _Walk(tokens, plain).blocks()
    return plain


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parser.use(dollarmath_plugin, allow_space=False, double_inline=True)


class _Walk:
    """One pass over the tokens of a page."""

    def __init__(self, tokens: Sequence[Token], plain: PlainText) -> None:
        self.tokens = tokens
        self.plain = plain
        self.at = 0

    def blocks(self) -> None:
        readers: dict[str, Callable[[Token], None]] = {
            "heading_open": self._heading,
            "paragraph_open": self._paragraph,
            "bullet_list_open": self._list,
            "ordered_list_open": self._list,
            "table_open": self._table,
            "fence": self._code,
            "code_block": self._code,
            "math_block": self._formula,
            "math_block_label": self._formula,
            "html_block": self._html,
        }
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if reader := readers.get(token.type):
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
        title = inline_text(inline)
        mark = _HEADING_ID.search(inline.content)
        anchor = (mark.group(1) or mark.group(2)) if mark else None
        title = _HEADING_ID.sub("", title).strip()
        if title:
            level = int(token.tag[1])
            self.plain.add("heading", title, level=level)
            self.plain.headings.append(Heading(title, level, anchor, self.plain.blocks[-1].start))
        self.at += 2

    def _paragraph(self, _token: Token) -> None:
        inline = self.tokens[self.at]
        children = [child for child in inline.children or () if child.type != "softbreak"]
        only_images = bool(children) and all(child.type == "image" for child in children)
        self.plain.add("caption" if only_images else "paragraph", inline_text(inline))
        self.at += 1

    def _list(self, token: Token) -> None:
        """Items become lines of one block; code inside an item parts the list."""
        ordered = token.type == "ordered_list_open"
        items: list[str] = []
        for inner in self._until(token.type.replace("open", "close"), token.level):
            if inner.type == "inline":
                items.append(inline_text(inner))
            elif inner.type in {"fence", "code_block", "math_block", "math_block_label"}:
                self.plain.add("list", "\n".join(items), ordered=ordered)
                items = []
                (self._formula if inner.type.startswith("math") else self._code)(inner)
            elif inner.type == "html_block":
                items.extend(html_text(inner.content).split("\n"))
        self.plain.add("list", "\n".join(item for item in items if item.strip()), ordered=ordered)

    def _table(self, token: Token) -> None:
        rows: list[str] = []
        cells: list[str] = []
        for inner in self._until("table_close", token.level):
            if inner.type == "inline":
                cells.append(inline_text(inner).replace("\n", " "))
            elif inner.type == "tr_close":
                rows.append(" | ".join(cells))
                cells = []
        self.plain.add("table", "\n".join(rows))

    def _code(self, token: Token) -> None:
        info = token.info.strip()
        if title := re.search(r"""title=(?:"([^"]*)"|'([^']*)')""", info):
            self.plain.add("caption", title.group(1) or title.group(2))
        language = re.match(r"[\w+#-]*", info)
        self.plain.add("code", token.content, language=language.group() if language else "")

    def _formula(self, token: Token) -> None:
        self.plain.add("formula", token.content)

    def _html(self, token: Token) -> None:
        for paragraph in html_text(token.content).split("\n"):
            self.plain.add("paragraph", paragraph)


def inline_text(inline: Token) -> str:
    """Give the words of a run of inline markup."""
    return "".join(_inline_parts(inline.children or ()))


def _inline_parts(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        match child.type:
            case "text" | "code_inline":
                yield child.content
            case "softbreak":
                yield " "
            case "hardbreak":
                yield "\n"
            case "image":
                yield inline_text(child)
            case "math_inline" | "math_inline_double":
                yield f"${child.content}$"
            case "html_inline" if re.match(r"<br\s*/?>", child.content, re.IGNORECASE):
                yield "\n"
            case _:
                pass


class _Words(HTMLParser):
    """The words of an HTML fragment, a line per block element."""

    _BREAKING = frozenset(
        """address article aside blockquote br dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6
        li ol p pre section summary table td th tr ul""".split()
    )
    _HIDDEN = frozenset({"script", "style", "template"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._HIDDEN:
            self.hidden += 1
        elif tag in self._BREAKING:
            self.parts.append("\n")
        elif tag == "img" and (words := dict(attrs).get("alt")):
            self.parts.append(words)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif tag in self._BREAKING:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def html_text(fragment: str) -> str:
    """Give the words of HTML inside Markdown, one line per block element."""
    words = _Words()
    words.feed(_HTML_COMMENT.sub("", fragment))
    words.close()
    lines = (line.strip() for line in "".join(words.parts).split("\n"))
    return "\n".join(line for line in lines if line)
