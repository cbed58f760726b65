"""Interpreted text: the words that a reader sees of each role."""

import re
from dataclasses import dataclass, field

from docutils import nodes
from docutils.utils import unescape

from bythebook.adapters.readers.rst.elements import crossing_to
from bythebook.adapters.readers.rst.outline import split_entry
from bythebook.adapters.readers.rst.references import Destination, References
from bythebook.domain.books import Link

_AS_WRITTEN = frozenset("code literal command program regexp newsgroup mimetype".split())
_AS_WORDS = frozenset(
    """abbr abbreviation ac acronym emphasis strong sub subscript sup superscript title-reference
    title t kbd dfn makevar manpage mailheader""".split()
)
_BRACED = frozenset({"file", "samp"})
_NUMBERED = {"pep": "PEP", "pep-reference": "PEP", "rfc": "RFC", "rfc-reference": "RFC"}
_SPHINX_PAGES = {"genindex": "Index", "modindex": "Module Index", "search": "Search Page"}
_BOOK = frozenset("doc ref numref term any".split())


@dataclass(slots=True)
class RoleContext:
    """What the roles of one document need to know."""

    document_id: str = ""
    references: References = field(default_factory=References)
    external: dict[str, str] = field(default_factory=dict)  # role -> caption with %s
    own: dict[str, tuple[str, str]] = field(default_factory=dict)  # role -> base, format
    default: str = "emphasis"


def role_nodes(role: str, text: str, context: RoleContext) -> list[nodes.Node]:
    """Give the elements of interpreted text; a role that is not known shows its words."""
    name = role.lower() or context.default
    seen = 0
    while name in context.own and seen < 10:  # a role may be made of itself
        base, form = context.own[name]
        if base == "raw":
            raw = unescape(text, restore_backslashes=True)
            return [nodes.raw(raw, raw, format=form)]
        name, seen = base, seen + 1
    if name == "math":
        formula = unescape(text, restore_backslashes=True)
        return [nodes.math(formula, formula)]
    words, kind = unescape(text), name.removeprefix("std:")
    # What a document takes from others is looked for by its role as written.
    leads = kind in _BOOK and name == role.lower()
    words = " ".join(words.split()) if leads else words
    entry = ("", words) if "\0<" in text else split_entry(words)  # an escaped bracket is a word
    if leads:
        return [_crossing(kind, words, entry, context)]
    written = unescape(text, restore_backslashes=True)
    shown = _words(name, written if name in _AS_WRITTEN else words, entry, context)
    return [nodes.inline(shown, shown)]


def _words(name: str, words: str, entry: tuple[str, str], context: RoleContext) -> str:
    title, target = entry
    if name in context.external:
        return title or context.external[name].replace("%s", target)
    if name in _AS_WRITTEN or name in _AS_WORDS:
        return words
    if name in _BRACED:
        return re.sub(r"\{([^{}]*)\}", r"\1", words)
    if name in _NUMBERED:
        return title or f"{_NUMBERED[name]} {target.split('#')[0]}"
    if name in {"guilabel", "menuselection"}:
        return re.sub(r"&(?=\w)", "", words.replace("-->", "‣"))
    return _reference_words(words, title, target)


def _reference_words(words: str, title: str, target: str) -> str:
    """Give what a reference to code shows: its title, or the name without what leads to it."""
    if title and not re.search(r"\s", target):
        return title
    if words.startswith("~"):
        return words[1:].rpartition(".")[2]
    return re.sub(r"^[!.](?=\w)", "", words)


def _crossing(kind: str, words: str, entry: tuple[str, str], context: RoleContext) -> nodes.Node:
    title, target = entry
    if target.startswith("!") or words.startswith("!"):
        return nodes.inline("", title or words.lstrip("!"))
    if target in _SPHINX_PAGES:
        return nodes.inline("", title or _SPHINX_PAGES[target])
    found = _destination(kind, target, context)
    shown = title or (target if kind == "term" else (found.title if found else "") or target)
    link = Link(target, found.document_id if found else "", found.anchor if found else "")
    # "any" may also name code, which is not known here.
    return crossing_to(shown, None if kind == "any" and found is None else link)


def _destination(kind: str, target: str, context: RoleContext) -> Destination | None:
    references = context.references
    if kind == "doc":
        return references.document(target, context.document_id)
    if kind == "term":
        return references.term(target)
    if kind == "any":
        return (
            references.document(target, context.document_id)
            or references.label(target)
            or references.term(target)
        )
    return references.label(target)
