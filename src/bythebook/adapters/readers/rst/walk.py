"""A parsed document -> plain text with typed blocks at exact offsets."""

import re
from collections.abc import Callable, Sequence

from docutils import nodes

from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rst.elements import code, navigation
from bythebook.adapters.readers.rst.inline import Inline
from bythebook.adapters.readers.rst.raw_html import html_words

_METADATA = frozenset("orphan tocdepth nocomments nosearch no-search template layout".split())
_LISTS = (
    nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.field_list,
    nodes.option_list,
)  # fmt: skip
_ADORNED = re.compile(r"\A([^\w\s])\1*\n|\n([^\w\s])\2*\Z")  # lines over and under a title
_ERROR = 3  # docutils' level of what was not understood, and so is nowhere else


class Walk:
    """One pass over the elements of a document."""

    def __init__(self, document: nodes.document, plain: PlainText, inline: Inline) -> None:
        self.document = document
        self.plain = plain
        self.inline = inline
        self.language = ""
        self.labels: list[str] = []  # that stand right before what comes next

    def all(self) -> None:
        """Write the whole document."""
        for node in self.document.children:
            self.block(node, 0)

    def block(self, node: nodes.Node, depth: int) -> None:
        """Write an element and what is in it; depth counts the sections around it."""
        if isinstance(node, nodes.section):
            self._section(node, depth + 1)
        elif isinstance(node, nodes.target):
            self._target(node)
        elif isinstance(node, _LISTS):
            self.labels = []
            _List(self, node, depth).write()
        elif writer := self._writers().get(type(node)):
            self.labels = []
            writer(node)
        elif isinstance(node, nodes.Element):
            self._inside(node, depth)

    def _writers(self) -> dict[type[nodes.Node], Callable[..., None]]:
        return {
            nodes.paragraph: self._paragraph,
            nodes.attribution: self._paragraph,
            nodes.line_block: self._lines,
            nodes.literal_block: self._literal,
            nodes.doctest_block: self._doctest,
            code: self._code,
            nodes.math_block: self._formula,
            nodes.caption: self._caption,
            nodes.image: self._image,
            nodes.table: self._table,
            nodes.raw: self._raw,
            nodes.footnote: self._footnote,
            nodes.citation: self._footnote,
            nodes.system_message: self._not_understood,
            nodes.comment: self._comment,
            nodes.substitution_definition: self._nothing,
            nodes.transition: self._nothing,
            navigation: self._navigation,
        }

    def _inside(self, node: nodes.Element, depth: int) -> None:
        self.plain.anchors.extend(node.get("ids", ()))
        for child in node.children:
            self.block(child, depth)

    def _section(self, section: nodes.section, depth: int) -> None:
        ids = list(section["ids"])
        anchor = ids[0] if ids else None
        if self.labels and (anchor is None or re.fullmatch(r"id\d+", anchor)):
            anchor = self.labels[-1]  # the title is also its own label, which took the name
        self.labels = []
        is_first = not self.plain.headings
        for child in section.children:
            if isinstance(child, nodes.title):
                self.plain.add_heading(self.inline.words(child), depth, anchor)
                used = anchor if not is_first else None
                self.plain.anchors.extend(name for name in ids if name != used)
            else:
                self.block(child, depth)

    def _target(self, target: nodes.target) -> None:
        if "refuri" not in target and "refname" not in target:
            self.labels.extend(target["ids"])
            self.plain.anchors.extend(target["ids"])

    def _paragraph(self, node: nodes.Element) -> None:
        self.plain.anchors.extend(node.get("ids", ()))
        children = [child for child in node.children if child.astext().strip() or _is_image(child)]
        only_images = bool(children) and all(_is_image(child) for child in children)
        self.plain.add("caption" if only_images else "paragraph", self.inline.words(node))

    def _lines(self, node: nodes.line_block) -> None:
        lines = [self.inline.words(line) for line in node.findall(nodes.line)]
        self.plain.add("paragraph", "\n".join(lines))

    def _literal(self, node: nodes.literal_block) -> None:
        self.plain.add("code", self.inline.verbatim(node), language=self.language)

    def _doctest(self, node: nodes.doctest_block) -> None:
        self.plain.add("code", node.astext(), language="python")

    def _code(self, node: code) -> None:
        self.plain.add("caption", node["caption"])
        language = re.match(r"[\w+#.-]*", node["language"] or self.language)
        self.plain.add("code", node.astext(), language=language.group() if language else "")

    def _formula(self, node: nodes.math_block) -> None:
        self.plain.add("formula", node.astext())

    def _caption(self, node: nodes.caption) -> None:
        self.plain.add("caption", self.inline.words(node))

    def _image(self, node: nodes.image) -> None:
        self.plain.anchors.extend(node.get("ids", ()))
        self.plain.add("caption", node.get("alt", ""))

    def _table(self, table: nodes.table) -> None:
        self.plain.anchors.extend(table.get("ids", ()))
        for title in table.children:
            if isinstance(title, nodes.title):
                self.plain.add("caption", self.inline.words(title))
        rows = [row for row in table.findall(nodes.row) if _table_of(row) is table]
        lines = (" | ".join(self.flat(cell.children) for cell in row.children) for row in rows)
        self.plain.add("table", "\n".join(line for line in lines if line.strip(" |")))

    def flat(self, children: Sequence[nodes.Node]) -> str:
        """Give all words of some elements in one line; links and places are kept."""
        inner = PlainText()
        walk = Walk(self.document, inner, self.inline)
        walk.language = self.language
        for child in children:
            walk.block(child, 0)
        self.plain.anchors.extend(inner.anchors)
        self.plain.left_out.extend(inner.left_out)
        return " ".join(inner.text.split())

    def _raw(self, node: nodes.raw) -> None:
        if "html" in node.get("format", ""):
            for paragraph in html_words(node.astext()).split("\n"):
                self.plain.add("paragraph", paragraph)

    def _footnote(self, node: nodes.Element) -> None:
        self.plain.anchors.extend(node["ids"])
        label = next((part.astext() for part in node.children if isinstance(part, nodes.label)), "")
        opening = f"[{label}] "
        for child in node.children:
            if isinstance(child, nodes.paragraph):
                self.plain.add("paragraph", opening + self.inline.words(child))
                opening = ""
            elif not isinstance(child, nodes.label):
                self.block(child, 0)

    def _not_understood(self, message: nodes.system_message) -> None:
        """Write what docutils could not read as it stands in the source."""
        if int(message.get("level", 0)) < _ERROR:
            return
        for source in message.children:
            if isinstance(source, nodes.literal_block):
                self.plain.add("paragraph", _ADORNED.sub("", source.astext()))

    def _comment(self, node: nodes.comment) -> None:
        if "highlight" in node:
            self.language = node["highlight"]

    def _nothing(self, node: nodes.Node) -> None:
        pass

    def _navigation(self, node: navigation) -> None:
        self.plain.anchors.extend(node["ids"])
        for words in node["words"]:
            self.plain.leave_out("navigation", words)
        self.plain.links.extend(node["links"])


class _List:
    """A list: its items become lines of one block; what is no text parts it."""

    def __init__(self, walk: Walk, node: nodes.Element, depth: int) -> None:
        self.walk = walk
        self.node = node
        self.depth = depth
        self.ordered = isinstance(node, nodes.enumerated_list)
        self.lines: list[str] = []

    def write(self) -> None:
        """Write the list, and the lists in it, in the order of their words."""
        self._items(self.node)
        self._flush()

    def _flush(self) -> None:
        text = "\n".join(line for line in self.lines if line.strip())
        self.walk.plain.add("list", text, ordered=self.ordered)
        self.lines = []

    def _items(self, listed: nodes.Element) -> None:
        self.walk.plain.anchors.extend(listed.get("ids", ()))
        for item in listed.children:
            if isinstance(item, nodes.definition_list_item):
                self._pair(item, nodes.definition)
            elif isinstance(item, nodes.option_list_item):
                self._pair(item, nodes.description)
            elif isinstance(item, nodes.field):
                if not self._is_metadata(item):
                    self._pair(item, nodes.field_body)
            elif isinstance(item, nodes.list_item):
                self._parts(item.children)
            else:
                self._parts([item])

    def _pair(self, item: nodes.Element, second: type[nodes.Element]) -> None:
        """Write a term and the first words of what it means as one line."""
        names: list[str] = []
        meaning: Sequence[nodes.Node] = ()
        for part in item.children:
            if isinstance(part, second):
                meaning = part.children
            elif isinstance(part, nodes.target):
                self.walk.block(part, self.depth)
            else:
                names.append(self.walk.inline.words(part).rstrip(","))
        name = ", ".join(names)
        if meaning and isinstance(meaning[0], nodes.paragraph):
            self.lines.append(f"{name}: {self.walk.inline.words(meaning[0])}")
            self._parts(meaning[1:])
        else:
            self.lines.append(name)
            self._parts(meaning)

    def _parts(self, parts: Sequence[nodes.Node]) -> None:
        for part in parts:
            if isinstance(part, nodes.paragraph):
                self.lines.append(self.walk.inline.words(part))
            elif isinstance(part, _LISTS):
                self._items(part)
            elif isinstance(part, nodes.line_block):
                self.lines.extend(self.walk.inline.words(line) for line in part.findall(nodes.line))
            elif isinstance(part, nodes.block_quote):
                self._parts(part.children)
            elif isinstance(part, nodes.Element):
                self._flush()
                self.walk.block(part, self.depth)

    def _is_metadata(self, field: nodes.field) -> bool:
        """Say whether a field at a document's very top speaks to Sphinx, not to readers."""
        at_top = isinstance(self.node.parent, nodes.document) and not self.walk.plain.blocks
        return at_top and field.children[0].astext().lower() in _METADATA


def _is_image(node: nodes.Node) -> bool:
    return isinstance(node, nodes.image | nodes.substitution_reference) and not node.astext()


def _table_of(row: nodes.Node) -> nodes.Node | None:
    while row.parent is not None and not isinstance(row, nodes.table):
        row = row.parent
    return row
