"""Finds citations in published books, whose words are laid out once for each generation."""

from collections.abc import Sequence
from functools import lru_cache

from bythebook.cite.citation_id import CitationId
from bythebook.cite.find import FoundCitation, OlderWords, find_citation, find_in_place
from bythebook.cite.word_row import WordRow
from bythebook.domain.books import Book, DocumentText
from bythebook.ports import Library

_BOOKS_KEPT, _OLDER_KEPT = 4, 16


class CitationFinder:
    """Finds the words of citations where they stand now."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._words = lru_cache(_BOOKS_KEPT)(self._load_words)
        self._older = lru_cache(_OLDER_KEPT)(self._load_older)

    def find(self, cited: CitationId) -> FoundCitation:
        """Find a citation, or raise UnknownBook."""
        now = self._words(self._library.book(cited.book_id))
        return find_in_place(cited, now) or find_citation(cited, now, self._list_older(cited))

    def _list_older(self, cited: CitationId) -> Sequence[OlderWords]:
        """Return what is still kept: a purged text is not used from memory either."""
        names = self._library.older_generations(cited.book_id)
        if not names:
            self._older.cache_clear()
        found = (self._older(cited.book_id, name) for name in names)
        return [one for one in found if one is not None]

    def _load_words(self, book: Book) -> WordRow:
        documents = self._library.documents(book.book_id)
        return WordRow(DocumentText(one.document_id, one.title, one.text) for one in documents)

    def _load_older(self, book_id: str, generation: str) -> OlderWords | None:
        older = self._library.older_text(book_id, generation)
        return OlderWords(older) if older else None
