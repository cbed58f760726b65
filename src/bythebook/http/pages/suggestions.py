"""GET /suggestions: questions that a book is known to answer, for a reader who does not know what to ask."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.requests import Request
from pydantic import BaseModel, ConfigDict, Field

from bythebook.ask import readable_books
from bythebook.domain.books import Book
from bythebook.domain.suggestions import Suggestion
from bythebook.http.access.gate_routes import AskRoute
from bythebook.http.contracts.ask import AskError
from bythebook.http.contracts.fields import BookId
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import failures
from bythebook.ports import Library, Suggestions

PATH = "/suggestions"
SHOWN, MOST_SHOWN = 4, 24


class SuggestionsRequest(BaseModel):
    """Where the reader is."""

    model_config = ConfigDict(extra="forbid")

    book: BookId | None = Field(None, description="Id of the book; without it all books suggest.")
    document: str = Field(
        "", max_length=500, description="Id of the page that is open: its questions come first."
    )
    limit: int = Field(SHOWN, ge=1, le=MOST_SHOWN, description="Questions at most.")


class SuggestionModel(BaseModel):
    """A question that the book answers."""

    question: str = Field(description="The question, to be asked as it is.")
    book: str = Field(description="Id of the book that answers it.")
    chapter: str = Field(description="The chapter that answers it.")
    section: str = Field(description="The section that answers it.")


class SuggestionsResponse(BaseModel):
    """What a reader may ask."""

    suggestions: list[SuggestionModel] = Field(
        max_length=MOST_SHOWN,
        description="The nearest to the open page first; none if none are known.",
    )


def suggestions_router(library: Library, suggestions: Suggestions) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["search"], route_class=AskRoute)
    errors = failures(AskError, 401, 403, 422, 429, 500, 503)

    @router.get(PATH, responses=errors, operation_id="suggestions", summary="Find what to ask")
    async def find(
        request: Request, asked: Annotated[SuggestionsRequest, Query()]
    ) -> SuggestionsResponse:
        """Return questions that were put to the book when it was published, and that it answered clearly."""
        readable = context_of(request).caller.readable
        books = readable_books(library, asked.book, readable)
        shown = choose_suggestions(books, suggestions, asked.limit, asked.document)
        return SuggestionsResponse(suggestions=[_model(book, one) for book, one in shown])

    return router


class NoSuggestions:
    """Suggests nothing."""

    def of(self, _book: Book) -> Sequence[Suggestion]:
        """Return nothing."""
        return ()

    def keep(self, _book: Book, _suggestions: Sequence[Suggestion]) -> None:
        """Keep nothing."""


def choose_suggestions(
    books: Sequence[Book], suggestions: Suggestions, limit: int, document: str = ""
) -> list[tuple[Book, Suggestion]]:
    """Choose questions of the open page, then of its chapter, then from all over the books."""
    known = [(book, one) for book in books for one in suggestions.of(book)]
    chapters = {one.chapter for _, one in known if document and one.document_id == document}
    near = [pair for pair in known if document and pair[1].document_id == document]
    near += [pair for pair in known if pair[1].chapter in chapters and pair not in near]
    others = [pair for pair in known if pair not in near]
    return (near + _spread(others, limit - len(near)))[:limit]


def _spread(known: Sequence[tuple[Book, Suggestion]], wanted: int) -> list[tuple[Book, Suggestion]]:
    """Take questions at equal distances, so that they come from different chapters."""
    if wanted <= 0:
        return []
    step = max(1.0, len(known) / wanted)
    return [known[int(number * step)] for number in range(min(wanted, len(known)))]


def _model(book: Book, one: Suggestion) -> SuggestionModel:
    return SuggestionModel(
        question=one.question, book=book.book_id, chapter=one.chapter, section=one.section
    )
