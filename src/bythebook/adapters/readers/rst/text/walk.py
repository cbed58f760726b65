"""Converts a parsed document to plain text with typed blocks at exact offsets."""

import re
from collections.abc import Callable, Sequence

from docutils import nodes

from bythebook.adapters.readers.admonitions import find_admonition_kind
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichText, join_rich, mark_lines
from bythebook.adapters.readers.rst.syntax.elements import code, navigation
from bythebook.adapters.readers.rst.text.inline import RstInline
from bythebook.adapters.readers.rst.text.raw_html import extract_html_text
from bythebook.adapters.readers.tex import convert_tex
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    Formula,
    InlineMark,
    Item,
    Note,
    Quotation,
    Style,
)

_METADATA = frozenset("orphan tocdepth nocomments nosearch no-search template layout".split())
_LISTS = (
    nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.field_list,
    nodes.option_list,
)  # fmt: skip
_TITLE_LINES = re.compile(r"\A([^\w\s])\1*\n|\n([^\w\s])\2*\Z")  # lines above and below a title
_ERROR = 3  # the level at which docutils keeps the source only in the message


class DocumentWalker:
    """One pass over the elements of a document."""

    def __init__(self, document: nodes.document, plain: PlainText, inline: RstInline) -> None:
        self.document = document
        self.plain = plain
        self.inline = inline
        self.language = ""
        self.labels: list[str] = []  # labels directly before the next element

    def walk(self) -> None:
        """Add the whole document."""
        for node in self.document.children:
            self.add_block(node, 0)

    def add_block(self, node: nodes.Node, depth: int) -> None:
        """Add an element and its content; depth counts the enclosing sections."""
        if isinstance(node, nodes.section):
            self._add_section(node, depth + 1)
        elif isinstance(node, nodes.target):
            self._record_target(node)
        elif isinstance(node, _LISTS):
            self.labels = []
            _ListWriter(self, node, depth).write()
        elif writer := self._get_writers().get(type(node)):
            self.labels = []
            writer(node)
        elif isinstance(node, nodes.Element):
            self._add_children(node, depth)

    def _get_writers(self) -> dict[type[nodes.Node], Callable[..., None]]:
        return {
            nodes.paragraph: self._add_paragraph,
            nodes.attribution: self._add_paragraph,
            nodes.line_block: self._add_line_block,
            nodes.literal_block: self._add_literal,
            nodes.doctest_block: self._add_doctest,
            code: self._add_code,
            nodes.math_block: self._add_formula,
            nodes.caption: self._add_caption,
            nodes.image: self._add_image,
            nodes.table: self._add_table,
            nodes.raw: self._add_raw,
            nodes.footnote: self._add_footnote,
            nodes.citation: self._add_footnote,
            nodes.system_message: self._add_unparsed,
            nodes.comment: self._read_comment,
            nodes.substitution_definition: self._ignore,
            nodes.transition: self._ignore,
            navigation: self._leave_out_navigation,
        }

    def _add_children(self, node: nodes.Element, depth: int) -> None:
        self.plain.add_anchor(*node.get("ids", ()))
        start = self.plain.next_start
        for child in node.children:
            self.add_block(child, depth)
        if isinstance(node, nodes.block_quote):
            self.plain.mark_blocks(Quotation(start, 0))
        elif kind := node.get("admonition"):
            self.plain.mark_blocks(Admonition(start, 0, find_admonition_kind(kind)))

    def _add_section(self, section: nodes.section, depth: int) -> None:
        ids = list(section["ids"])
        anchor = ids[0] if ids else None
        if self.labels and (anchor is None or re.fullmatch(r"id\d+", anchor)):
            anchor = self.labels[-1]  # the title is also an explicit label, which took the name
        self.labels = []
        is_first = not self.plain.headings
        for child in section.children:
            if isinstance(child, nodes.title):
                self.plain.add_heading(self.inline.read_words(child), depth, anchor)
                used = anchor if not is_first else None
                self.plain.add_anchor(*(name for name in ids if name != used))
            else:
                self.add_block(child, depth)

    def _record_target(self, target: nodes.target) -> None:
        if "refuri" not in target and "refname" not in target:
            self.labels.extend(target["ids"])
            self.plain.add_anchor(*target["ids"])

    def _add_paragraph(self, node: nodes.Element) -> None:
        self.plain.add_anchor(*node.get("ids", ()))
        children = [child for child in node.children if child.astext().strip() or _is_image(child)]
        only_images = bool(children) and all(_is_image(child) for child in children)
        self.plain.add("caption" if only_images else "paragraph", self.inline.read_words(node))

    def _add_line_block(self, node: nodes.line_block) -> None:
        lines = [self.inline.read_words(line) for line in node.findall(nodes.line)]
        self.plain.add("paragraph", join_rich("\n", lines))

    def _add_literal(self, node: nodes.literal_block) -> None:
        self.plain.add("code", self.inline.read_verbatim(node), language=self.language)

    def _add_doctest(self, node: nodes.doctest_block) -> None:
        self.plain.add("code", node.astext(), language="python")

    def _add_code(self, node: code) -> None:
        title = RichText(node["caption"])
        self.plain.add("caption", title.mark(Style(0, 0, "code title")) if title else title)
        language = re.match(r"[\w+#.-]*", node["language"] or self.language)
        code = mark_lines(node.astext(), node["lines"])
        self.plain.add("code", code, language=language.group() if language else "")

    def _add_formula(self, node: nodes.math_block) -> None:
        formula = Formula(0, 0, convert_tex(node.astext(), display=True), display=True)
        self.plain.add("formula", RichText(node.astext()).strip().mark(formula))

    def _add_caption(self, node: nodes.caption) -> None:
        self.plain.add("caption", self.inline.read_words(node))

    def _add_image(self, node: nodes.image) -> None:
        self.plain.add_anchor(*node.get("ids", ()))
        self.plain.add("caption", self.inline.read_image(node))

    def _add_table(self, table: nodes.table) -> None:
        self.plain.add_anchor(*table.get("ids", ()))
        for title in table.children:
            if isinstance(title, nodes.title):
                self.plain.add("caption", self.inline.read_words(title))
        rows = [row for row in table.findall(nodes.row) if _find_table(row) is table]
        lines = (
            join_rich(
                " | ", (self.flatten(cell.children).mark(Cell(0, 0)) for cell in row.children)
            )
            for row in rows
        )
        self.plain.add("table", join_rich("\n", (line for line in lines if line.text.strip(" |"))))

    def flatten(self, children: Sequence[nodes.Node]) -> RichText:
        """Return the text of elements on one line; keep their links and anchors."""
        inner = PlainText()
        walker = DocumentWalker(self.document, inner, self.inline)
        walker.language = self.language
        for child in children:
            walker.add_block(child, 0)
        self.plain.anchors.extend(inner.anchors)
        self.plain.left_out.extend(inner.left_out)
        kept = (mark for mark in inner.marks if isinstance(mark, InlineMark | Anchor))
        return RichText(inner.text, tuple(kept)).collapse()

    def _add_raw(self, node: nodes.raw) -> None:
        if "html" in node.get("format", ""):
            for paragraph in extract_html_text(node.astext()).split("\n"):
                self.plain.add("paragraph", paragraph)

    def _add_footnote(self, node: nodes.Element) -> None:
        self.plain.add_anchor(*node["ids"])
        label = next((part.astext() for part in node.children if isinstance(part, nodes.label)), "")
        opening = RichText(f"[{label}] ")
        start = self.plain.next_start
        for child in node.children:
            if isinstance(child, nodes.paragraph):
                words = self.inline.read_words(child)
                self.plain.add("paragraph", join_rich("", (opening, words)))
                opening = RichText("")
            elif not isinstance(child, nodes.label):
                self.add_block(child, 0)
        self.plain.mark_blocks(Note(start, 0, label))

    def _add_unparsed(self, message: nodes.system_message) -> None:
        """Add text that docutils could not parse, as written in the source."""
        if int(message.get("level", 0)) < _ERROR:
            return
        for source in message.children:
            if isinstance(source, nodes.literal_block):
                self.plain.add("paragraph", _TITLE_LINES.sub("", source.astext()))

    def _read_comment(self, node: nodes.comment) -> None:
        if "highlight" in node:
            self.language = node["highlight"]

    def _ignore(self, node: nodes.Node) -> None:
        pass

    def _leave_out_navigation(self, node: navigation) -> None:
        self.plain.add_anchor(*node["ids"])
        for words in node["words"]:
            self.plain.leave_out("navigation", words)
        self.plain.links.extend(node["links"])


class _ListWriter:
    """Writes a list: its items become lines of one block, split by anything that is not text."""

    def __init__(self, walker: DocumentWalker, node: nodes.Element, depth: int) -> None:
        self.walker = walker
        self.node = node
        self.depth = depth
        self.ordered = isinstance(node, nodes.enumerated_list)
        self.lines: list[RichText] = []
        self.nesting = -1  # of the open list
        self.item: Item | None = None  # which the next line begins

    def write(self) -> None:
        """Write the list and its nested lists in order."""
        self._add_items(self.node)
        self._flush()

    def _flush(self) -> None:
        text = join_rich("\n", (line for line in self.lines if line.text.strip()))
        self.walker.plain.add("list", text, ordered=self.ordered)
        self.lines = []

    def _add_line(self, line: RichText) -> None:
        if self.item is not None and line.text.strip():
            line, self.item = line.mark(self.item), None
        self.lines.append(line)

    def _add_items(self, listed: nodes.Element) -> None:
        self.walker.plain.add_anchor(*listed.get("ids", ()))
        self.nesting += 1
        number = int(listed.get("start", 1)) if isinstance(listed, nodes.enumerated_list) else -1
        for place, item in enumerate(listed.children):
            self.item = Item(0, 0, self.nesting, number + place if number >= 0 else -1)
            self._add_item(item)
        self.nesting -= 1

    def _add_item(self, item: nodes.Node) -> None:
        if isinstance(item, nodes.definition_list_item):
            self._add_pair(item, nodes.definition)
        elif isinstance(item, nodes.option_list_item):
            self._add_pair(item, nodes.description)
        elif isinstance(item, nodes.field):
            if not self._is_metadata(item):
                self._add_pair(item, nodes.field_body)
        elif isinstance(item, nodes.list_item):
            self._add_parts(item.children)
        else:
            self._add_parts([item])

    def _add_pair(self, item: nodes.Element, second: type[nodes.Element]) -> None:
        """Write a term and the first paragraph of its definition on one line."""
        names: list[RichText] = []
        meaning: Sequence[nodes.Node] = ()
        for part in item.children:
            if isinstance(part, second):
                meaning = part.children
            elif isinstance(part, nodes.target):
                self.walker.add_block(part, self.depth)
            else:
                words = self.walker.inline.read_words(part)
                names.append(words.cut(0, len(words.text.rstrip(","))))
        name = join_rich(", ", names)
        if meaning and isinstance(meaning[0], nodes.paragraph):
            words = self.walker.inline.read_words(meaning[0])
            self._add_line(join_rich(": ", (name, words)))
            self._add_parts(meaning[1:])
        else:
            self._add_line(name)
            self._add_parts(meaning)

    def _add_parts(self, parts: Sequence[nodes.Node]) -> None:
        for part in parts:
            if isinstance(part, nodes.paragraph):
                self._add_line(self.walker.inline.read_words(part))
            elif isinstance(part, _LISTS):
                self._add_items(part)
            elif isinstance(part, nodes.line_block):
                for line in part.findall(nodes.line):
                    self._add_line(self.walker.inline.read_words(line))
            elif isinstance(part, nodes.block_quote):
                self._add_parts(part.children)
            elif isinstance(part, nodes.Element):
                self._flush()
                self.walker.add_block(part, self.depth)

    def _is_metadata(self, field: nodes.field) -> bool:
        """Return True if a field at the start of the document is metadata for Sphinx."""
        at_top = isinstance(self.node.parent, nodes.document) and not self.walker.plain.blocks
        return at_top and field.children[0].astext().lower() in _METADATA


def _is_image(node: nodes.Node) -> bool:
    return isinstance(node, nodes.image | nodes.substitution_reference) and not node.astext()


def _find_table(row: nodes.Node) -> nodes.Node | None:
    while row.parent is not None and not isinstance(row, nodes.table):
        row = row.parent
    return row
