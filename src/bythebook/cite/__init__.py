"""Citations that last: a citation -> its id, and an id -> where its words stand now."""

from bythebook.cite.citation_id import CitationId, make_citation_id, read_citation_id
from bythebook.cite.find import FoundCitation, OlderWords, Status, find_citation, find_in_place
from bythebook.cite.finder import CitationFinder
from bythebook.cite.word_row import Place, WordRow

__all__ = [
    "CitationFinder",
    "CitationId",
    "FoundCitation",
    "OlderWords",
    "Place",
    "Status",
    "WordRow",
    "find_citation",
    "find_in_place",
    "make_citation_id",
    "read_citation_id",
]
