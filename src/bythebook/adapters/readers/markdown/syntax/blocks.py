"""Converts Markdown and MDX to plain text with typed blocks at exact offsets."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.admonitions import find_admonition_kind
from bythebook.adapters.readers.markdown.syntax.guard import (
    MAX_NESTING,
    refuse_hostile,
    refuse_open,
    refuse_too_deep,
    refuse_unended,
)
from bythebook.adapters.readers.markdown.syntax.html_fragments import HtmlBlock, read_html
from bythebook.adapters.readers.markdown.syntax.inline import MarkdownInline
from bythebook.adapters.readers.markdown.syntax.list_lines import ListLines
from bythebook.adapters.readers.markdown.syntax.markers import (
    read_marker,
    read_note_start,
)
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour, remove_mdx
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichText, join_rich, mark_lines
from bythebook.adapters.readers.tex import convert_tex
from bythebook.domain.marks import (
    Admonition,
    Alignment,
    Cell,
    Formula,
    Mark,
    Note,
    Quotation,
    Style,
)

_HEADING_ID = re.compile(r"(?:\{#([\w:.-]+)[^{}]*\}|<!--\s*#([\w:.-]+)\s*-->)\s*$")
_SHOWN_ID = re.compile(r"\{#[\w:.-]+[^{}]*\}\s*$")
_NAME = re.compile(r"[\w.-]+")
_TASK = re.compile(r"^\[([ xX])\](?=\s+\S)")
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*")
_CODE_LINES = re.compile(r"\{([\d,\s-]+)\}")
_SEVERAL_SPACES = re.compile("  +")
_LINE_END = re.compile("\n")
_CODE_TITLE = re.compile(r"""title\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def parse_markdown(source: str, flavour: Flavour = "mdx") -> PlainText:
    """Read Markdown as a reader sees it: without markup and imports."""
    return make_plain_text(tokenize(source, flavour), flavour)


def tokenize(source: str, flavour: Flavour) -> list[Token]:
    """Parse a page; refuse hostile input that would take forever."""
    text = remove_mdx(source, flavour)
    refuse_hostile(text)
    tokens = _get_parser(flavour).parse(text)
    refuse_too_deep(tokens)
    return tokens


def make_plain_text(
    tokens: Sequence[Token],
    flavour: Flavour,
    targets: PageTargets = PageTargets(),  # noqa: B008 - it never changes
    title: str | None = None,
) -> PlainText:
    """Make the plain text of a parsed page, with a title heading if one is given."""
    plain = PlainText()
    if title is not None:
        plain.add_heading(title, 1)
    _TokenWalker(tokens, plain, flavour, targets).walk()
    return plain


@cache
def _get_parser(flavour: Flavour) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    parser = parser.use(dollarmath_plugin, allow_space=False, double_inline=True)
    parser.core.ruler.before("inline", "refuse_unended", refuse_unended)
    if flavour == "mdx":
        # MDX has no indented code; the content of components is often indented.
        return parser.disable("code")
    if flavour == "commonmark":
        return parser.use(deflist_plugin).disable("math_inline")
    return parser


class _TokenWalker:
    """One pass over the tokens of a page."""

    def __init__(
        self, tokens: Sequence[Token], plain: PlainText, flavour: Flavour, targets: PageTargets
    ) -> None:
        self.tokens = tokens
        self.plain = plain
        self.flavour = flavour
        self.targets = targets
        self.inline = MarkdownInline(plain, targets, expressions=flavour == "mdx")
        self.at = 0
        self.open: list[Mark] = []  # quotations and admonitions around the next block
        self.last_table_end = _find_last_table_end(tokens)
        self.readers: dict[str, Callable[[Token], None]] = {
            "heading_open": self._add_heading,
            "paragraph_open": self._add_paragraph,
            "bullet_list_open": self._add_list,
            "ordered_list_open": self._add_list,
            "dl_open": self._add_list,
            "table_open": self._add_table,
            "fence": self._add_code,
            "code_block": self._add_code,
            "math_block": self._add_formula,
            "math_block_label": self._add_formula,
            "html_block": self._add_html,
            "blockquote_open": self._open_quotation,
            "blockquote_close": self._close_mark,
            "admonition_open": self._open_admonition,
            "admonition_close": self._close_mark,
        }

    def walk(self) -> None:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if reader := self.readers.get(token.type):
                reader(token)
        while self.open:
            self._close_mark()

    def _open_quotation(self, _token: Token) -> None:
        self.open.append(Quotation(self.plain.next_start, 0))

    def _open_admonition(self, token: Token) -> None:
        """Open a box; one without a title is set as a quotation."""
        following = self.tokens[self.at + 1 : self.at + 2]
        children = following[0].children if following else None
        start = self.plain.next_start
        if children and children[0].type == "strong_open":
            self.open.append(Admonition(start, 0, find_admonition_kind(token.info)))
        else:
            self.open.append(Quotation(start, 0))

    def _close_mark(self, _token: Token | None = None) -> None:
        if self.open:
            self.plain.mark_blocks(self.open.pop())

    def _read_marker(self, token: Token) -> bool:
        """Open or close an admonition; return False for other HTML."""
        found = read_marker(token.content)
        if found is True:
            self._close_mark()
        elif found:
            self.open.append(Admonition(self.plain.next_start, 0, found))
        return bool(found)

    def _iterate_until(self, closing: str, level: int) -> Iterator[Token]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == closing and token.level == level:
                return
            yield token

    def _add_heading(self, token: Token) -> None:
        inline = self.tokens[self.at]
        mark = _HEADING_ID.search(inline.content)
        anchor = (mark.group(1) or mark.group(2)) if mark else None
        title = self.inline.read_text(inline).edit(_SHOWN_ID, "")
        self.plain.add_heading(title, int(token.tag[1]), anchor)
        self.at += 2

    def _add_paragraph(self, _token: Token) -> None:
        inline = self.tokens[self.at]
        children = [child for child in inline.children or () if child.type != "softbreak"]
        only_images = bool(children) and all(child.type == "image" for child in children)
        start = self.plain.next_start
        text = self.inline.read_text(inline, images=only_images)
        if not only_images and any(child.type == "image" for child in children):
            text = text.edit(_SEVERAL_SPACES, " ")
        if alert := _ALERT.match(text.text):
            self._open_alert(alert.group(1))
            text = text.cut(alert.end())
        self.plain.add("caption" if only_images else "paragraph", text)
        for image in () if only_images else (c for c in children if c.type == "image"):
            self.plain.add("caption", self.inline.read_image(image))
        if label := read_note_start(children):
            self.plain.mark_blocks(Note(start, 0, label))
        self.at += 1

    def _open_alert(self, name: str) -> None:
        """Turn the quotation around an alert into an admonition."""
        if self.open and isinstance(self.open[-1], Quotation):
            self.open[-1] = Admonition(self.open[-1].start, 0, find_admonition_kind(name))
        self.plain.add("paragraph", name.capitalize())

    def _add_list(self, token: Token) -> None:
        """Turn items into lines of one block; code, formulas and tables inside an item split the block."""
        ordered = token.type == "ordered_list_open"
        lines = ListLines(token)
        for inner in self._iterate_until(token.type.replace("open", "close"), token.level):
            if lines.follow(inner):
                continue
            if inner.type == "inline":
                lines.add(self.inline.read_text(inner).edit(_TASK, _replace_checkbox))
            elif inner.type == "html_block":
                self._add_html_to_list(inner, lines, ordered=ordered)
            elif inner.type in _SPLITTING_TOKENS:
                self._end_list(lines, ordered=ordered)
                self.readers[inner.type](inner)
        self._end_list(lines, ordered=ordered)

    def _add_html_to_list(self, token: Token, lines: ListLines, *, ordered: bool) -> None:
        if read_marker(token.content):  # a list stays one block
            return
        for block in self._read_html_blocks(token):
            if block.kind in {"paragraph", "list", "heading"} and block.text.text:
                lines.add(block.text)
            else:
                self._end_list(lines, ordered=ordered)
                self._add_html_block(block)

    def _end_list(self, lines: ListLines, *, ordered: bool) -> None:
        self.plain.add("list", lines.finish(), ordered=ordered)

    def _add_table(self, token: Token) -> None:
        rows: list[RichText] = []
        cells: list[RichText] = []
        align: Alignment = ""
        for inner in self._iterate_until("table_close", token.level):
            if inner.type in {"th_open", "td_open"}:
                align = _find_alignment(inner)
            elif inner.type == "inline":
                text = self.inline.read_text(inner).edit(_LINE_END, " ")
                cells.append(text.mark(Cell(0, 0, align=align)))
            elif inner.type == "tr_close":
                rows.append(join_rich(" | ", cells))
                self._add_row_anchor([cell.text for cell in cells])
                cells = []
        self.plain.add("table", join_rich("\n", rows))

    def _add_row_anchor(self, cells: Sequence[str]) -> None:
        """Add an anchor for a row: MDX components give rows such ids."""
        if self.flavour == "mdx" and cells and _NAME.fullmatch(cells[0]):
            self.plain.add_anchor(cells[0])

    def _add_code(self, token: Token) -> None:
        info = token.info.strip()
        if title := _CODE_TITLE.search(info):
            words = title.group(1) or title.group(2) or ""
            self.plain.add("caption", RichText(words).mark(Style(0, 0, "code title")))
        language = re.match(r"[\w+#-]*", info)
        lines = _CODE_LINES.search(info)
        code = mark_lines(token.content, lines.group(1) if lines else "")
        # Lines that mdBook hides ("# use std;") stay: readers can unfold them.
        self.plain.add("code", code, language=language.group() if language else "")

    def _add_formula(self, token: Token) -> None:
        formula = Formula(0, 0, convert_tex(token.content, display=True), display=True)
        self.plain.add("formula", RichText(token.content).strip().mark(formula))

    def _add_html(self, token: Token) -> None:
        if self._read_marker(token):
            return
        for block in self._read_html_blocks(token):
            self._add_html_block(block)

    def _read_html_blocks(self, token: Token) -> Sequence[HtmlBlock]:
        words = self._read_inline_markdown if self.flavour == "mdx" else None
        fragment = self._collect_table(token)
        refuse_open(fragment)
        found = read_html(fragment, words)
        self.plain.add_anchor(*found.anchors)
        for target in found.links:
            self.targets.add_link(self.plain, target)
        return [
            replace(block, text=self.targets.show_pictures(self.plain, block.text))
            for block in found.blocks
        ]

    def _collect_table(self, token: Token) -> str:
        """Return HTML up to the end of a table that it opens."""
        parts = [token.content]
        parser = _get_parser(self.flavour)
        missing = _count_open_tables(token.content)
        while missing > 0 and self.at <= self.last_table_end:
            inner = self.tokens[self.at]
            self.at += 1
            is_html = inner.type == "html_block"
            parts.append(
                inner.content if is_html else parser.renderer.render([inner], parser.options, {})
            )
            missing += _count_open_tables(inner.content) if is_html else 0
        return "".join(parts)

    def _read_inline_markdown(self, text: str) -> RichText:
        """Return the text of Markdown inside HTML."""
        tokens = _get_parser(self.flavour).parseInline(text)
        return join_rich(" ", (self.inline.read_text(token) for token in tokens))

    def _add_html_block(self, block: HtmlBlock) -> None:
        if block.kind == "heading":
            self.plain.add_heading(block.text, block.level, block.anchor)
        else:
            self.plain.add(block.kind, block.text, ordered=block.ordered, language=block.language)


_SPLITTING_TOKENS = frozenset(
    {"fence", "code_block", "math_block", "math_block_label", "table_open"}
)


def _count_open_tables(html: str) -> int:
    lower = html.lower()
    return lower.count("<table") - lower.count("</table")


def _find_last_table_end(tokens: Sequence[Token]) -> int:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].type == "html_block" and "</table" in tokens[at].content.lower():
            return at
    return -1


def _find_alignment(cell: Token) -> Alignment:
    style = str(cell.attrs.get("style", ""))
    for align in ("left", "center", "right"):
        if style.endswith(align):
            return align
    return ""


def _replace_checkbox(task: re.Match[str]) -> str:
    return "\N{BALLOT BOX}" if task.group(1) == " " else "\N{BALLOT BOX WITH CHECK}"
