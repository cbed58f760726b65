"""GET /c/{id}: opens the passage of a citation where it stands now, or says what became of it."""

import asyncio
from dataclasses import dataclass
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from bythebook.ask.show import quote_check
from bythebook.cite import CitationFinder, CitationId, FoundCitation, Place, read_citation_id
from bythebook.domain.books import Book
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.http.pages.failures import PageRoute
from bythebook.http.pages.machines.metadata import CLOSED
from bythebook.http.pages.render import SECURITY_HEADERS, render_page
from bythebook.ports import Library

_NO_CITATION = "This is no citation of a book here."
_GONE = 410


@dataclass(frozen=True, slots=True)
class OpenedCitation:
    """A citation of a book that is here, and what became of it."""

    cited: CitationId
    book: Book
    found: FoundCitation


@dataclass(frozen=True, slots=True)
class CitationPages:
    """Opens citations by their ids."""

    library: Library
    finder: CitationFinder

    def open(self, citation_id: str) -> OpenedCitation | None:
        """Open a citation; None if it is none, or there is no such book."""
        cited = read_citation_id(citation_id)
        if cited is None:
            return None
        try:
            return OpenedCitation(cited, self.library.book(cited.book_id), self.finder.find(cited))
        except UnknownBook:
            return None

    def open_on_page(self, citation_id: str, document_id: str) -> OpenedCitation | None:
        """Open the citation that led to a page; None if it leads elsewhere by now."""
        opened = self.open(citation_id) if citation_id else None
        place = opened.found.place if opened else None
        return opened if place and place.document_id == document_id else None

    def words_at(self, book_id: str, place: Place) -> str:
        """Return the words at a place; nothing if the book has changed meanwhile."""
        try:
            return self.library.document(book_id, place.document_id).text[place.start : place.end]
        except (UnknownBook, UnknownDocument):
            return ""


def citations_router(pages: CitationPages) -> APIRouter:
    """Make the route."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/c/{citation_id}")
    async def open_citation(citation_id: str) -> Response:
        opened = await asyncio.to_thread(pages.open, citation_id)
        if opened is None:
            raise HTTPException(404, _NO_CITATION)
        place = opened.found.place
        if place is None:
            page = render_page(
                "reader/gone.html", book=opened.book, found=opened.found, metadata=CLOSED
            )
            page.status_code = _GONE
            return page
        words = await asyncio.to_thread(pages.words_at, opened.book.book_id, place)
        headers = {**SECURITY_HEADERS, "Cache-Control": "no-cache"}
        return RedirectResponse(_link(opened.cited, place, words), 302, headers=headers)

    return router


def _link(cited: CitationId, place: Place, words: str) -> str:
    mark = f"{place.start}-{place.end}-{quote_check(words)}"
    query = urlencode({"mark": mark, "cited": str(cited)})
    return f"/read/{cited.book_id}/{percent(place.document_id)}?{query}#quote"
