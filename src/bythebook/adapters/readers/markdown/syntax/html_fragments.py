"""Converts HTML inside Markdown to blocks of plain text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

from bythebook.adapters.readers.html.page.tags import BLOCK_TAGS, INLINE_STYLES
from bythebook.adapters.readers.pictures.shelf import PictureRequest
from bythebook.adapters.readers.rich_text import RichBuilder, RichText, join_rich
from bythebook.domain.books import BlockKind
from bythebook.domain.marks import Cell, LinkMark, Mark, Style

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINE_BREAKING = BLOCK_TAGS | frozenset("body br caption center fieldset legend option".split())
_HIDDEN = frozenset({"script", "style", "template"})
_LISTS = frozenset({"ul", "ol", "dl"})
_ITEMS = frozenset({"li", "dt", "dd"})
_CAPTIONS = frozenset({"figcaption", "caption"})
_HEADING = re.compile(r"h[1-6]")


@dataclass(frozen=True, slots=True)
class HtmlBlock:
    """A block found in HTML."""

    kind: BlockKind
    text: RichText
    level: int = 0
    ordered: bool = False
    language: str = ""
    anchor: str | None = None


@dataclass(slots=True)
class HtmlContent:
    """The blocks, links and anchors of a fragment."""

    blocks: list[HtmlBlock] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)


def read_html(fragment: str, words: Callable[[str], RichText] | None = None) -> HtmlContent:
    """Read HTML as blocks; `words` reads the Markdown inside it, for sites that support that."""
    reader = _FragmentParser(words)
    reader.feed(_COMMENT.sub("", fragment))
    reader.close()
    reader.end_table()
    reader.end_list()
    reader.end_line()
    return reader.found


class _FragmentParser(HTMLParser):
    """One pass over a fragment; the open tags decide which block a text belongs to."""

    def __init__(self, words: Callable[[str], RichText] | None) -> None:
        super().__init__(convert_charrefs=words is None)
        self.words = words
        self.found = HtmlContent()
        self.line = RichBuilder()
        self.inline: list[tuple[str, Mark]] = []  # open tags, each with its mark
        self.hidden = 0
        self.lists: list[str] = []
        self.items: list[RichText] = []
        self.tables = 0
        self.rows: list[list[RichText]] = []
        self.code: str | None = None  # the language, inside <pre>
        self.heading: str | None = None  # its id, inside a heading

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._record_attributes(tag, given)
        if tag in _HIDDEN:
            self.hidden += 1
        elif tag == "img":
            request = PictureRequest(0, 0, given.get("src", ""))
            self.line.add(given.get("alt", ""), request if request.target else None)
        elif tag == "code" and self.code == "":
            self.code = _find_language(given)
        elif self.code is None and (tag == "a" or tag in INLINE_STYLES):
            target = given.get("href") or given.get("to") or ""
            self.line.open()
            style = INLINE_STYLES.get(tag, "emphasis")
            self.inline.append((tag, LinkMark(0, 0, target) if tag == "a" else Style(0, 0, style)))
        elif tag in LINE_BREAKING:
            self._open(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif self.inline and self.inline[-1][0] == tag:
            self.line.close(self.inline.pop()[1])
        elif tag == "table":
            self.end_line()
            self.tables = max(0, self.tables - 1)
            if not self.tables:
                self.end_table()
        elif tag in _LISTS and self.lists:
            self.end_line()
            self.lists.pop()
            if not self.lists:
                self.end_list(ordered=tag == "ol")
        elif tag in LINE_BREAKING:
            self.end_line(tag)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.line.add(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _open(self, tag: str, given: dict[str, str]) -> None:
        if tag == "br" and (self.tables or self.heading is not None or self.code is not None):
            self.line.add("\n" if self.code is not None else " ")
            return
        self.end_line()
        if tag == "table":
            self.tables += 1
        elif tag in _LISTS and not self.tables:
            self.lists.append(tag)
        elif tag == "tr" and self.tables == 1:
            self.rows.append([])
        elif tag in {"td", "th"} and self.tables == 1:
            self._get_row().append(RichText(""))
        elif tag == "pre":
            self.code = _find_language(given)
        elif _HEADING.fullmatch(tag):
            self.heading = given.get("id", "")

    def end_line(self, tag: str = "") -> None:
        """End a line at a tag that breaks lines, and make a block of it."""
        rich, self.line, self.inline = self.line.finish(), RichBuilder(), []
        text = self._clean_text(rich)
        if self.tables and tag not in _CAPTIONS:
            self._add_to_cell(text)
        elif self.code is not None:
            code = _read_component_code(rich.text) if self.words else rich.text
            self._add(HtmlBlock("code", RichText(code), language=self.code))
        elif _HEADING.fullmatch(tag):
            level, anchor = int(tag[1]), self.heading or None
            self._add(HtmlBlock("heading", text, level=level, anchor=anchor))
        elif self.lists or tag in _ITEMS:
            if text.text:
                self.items.append(text)
            else:
                self._add(HtmlBlock("paragraph", text))
        else:
            self._add(HtmlBlock("caption" if tag in _CAPTIONS else "paragraph", text))
        if tag == "pre":
            self.code = None
        if _HEADING.fullmatch(tag):
            self.heading = None

    def end_list(self, *, ordered: bool = False) -> None:
        """Make a list block of the collected items."""
        items, self.items = self.items, []
        if items:
            self.found.blocks.append(HtmlBlock("list", join_rich("\n", items), ordered=ordered))

    def end_table(self) -> None:
        """Make a table block of the collected rows."""
        rows, self.rows, self.tables = self.rows, [], 0
        lines = [
            join_rich(" | ", (cell.mark(Cell(0, 0)) for cell in row))
            for row in rows
            if any(cell.text for cell in row)
        ]
        if lines:
            self.found.blocks.append(HtmlBlock("table", join_rich("\n", lines)))

    def _get_row(self) -> list[RichText]:
        if not self.rows:
            self.rows.append([])
        return self.rows[-1]

    def _add_to_cell(self, text: RichText) -> None:
        row = self._get_row()
        if not row and text:
            row.append(RichText(""))
        if text:
            row[-1] = join_rich(" ", (row[-1], text)).strip()

    def _add(self, block: HtmlBlock) -> None:
        if block.text.text.strip():
            self.end_list(ordered=self.lists[:1] == ["ol"])
            self.found.blocks.append(block)
        elif block.text.marks:  # pictures without words
            self.found.blocks.append(block)

    def _record_attributes(self, tag: str, given: dict[str, str]) -> None:
        if tag in {"a", "link"} and (target := given.get("href") or given.get("to")):
            self.found.links.append(target)
        names = (given.get("id"), given.get("name") if tag == "a" else None)
        self.found.anchors.extend(name for name in names if name)

    def _clean_text(self, rich: RichText) -> RichText:
        own = rich.collapse()
        if self.words is None or self.code is not None or not own.text:
            return own
        read = self.words(rich.text.strip()).collapse()
        if read.text == own.text:
            return RichText(read.text, (*own.marks, *read.marks))
        # Markdown inside tags moved the text: only pictures still have a place, at its start.
        lost = (mark.move(0, 0) for mark in own.marks if isinstance(mark, PictureRequest))
        return RichText(read.text, (*lost, *read.marks))


def _read_component_code(raw: str) -> str:
    """Return the code of a component: MDX writes lines as strings in braces, or as they are."""
    strings = re.findall(r"""\{\s*(?:'([^'{}]*)'|"([^"{}]*)")\s*\}""", raw)
    if not strings or re.sub(r"""\{\s*(?:'[^'{}]*'|"[^"{}]*")\s*\}""", "", raw).strip():
        return unescape(raw)
    return unescape("".join(one or other for one, other in strings).replace("\\n", "\n"))


def _find_language(given: dict[str, str]) -> str:
    match = re.search(r"\blang(?:uage)?-([\w+#-]+)", given.get("class", ""))
    return match.group(1) if match else ""
