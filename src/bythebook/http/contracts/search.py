"""GET /search: the sections nearest to a question, without judging them."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.requests import Request
from pydantic import BaseModel, ConfigDict, Field

from bythebook.ask import MOST_TEXT, AskPorts, FoundSection, search_sections
from bythebook.domain.questions import Question, Scope
from bythebook.http.access.gate_routes import AskRoute
from bythebook.http.contracts import ask as contract_ask
from bythebook.http.contracts.ask import AskError
from bythebook.http.contracts.fields import PLAIN, BookId
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import Problem, failures

PATH = "/search"
SECTIONS, MOST_SECTIONS = 5, 20

SearchText = Annotated[str, Field(min_length=1, max_length=500), *PLAIN]


class SearchRequest(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid")

    q: SearchText = Field(description="A question, or words to look for.")
    book: BookId | None = Field(
        None, description="Id of the book to search; without it all books are searched."
    )
    limit: int = Field(SECTIONS, ge=1, le=MOST_SECTIONS, description="Sections at most.")


class FoundSectionModel(BaseModel):
    """A section that may hold the answer."""

    chapter: str = Field(description="Its chapter.")
    section: str = Field(description="Its title.")
    url: str = Field(description="Opens the book at the sentence that fits best, marked.")
    reader_url: str = Field(
        description="The same on this service's own page of the book, also where it has a site."
    )
    text: str = Field(
        min_length=1, max_length=MOST_TEXT, description="That sentence, and more if there is room."
    )


class SearchResponse(BaseModel):
    """The nearest sections, which may or may not answer."""

    sections: list[FoundSectionModel] = Field(
        max_length=MOST_SECTIONS, description="Each once, best first."
    )


def search_router(ports: AskPorts) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["search"], route_class=AskRoute)
    errors = failures(AskError, 401, 403, 422, 429, 500, 503)

    @router.get(PATH, responses=errors, operation_id="search", summary="Find the nearest sections")
    async def find(request: Request, asked: Annotated[SearchRequest, Query()]) -> SearchResponse:
        """Find sections by meaning and by words, within milliseconds; nothing is stored."""
        scope = Scope(asked.book, readable=context_of(request).caller.readable)
        found = await search_sections(Question(asked.q, scope, asked.limit), ports)
        return SearchResponse(sections=[_model(one) for one in found])

    return router


def _model(found: FoundSection) -> FoundSectionModel:
    return FoundSectionModel(
        chapter=found.chapter,
        section=found.section,
        url=found.url,
        reader_url=found.reader_url,
        text=found.text,
    )


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract D does; a field is named as in the address."""
    named = replace(
        problem,
        message=problem.message.removeprefix("query."),
        details=problem.details and problem.details.replace("query.", ""),
    )
    return contract_ask.error_shape(request, named)
