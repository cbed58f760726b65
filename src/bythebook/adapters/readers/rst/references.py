"""Where the references of a book lead, and the words that they show."""

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from docutils import nodes

from bythebook.adapters.readers.rst.outline import Outline, split_entry

_ROLE = re.compile(r":(doc|ref|numref|term|any|std:\w+):`([^`]+)`", re.IGNORECASE)
_PATHS = re.compile(r"<([^<>`\s]+)>`_|^ *\.\. _[^\n]*: +(\S+) *$", re.MULTILINE)
_PAGE = re.compile(r"\.(?:html?|rst)$")


@dataclass(frozen=True, slots=True)
class Destination:
    """A place in the book, and what it is called."""

    document_id: str
    anchor: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class References:
    """Every place of a book that a reference can name."""

    titles: Mapping[str, str] = field(default_factory=dict)  # document -> title
    labels: Mapping[str, Destination] = field(default_factory=dict)
    terms: Mapping[str, Destination] = field(default_factory=dict)
    sections: Mapping[str, Destination] = field(default_factory=dict)  # by title, or "doc:title"

    def document(self, target: str, source: str) -> Destination | None:
        """Find the document that a path names, as seen from another document."""
        name = document_name(target, source)
        return Destination(name, "", self.titles[name]) if name in self.titles else None

    def label(self, target: str) -> Destination | None:
        """Find what a label stands before, or the section of that title."""
        name = " ".join(target.split()).lower()
        return self.labels.get(name) or self.sections.get(name)

    def term(self, target: str) -> Destination | None:
        """Find where the glossary explains a term."""
        return self.terms.get(target) or self.terms.get(target.lower())

    def page(self, address: str, source: str) -> Destination | None:
        """Find the place that an address relative to a document leads to, none if outside.

        One that should be in the book and is not has no document.
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

    def taken(self, text: str, source: str) -> Iterator[tuple[str, object]]:
        """Give all that a document's text takes from elsewhere in the book."""
        for role, words in _ROLE.findall(text):
            whole = re.sub(r"\\(.)", r"\1", " ".join(words.split()))
            for target in dict.fromkeys((split_entry(whole)[1], whole)):
                yield role, self.document(target, source)
                yield target, (self.label(target), self.term(target))
        for inline, explicit in _PATHS.findall(text):
            address = inline or explicit
            if "://" not in address:
                yield address, self.page(address, source)


def document_name(target: str, source: str) -> str:
    """Give the name of the document at a path relative to another; none is above the root."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(source), target)).lstrip("/")


def term_anchor(term: str) -> str:
    """Make the anchor of a term in a glossary as Sphinx does."""
    plain = unicodedata.normalize("NFKD", f"term-{term}").encode("ascii", "ignore").decode()
    return re.sub(r"[^a-zA-Z0-9._]+", "-", " ".join(plain.split())).rstrip("-")


def collect_references(outlines: Mapping[str, Outline]) -> References:
    """Collect the places of all documents of a book; of equal names the first counts."""
    titles = {name: outline.title or posixpath.basename(name) for name, outline in outlines.items()}
    labels: dict[str, Destination] = {}
    terms: dict[str, Destination] = {}
    sections: dict[str, Destination] = {}
    for name, outline in outlines.items():
        for label, title in outline.labels.items():
            key = " ".join(label.split()).lower()
            labels.setdefault(key, Destination(name, nodes.make_id(key), title))
        for term in outline.terms:
            place = Destination(name, term_anchor(term), term)
            terms.setdefault(term, place)
            terms.setdefault(term.lower(), place)
        for title in outline.titles:
            place = Destination(name, nodes.make_id(title), title)
            sections.setdefault(title.lower(), place)
            sections.setdefault(f"{name}:{title}".lower(), place)
    return References(titles, labels, terms, sections)
