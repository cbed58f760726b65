"""The words of inline markup, and the links among them."""

from collections.abc import Iterator

from docutils import nodes

from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rst.elements import crossing
from bythebook.adapters.readers.rst.raw_html import html_words
from bythebook.adapters.readers.rst.roles import RoleContext
from bythebook.domain.books import Link

_DEEPEST = 20  # substitutions inside substitutions
_LONGEST = 1_000_000  # characters that the substitutions of one document may give


class Inline:
    """Reads the inline elements of one document."""

    def __init__(self, document: nodes.document, plain: PlainText, context: RoleContext) -> None:
        self.document = document
        self.plain = plain
        self.context = context
        self.substituted = 0
        self.depth = 0
        self.unnamed = (node for node in document.findall(nodes.target) if node.get("anonymous"))

    def words(self, node: nodes.Node) -> str:
        """Give the words of an element in one line."""
        return " ".join(self.verbatim(node).split())

    def verbatim(self, node: nodes.Node) -> str:
        """Give the words of an element with their line breaks."""
        return "".join(self._parts(node))

    def _parts(self, node: nodes.Node) -> Iterator[str]:
        for child in node.children:
            if isinstance(child, nodes.Text):
                yield child.astext()
            elif isinstance(child, nodes.Element):
                yield from self._element(child)

    def _element(self, node: nodes.Element) -> Iterator[str]:
        match node:
            case nodes.math():
                yield f"${node.astext()}$"
            case nodes.image():
                yield node.get("alt", "")
            case nodes.raw():
                yield html_words(node.astext()) if "html" in node.get("format", "") else ""
            case nodes.footnote_reference() | nodes.citation_reference():
                yield f"[{node.astext()}]"
            case nodes.substitution_reference():
                yield self._substitution(node)
            case nodes.reference():
                yield self._reference(node)
            case nodes.option():
                yield f"{self.verbatim(node)}, "
            case nodes.option_argument():
                yield node.astext()  # with what parts it from its option
            case nodes.system_message():
                pass
            case _:
                self._note(node)
                yield from self._parts(node)

    def _note(self, node: nodes.Element) -> None:
        if isinstance(node, crossing) and node["link"] is not None:
            self.plain.links.append(node["link"])
        elif isinstance(node, nodes.target) and "refuri" not in node:
            self.plain.anchors.extend(node["ids"])

    def _substitution(self, node: nodes.substitution_reference) -> str:
        name = node.astext()
        named = self.document.substitution_names.get(nodes.fully_normalize_name(name), name)
        found = self.document.substitution_defs.get(named)
        if found is None or self.depth >= _DEEPEST or self.substituted > _LONGEST:
            return name
        self.depth += 1
        words = self.verbatim(found)
        self.depth -= 1
        self.substituted += len(words) + 1
        return words

    def _reference(self, node: nodes.reference) -> str:
        words = self.verbatim(node)
        address = node.get("refuri", "")
        if node.get("anonymous") and not address:
            target = next(self.unnamed, None)
            address = target.get("refuri", "") if target is not None else ""
        elif name := node.get("refname"):
            address, is_known = self._named(name)
            if not is_known:
                self.plain.links.append(Link(name, ""))
                return words if node.rawsource.startswith("|") else node.rawsource or words
        self._link(address)
        return words

    def _named(self, name: str) -> tuple[str, bool]:
        """Give the address behind a name of this document, and whether there is any."""
        for _step in range(_DEEPEST):
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

    def _link(self, address: str) -> None:
        if address.startswith("#"):
            self.plain.links.append(Link(address, self.context.document_id, address[1:]))
        elif address and ":" not in address.partition("/")[0]:
            found = self.context.references.page(address, self.context.document_id)
            if found is not None:
                self.plain.links.append(Link(address, found.document_id, found.anchor))
