"""Places on pages: what is highlighted, which ids headings have, where links lead."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote as percent

from bythebook.domain.books import Document

QUOTE = "quote"  # the id that links to a highlighted place lead to


@dataclass(frozen=True, slots=True)
class Highlight:
    """The place of a quote in a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the pages and pictures of a book are."""

    book_id: str
    service: str = ""  # the address of the service; empty on its own pages

    def page(self, document_id: str, anchor: str = "") -> str:
        """Return the address of a page, or of a place on it."""
        page = f"{self.service}/read/{self.book_id}/{percent(document_id)}"
        return f"{page}#{percent(anchor)}" if anchor else page

    def picture(self, file: str) -> str:
        """Return the address of a picture."""
        return f"{self.service}/pictures/{self.book_id}/{file}"


def name_anchors(document: Document, highlight: Highlight | None = None) -> Mapping[int, str]:
    """Give each section an id by its start: the book's own where it is free, else one of ours."""
    taken = {QUOTE} if highlight else set()
    anchors: dict[int, str] = {}
    for section in document.sections:
        own = section.anchor
        anchors[section.start] = own if own and own not in taken else f"_at-{section.start}"
        taken.add(anchors[section.start])
    return anchors


def opens_with_title(document: Document) -> bool:
    """Return True if a document begins with a heading that names it."""
    first = document.blocks[:1]
    return bool(first) and first[0].kind == "heading" and first[0].level <= 1
