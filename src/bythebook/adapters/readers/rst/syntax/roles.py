"""Interpreted text: the visible text of each role."""

import re
from dataclasses import dataclass, field

from docutils import nodes
from docutils.utils import unescape

from bythebook.adapters.readers.page_targets import FindPicture
from bythebook.adapters.readers.rst.outline import split_entry
from bythebook.adapters.readers.rst.references import Destination, References
from bythebook.adapters.readers.rst.syntax.elements import make_cross_reference
from bythebook.domain.books import Link

_LITERAL_ROLES = frozenset("code literal command program regexp newsgroup mimetype".split())
_TEXT_ROLES = frozenset(
    """abbr abbreviation ac acronym emphasis strong sub subscript sup superscript title-reference
    title t kbd dfn makevar manpage mailheader""".split()
)
_BRACED_ROLES = frozenset({"file", "samp"})
_NUMBERED_ROLES = {"pep": "PEP", "pep-reference": "PEP", "rfc": "RFC", "rfc-reference": "RFC"}
_STYLED_ROLES: dict[str, type[nodes.TextElement]] = {
    "emphasis": nodes.emphasis, "strong": nodes.strong, "title-reference": nodes.emphasis,
    "title": nodes.emphasis, "t": nodes.emphasis, "dfn": nodes.emphasis, "sub": nodes.subscript,
    "subscript": nodes.subscript, "sup": nodes.superscript, "superscript": nodes.superscript,
}  # fmt: skip
_CODE_ROLES = frozenset(
    """func meth class mod attr exc data const obj type macro member struct union enum option envvar token
    keyword opcode var""".split()
)
_SPHINX_PAGES = {"genindex": "Index", "modindex": "Module Index", "search": "Search Page"}
_BOOK_ROLES = frozenset("doc ref numref term any".split())


@dataclass(slots=True)
class RoleContext:
    """The data that the roles of one document need."""

    document_id: str = ""
    references: References = field(default_factory=References)
    external: dict[str, str] = field(default_factory=dict)  # role -> caption with %s
    own: dict[str, tuple[str, str]] = field(default_factory=dict)  # role -> base, format
    default: str = "emphasis"
    find_picture: FindPicture = lambda _target: None


def make_role_nodes(role: str, text: str, context: RoleContext) -> list[nodes.Node]:
    """Return the nodes of interpreted text; an unknown role shows its text."""
    name = role.lower() or context.default
    seen = 0
    while name in context.own and seen < 10:  # a role may be based on itself
        base, form = context.own[name]
        if base == "raw":
            raw = unescape(text, restore_backslashes=True)
            return [nodes.raw(raw, raw, format=form)]
        name, seen = base, seen + 1
    if name == "math":
        formula = unescape(text, restore_backslashes=True)
        return [nodes.math(formula, formula)]
    words, kind = unescape(text), name.removeprefix("std:")
    # References.find_used searches for these roles as written.
    leads = kind in _BOOK_ROLES and name == role.lower()
    words = " ".join(words.split()) if leads else words
    # An escaped bracket is part of the text.
    entry = ("", words) if "\0<" in text else split_entry(words)
    if leads:
        return [_make_cross_reference(kind, words, entry, context)]
    written = unescape(text, restore_backslashes=True)
    shown = _find_shown_text(name, written if name in _LITERAL_ROLES else words, entry, context)
    if name in {"kbd", "guilabel", "menuselection"}:
        return [nodes.inline(shown, shown, classes=["kbd"] if name == "kbd" else [])]
    return [_find_node_type(name, context)(shown, shown)]


def _find_node_type(name: str, context: RoleContext) -> type[nodes.TextElement]:
    """Return how a role is set: names of code as code, as Sphinx does."""
    if name in _STYLED_ROLES:
        return _STYLED_ROLES[name]
    is_plain = name in _TEXT_ROLES or name in _NUMBERED_ROLES or name in context.external
    is_code = (
        name in _LITERAL_ROLES or name in _BRACED_ROLES or (":" in name or name in _CODE_ROLES)
    )
    return nodes.literal if is_code and not is_plain else nodes.inline


def _find_shown_text(name: str, words: str, entry: tuple[str, str], context: RoleContext) -> str:
    title, target = entry
    if name in context.external:
        return title or context.external[name].replace("%s", target)
    if name in _LITERAL_ROLES or name in _TEXT_ROLES:
        return words
    if name in _BRACED_ROLES:
        return re.sub(r"\{([^{}]*)\}", r"\1", words)
    if name in _NUMBERED_ROLES:
        return title or f"{_NUMBERED_ROLES[name]} {target.split('#')[0]}"
    if name in {"guilabel", "menuselection"}:
        return re.sub(r"&(?=\w)", "", words.replace("-->", "‣"))
    return _shorten_reference(words, title, target)


def _shorten_reference(words: str, title: str, target: str) -> str:
    """Return the visible text of a reference to code: its title, or the name without its prefix."""
    if title and not re.search(r"\s", target):
        return title
    if words.startswith("~"):
        return words[1:].rpartition(".")[2]
    return re.sub(r"^[!.](?=\w)", "", words)


def _make_cross_reference(
    kind: str, words: str, entry: tuple[str, str], context: RoleContext
) -> nodes.Node:
    title, target = entry
    if target.startswith("!") or words.startswith("!"):
        return nodes.inline("", title or words.lstrip("!"))
    if target in _SPHINX_PAGES:
        return nodes.inline("", title or _SPHINX_PAGES[target])
    found = _find_destination(kind, target, context)
    shown = title or (target if kind == "term" else (found.title if found else "") or target)
    link = Link(target, found.document_id if found else "", found.anchor if found else "")
    # "any" may also refer to code, which is unknown here.
    return make_cross_reference(shown, None if kind == "any" and found is None else link)


def _find_destination(kind: str, target: str, context: RoleContext) -> Destination | None:
    references = context.references
    if kind == "doc":
        return references.find_document(target, context.document_id)
    if kind == "term":
        return references.find_term(target)
    if kind == "any":
        return (
            references.find_document(target, context.document_id)
            or references.find_label(target)
            or references.find_term(target)
        )
    return references.find_label(target)
