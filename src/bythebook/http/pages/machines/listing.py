"""Which books machines may find: all of an open service; on one with keys, those that are listed."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.domain.books import Book
from bythebook.ports import Library

ALL = "*"


@dataclass(frozen=True, slots=True)
class Listing:
    """The books that an operator lists; any other is closed once the service has keys."""

    ids: frozenset[str] = frozenset()

    def shows(self, book_id: str, *, is_open: bool) -> bool:
        """Return True if machines may find a book."""
        return is_open or ALL in self.ids or book_id in self.ids

    def books(self, library: Library, *, is_open: bool) -> Sequence[Book]:
        """Return the books that machines may find."""
        return [one for one in library.books() if self.shows(one.book_id, is_open=is_open)]
