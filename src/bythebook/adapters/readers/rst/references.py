"""Resolves the references of a book to places and titles."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from docutils import nodes

from bythebook.adapters.readers.plain_text import fold_to_ascii
from bythebook.adapters.readers.rst.outline import DocumentOutline, split_entry

_ROLE = re.compile(r":(doc|ref|numref|term|any|std:\w+):`([^`]+)`", re.IGNORECASE)
_PATHS = re.compile(r"<([^<>`\s]+)>`_|^ *\.\. _[^\n]*: +(\S+) *$", re.MULTILINE)
_PAGE = re.compile(r"\.(?:html?|rst)$")


@dataclass(frozen=True, slots=True)
class Destination:
    """A place in the book, and its title."""

    document_id: str
    anchor: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class References:
    """Every place in a book that a reference can name."""

    titles: Mapping[str, str] = field(default_factory=dict)  # document -> title
    labels: Mapping[str, Destination] = field(default_factory=dict)
    terms: Mapping[str, Destination] = field(default_factory=dict)
    sections: Mapping[str, Destination] = field(default_factory=dict)  # by title, or "doc:title"

    def find_document(self, target: str, source: str) -> Destination | None:
        """Find the document at a path relative to another document."""
        name = resolve_document_name(target, source)
        return Destination(name, "", self.titles[name]) if name in self.titles else None

    def find_label(self, target: str) -> Destination | None:
        """Find the place of a label, or the section with that title."""
        name = " ".join(target.split()).lower()
        return self.labels.get(name) or self.sections.get(name)

    def find_term(self, target: str) -> Destination | None:
        """Find the glossary entry of a term."""
        return self.terms.get(target) or self.terms.get(target.lower())

    def find_page(self, address: str, source: str) -> Destination | None:
        """Find the place that a relative address leads to; None outside the book.

        The document id is empty if the place should be in the book but does not exist.
        """
        parts = urlsplit(address)
        path = unquote(parts.path)
        if not path or not _PAGE.search(path):
            return None
        folder = "" if path.startswith("/") else posixpath.dirname(source)
        name = posixpath.normpath(posixpath.join(folder, _PAGE.sub("", path).lstrip("/")))
        if name.startswith("../"):
            return None
        return Destination(name if name in self.titles else "", parts.fragment)

    def find_used(self, text: str, source: str) -> Iterator[tuple[str, object]]:
        """Yield everything that a document's text takes from other documents."""
        for role, words in _ROLE.findall(text):
            whole = re.sub(r"\\(.)", r"\1", " ".join(words.split()))
            for target in dict.fromkeys((split_entry(whole)[1], whole)):
                yield role, self.find_document(target, source)
                yield target, (self.find_label(target), self.find_term(target))
        for inline, explicit in _PATHS.findall(text):
            address = inline or explicit
            if "://" not in address:
                yield address, self.find_page(address, source)


def resolve_document_name(target: str, source: str) -> str:
    """Return the name of the document at a path relative to another; never above the root."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(source), target)).lstrip("/")


def make_term_anchor(term: str) -> str:
    """Make the anchor of a glossary term as Sphinx does."""
    plain = fold_to_ascii(f"term-{term}")
    return re.sub(r"[^a-zA-Z0-9._]+", "-", " ".join(plain.split())).rstrip("-")


def collect_references(outlines: Mapping[str, DocumentOutline]) -> References:
    """Collect the places of all documents; the first of equal names wins."""
    titles = {name: outline.title or posixpath.basename(name) for name, outline in outlines.items()}
    labels: dict[str, Destination] = {}
    terms: dict[str, Destination] = {}
    sections: dict[str, Destination] = {}
    for name, outline in outlines.items():
        for label, title in outline.labels.items():
            key = " ".join(label.split()).lower()
            labels.setdefault(key, Destination(name, nodes.make_id(key), title))
        for term in outline.terms:
            place = Destination(name, make_term_anchor(term), term)
            terms.setdefault(term, place)
            terms.setdefault(term.lower(), place)
        for title in outline.titles:
            place = Destination(name, nodes.make_id(title), title)
            sections.setdefault(title.lower(), place)
            sections.setdefault(f"{name}:{title}".lower(), place)
    return References(titles, labels, terms, sections)
