"""Reads the text of inline markup and collects its links."""

from collections.abc import Iterator

from docutils import nodes

from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rst.syntax.elements import cross_reference
from bythebook.adapters.readers.rst.syntax.roles import RoleContext
from bythebook.adapters.readers.rst.text.raw_html import extract_html_text
from bythebook.domain.books import Link

_MAX_DEPTH = 20  # nested substitutions
_MAX_SUBSTITUTED = 1_000_000  # characters inserted by the substitutions of one document


class RstInline:
    """Reads the inline elements of one document."""

    def __init__(self, document: nodes.document, plain: PlainText, context: RoleContext) -> None:
        self.document = document
        self.plain = plain
        self.context = context
        self.substituted = 0
        self.depth = 0
        self.unnamed = (node for node in document.findall(nodes.target) if node.get("anonymous"))

    def read_words(self, node: nodes.Node) -> str:
        """Return the text of an element on one line."""
        return " ".join(self.read_verbatim(node).split())

    def read_verbatim(self, node: nodes.Node) -> str:
        """Return the text of an element with its line breaks."""
        return "".join(self._iterate_parts(node))

    def _iterate_parts(self, node: nodes.Node) -> Iterator[str]:
        for child in node.children:
            if isinstance(child, nodes.Text):
                yield child.astext()
            elif isinstance(child, nodes.Element):
                yield from self._read_element(child)

    def _read_element(self, node: nodes.Element) -> Iterator[str]:
        match node:
            case nodes.math():
                yield f"${node.astext()}$"
            case nodes.image():
                yield node.get("alt", "")
            case nodes.raw():
                yield extract_html_text(node.astext()) if "html" in node.get("format", "") else ""
            case nodes.footnote_reference() | nodes.citation_reference():
                yield f"[{node.astext()}]"
            case nodes.substitution_reference():
                yield self._read_substitution(node)
            case nodes.reference():
                yield self._read_reference(node)
            case nodes.option():
                yield f"{self.read_verbatim(node)}, "
            case nodes.option_argument():
                yield node.astext()  # includes the delimiter before it
            case nodes.system_message():
                pass
            case _:
                self._record(node)
                yield from self._iterate_parts(node)

    def _record(self, node: nodes.Element) -> None:
        if isinstance(node, cross_reference) and node["link"] is not None:
            self.plain.links.append(node["link"])
        elif isinstance(node, nodes.target) and "refuri" not in node:
            self.plain.anchors.extend(node["ids"])

    def _read_substitution(self, node: nodes.substitution_reference) -> str:
        name = node.astext()
        named = self.document.substitution_names.get(nodes.fully_normalize_name(name), name)
        found = self.document.substitution_defs.get(named)
        if found is None or self.depth >= _MAX_DEPTH or self.substituted > _MAX_SUBSTITUTED:
            return name
        self.depth += 1
        words = self.read_verbatim(found)
        self.depth -= 1
        self.substituted += len(words) + 1
        return words

    def _read_reference(self, node: nodes.reference) -> str:
        words = self.read_verbatim(node)
        address = node.get("refuri", "")
        if node.get("anonymous") and not address:
            target = next(self.unnamed, None)
            address = target.get("refuri", "") if target is not None else ""
        elif name := node.get("refname"):
            address, is_known = self._resolve_name(name)
            if not is_known:
                self.plain.links.append(Link(name, ""))
                return words if node.rawsource.startswith("|") else node.rawsource or words
        self._add_link(address)
        return words

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

    def _add_link(self, address: str) -> None:
        if address.startswith("#"):
            self.plain.links.append(Link(address, self.context.document_id, address[1:]))
        elif address and ":" not in address.partition("/")[0]:
            found = self.context.references.find_page(address, self.context.document_id)
            if found is not None:
                self.plain.links.append(Link(address, found.document_id, found.anchor))
