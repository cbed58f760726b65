"""A book in this process, from Python: asked, searched and read without a service."""

from bythebook.open_book.book import AsyncBook, Book
from bythebook.open_book.results import (
    Answer,
    Citation,
    FoundSection,
    NearestSection,
    Page,
    Section,
    Sections,
)

__all__ = [
    "Answer",
    "AsyncBook",
    "Book",
    "Citation",
    "FoundSection",
    "NearestSection",
    "Page",
    "Section",
    "Sections",
]
