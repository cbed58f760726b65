"""Reads the text of inline markup with its marks, and collects its links."""

from docutils import nodes

from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichBuilder, RichText
from bythebook.adapters.readers.rst.syntax.elements import cross_reference
from bythebook.adapters.readers.rst.syntax.roles import RoleContext
from bythebook.adapters.readers.rst.text.raw_html import extract_html_text
from bythebook.adapters.readers.tex import convert_tex
from bythebook.domain.books import Link
from bythebook.domain.marks import Formula, LinkMark, Mark, NoteReference, Style, StyleKind

_MAX_DEPTH = 20  # nested substitutions
_MAX_SUBSTITUTED = 1_000_000  # characters inserted by the substitutions of one document
_STYLES: dict[type[nodes.Element], StyleKind] = {
    nodes.emphasis: "emphasis", nodes.title_reference: "emphasis", nodes.strong: "strong",
    nodes.literal: "code", nodes.subscript: "subscript", nodes.superscript: "superscript",
}  # fmt: skip


class RstInline:
    """Reads the inline elements of one document."""

    def __init__(self, document: nodes.document, plain: PlainText, context: RoleContext) -> None:
        self.document = document
        self.plain = plain
        self.context = context
        self.targets = PageTargets(find_picture=context.find_picture)
        self.substituted = 0
        self.depth = 0
        self.unnamed = (node for node in document.findall(nodes.target) if node.get("anonymous"))

    def read_words(self, node: nodes.Node) -> RichText:
        """Return the text of an element on one line."""
        return self.read_verbatim(node).collapse()

    def read_verbatim(self, node: nodes.Node) -> RichText:
        """Return the text of an element with its line breaks."""
        builder = RichBuilder()
        self._add_children(node, builder)
        return builder.finish()

    def read_image(self, node: nodes.Element) -> RichText:
        """Return the alternative text of an image, marked by it if it is kept."""
        picture = self.targets.add_picture(self.plain, node.get("uri", ""))
        words = RichText(node.get("alt", ""))
        return words.mark(picture) if picture else words

    def _add_children(self, node: nodes.Node, builder: RichBuilder) -> None:
        for child in node.children:
            if isinstance(child, nodes.Text):
                builder.add(child.astext())
            elif isinstance(child, nodes.Element):
                self._add_element(child, builder)

    def _add_element(self, node: nodes.Element, builder: RichBuilder) -> None:
        match node:
            case nodes.math():
                mathml = convert_tex(node.astext(), display=False)
                builder.add(f"${node.astext()}$", Formula(0, 0, mathml))
            case nodes.image():
                builder.add_rich(self.read_image(node))
            case nodes.raw():
                is_html = "html" in node.get("format", "")
                builder.add(extract_html_text(node.astext()) if is_html else "")
            case nodes.footnote_reference() | nodes.citation_reference():
                label = node.astext()
                builder.add(f"[{label}]", NoteReference(0, 0, label))
            case nodes.substitution_reference():
                builder.add_rich(self._read_substitution(node))
            case nodes.reference():
                builder.add_rich(self._read_reference(node))
            case nodes.option():
                self._add_children(node, builder)
                builder.add(", ")
            case nodes.option_argument():
                builder.add(node.astext())  # includes the delimiter before it
            case nodes.system_message():
                pass
            case _:
                builder.open()
                self._add_children(node, builder)
                builder.close(self._record(node))

    def _record(self, node: nodes.Element) -> Mark | None:
        """Record the link or the place that an element is; return the mark of its words."""
        if isinstance(node, cross_reference):
            link: Link | None = node["link"]
            if link is None:
                return None
            self.plain.links.append(link)
            is_known = bool(link.document_id)
            return LinkMark(0, 0, "", link.document_id, link.anchor) if is_known else None
        if isinstance(node, nodes.target) and "refuri" not in node:
            self.plain.add_anchor(*node["ids"])
        style = _STYLES.get(type(node)) or ("keyboard" if "kbd" in node["classes"] else None)
        return Style(0, 0, style) if style else None

    def _read_substitution(self, node: nodes.substitution_reference) -> RichText:
        name = node.astext()
        named = self.document.substitution_names.get(nodes.fully_normalize_name(name), name)
        found = self.document.substitution_defs.get(named)
        if found is None or self.depth >= _MAX_DEPTH or self.substituted > _MAX_SUBSTITUTED:
            return RichText(name)
        self.depth += 1
        words = self.read_verbatim(found)
        self.depth -= 1
        self.substituted += len(words.text) + 1
        return words

    def _read_reference(self, node: nodes.reference) -> RichText:
        words = self.read_verbatim(node)
        address = node.get("refuri", "")
        if node.get("anonymous") and not address:
            target = next(self.unnamed, None)
            address = target.get("refuri", "") if target is not None else ""
        elif name := node.get("refname"):
            address, is_known = self._resolve_name(name)
            if not is_known:
                self.plain.links.append(Link(name, ""))
                is_shown = node.rawsource.startswith("|") or not node.rawsource
                return words if is_shown else RichText(node.rawsource)
        mark = self._add_link(address)
        return words.mark(mark) if mark and words.text else words

    def _resolve_name(self, name: str) -> tuple[str, bool]:
        """Return the address of a name in this document, and True if the name is known."""
        for _step in range(_MAX_DEPTH):
            node_id = self.document.nameids.get(name)
            if node_id is None:
                return "", name in self.document.nameids
            target = self.document.ids[node_id]
            if "refuri" in target:
                return target["refuri"], True
            if "refname" not in target:
                return f"#{node_id}", True
            name = target["refname"]
        return "", False

    def _add_link(self, address: str) -> LinkMark | None:
        if address.startswith("#"):
            self.plain.links.append(Link(address, self.context.document_id, address[1:]))
            return LinkMark(0, 0, "", self.context.document_id, address[1:])
        if address and ":" not in address.partition("/")[0]:
            found = self.context.references.find_page(address, self.context.document_id)
            if found is None:
                return None
            self.plain.links.append(Link(address, found.document_id, found.anchor))
            is_known = bool(found.document_id)
            return LinkMark(0, 0, "", found.document_id, found.anchor) if is_known else None
        return LinkMark(0, 0, address) if address else None
