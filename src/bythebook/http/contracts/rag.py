"""Contract B: POST /query."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bythebook.ask import AskPorts, asks_for_list, is_greeting
from bythebook.ask.show import (
    RAG_BOUNDARY,
    advice,
    answer_sources,
    on_scale,
    section_name,
    section_url,
)
from bythebook.domain.answers import Answered, Outcome, Passage, Refused
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError, UnknownBook, UnknownDocument
from bythebook.http.access.gate_routes import QuestionRoute
from bythebook.http.contracts.fields import PLAIN, BookId, write_full_answer
from bythebook.http.contracts.incoming import make_incoming_question
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import Problem, ProblemKind, failures
from bythebook.operate.answerer import Answerer
from bythebook.ports import Library

PATH = "/query"
MOST_SENTENCES = 3
WELCOME = "Hello! Ask a question about the book, and you will get what it says, with the pages."
NO_MATCH = "The book does not answer this question."
ErrorType = Literal[
    "ValidationError",
    "RetrievalError",
    "GenerationError",
    "TimeoutError",
    "RateLimitError",
    "OverloadedError",
    "UnknownError",
    "AuthenticationError",
    "PermissionError",
    "PayloadTooLarge",
]
_TYPES: Mapping[ProblemKind, ErrorType] = {
    "validation_failed": "ValidationError",
    "store_unavailable": "RetrievalError",
    "embedder_unavailable": "RetrievalError",
    "database_unavailable": "RetrievalError",
    "model_failed": "GenerationError",
    "model_timeout": "TimeoutError",
    "rate_limited": "RateLimitError",
    "overloaded": "OverloadedError",
    "internal": "UnknownError",
    "unauthorized": "AuthenticationError",
    "forbidden": "PermissionError",
    "payload_too_large": "PayloadTooLarge",
}
RagQuery = Annotated[str, Field(min_length=1, max_length=2000), *PLAIN]
_QUERY: TypeAdapter[str] = TypeAdapter(RagQuery)


class RagRequest(BaseModel):
    """A reader's question."""

    model_config = ConfigDict(extra="forbid")

    query: RagQuery = Field(description="The question.")
    top_k: int = Field(5, ge=1, le=50, strict=True, description="How many chunks to retrieve.")
    model: str | None = Field(
        None,
        description="Language model to answer with, one of those that the service allows; "
        "without it the configured one.",
    )
    book: BookId | None = Field(
        None, description="Id of the book to ask; without it all books are searched."
    )


class SourceReference(BaseModel):
    """A page that the answer rests on."""

    url: str = Field(
        pattern="^https?://",
        json_schema_extra={"format": "uri"},
        description="Opens the page at its best section.",
    )
    page_title: str = Field(min_length=1, description="Title of the page.")
    relevance_score: float = Field(ge=0.0, le=1.0, description="Of the page's best chunk.")
    chunk_index: int | None = Field(None, ge=0, description="Place of that chunk in the page.")


class RagResponse(BaseModel):
    """An answer with its pages; without a match it says so, and has none."""

    query: str = Field(description="The question, as asked.")
    answer: str = Field(min_length=1, description="The answer, or that there is none.")
    sources: list[SourceReference] = Field(
        description="One per page: the cited ones first, then others judged relevant, best first."
    )
    model_used: str = Field(
        description="What answered: a language model, or `bythebook-extractive` where the book's own "
        "excerpt does, also in a model's place."
    )
    tokens_used: int = Field(ge=0, description="Prompt and completion; 0 without a model.")
    retrieval_count: int = Field(
        ge=0, description="Chunks retrieved, before they are merged by page."
    )
    disclaimer: str | None = Field(
        None, description="What an answer opens with that is cautious or partial."
    )


class RagError(BaseModel):
    """A failure."""

    error: Literal[True] = Field(default=True, description="Always true.")
    error_type: ErrorType = Field(description="What failed.")
    error_message: str = Field(min_length=1, description="A sentence for a person.")
    query: str | None = Field(None, description="The question, where it could be read.")
    status_code: int = Field(ge=400, le=599, description="The HTTP status.")


def rag_router(answerer: Answerer, models: Sequence[str]) -> APIRouter:
    """Make the route of contract B."""
    router = APIRouter(tags=["B: retrieval-augmented query"], route_class=QuestionRoute)
    errors = failures(RagError, 401, 403, 413, 422, 429, 500, 502, 503, 504)

    @router.post(PATH, responses=errors, operation_id="rag_query", summary="Ask, and get the pages")
    async def query(request: Request, body: RagRequest) -> RagResponse:
        """Answer a question in few sentences, with the pages that say so."""
        context_of(request).question = body.query
        _require_model(body.model, models)
        incoming = make_incoming_question(request, "rag", to_question(body))
        if is_greeting(body.query):
            return _welcome(body.query, answerer.greet(incoming))
        outcome = await answerer.collect(incoming)
        return await asyncio.to_thread(to_response, body.query, outcome, answerer.ports)

    return router


def to_question(body: RagRequest) -> Question:
    """Read the request; few sentences are not enough for steps or a list."""
    most = None if asks_for_list(body.query) else MOST_SENTENCES
    return Question(body.query, Scope(body.book), body.top_k, most, model=body.model)


def to_response(query: str, outcome: Outcome, ports: AskPorts) -> RagResponse:
    """Write an outcome as contract B's response."""
    answered = outcome if isinstance(outcome, Answered) else None
    return RagResponse(
        query=query,
        answer=_no_match(outcome) if isinstance(outcome, Refused) else write_full_answer(outcome),
        sources=_sources(answered, ports) if answered else [],
        model_used=outcome.model_used,
        tokens_used=outcome.usage.tokens,
        retrieval_count=len(outcome.passages),
        disclaimer=answered.disclaimer if answered else None,
    )


def _require_model(model: str | None, models: Sequence[str]) -> None:
    if model is not None and model not in models:
        raise InputError(f"model: must be one of: {', '.join(models)}.")


def _welcome(query: str, outcome: Answered) -> RagResponse:
    return RagResponse(
        query=query,
        answer=WELCOME,
        sources=[],
        model_used=outcome.model_used,
        tokens_used=0,
        retrieval_count=0,
    )


def _no_match(outcome: Refused) -> str:
    """Write that there is no answer, what to try, and where to read on, with links."""
    nearest = dict.fromkeys(f"{section_name(n)} ({n.url})" for n in outcome.nearest_sections)
    sections = f"The nearest sections are: {'; '.join(nearest)}." if nearest else ""
    return " ".join(filter(None, (NO_MATCH, advice(outcome), sections)))


def _sources(outcome: Answered, ports: AskPorts) -> list[SourceReference]:
    """Merge sources by page, each with its best score; pages with a cited chunk come first."""
    found = sorted(answer_sources(outcome), key=lambda source: -source.passage.relevance)
    cited = {_page(source.passage.chunk) for source in found if source.cited}
    pages: dict[tuple[str, str], Passage] = {}
    for source in found:
        pages.setdefault(_page(source.passage.chunk), source.passage)
    return [_source(pages[page], ports) for page in sorted(pages, key=lambda one: one not in cited)]


def _page(chunk: Chunk) -> tuple[str, str]:
    return chunk.book_id, chunk.document_id


def _source(passage: Passage, ports: AskPorts) -> SourceReference:
    return SourceReference(
        url=section_url(passage.chunk, ports.reader_url),
        page_title=_page_title(passage.chunk, ports.library),
        relevance_score=round(on_scale(passage.relevance, RAG_BOUNDARY), 4),
        chunk_index=passage.chunk.chunk_index,
    )


def _page_title(chunk: Chunk, library: Library) -> str:
    try:
        title = library.document(chunk.book_id, chunk.document_id).title
    except (UnknownBook, UnknownDocument):
        title = ""  # a new generation replaced the one that was searched
    return title or chunk.chapter or chunk.section or chunk.document_id


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract B's error."""
    kind = _TYPES.get(problem.kind)
    if kind is None:  # a wrong method is not a failure of this contract
        return {"error": problem.kind, "message": problem.message}
    error = RagError(
        error_type=kind,
        error_message=" ".join(filter(None, (problem.message, problem.details))),
        query=_query_of(request),
        status_code=problem.status,
    )
    return error.model_dump(mode="json")


def _query_of(request: Request) -> str | None:
    """Return the question if it could be read, even from an invalid request."""
    context = context_of(request)
    body = context.rejected_body
    given = body.get("query") if isinstance(body, dict) else None
    try:
        return context.question or _QUERY.validate_python(given)
    except ValidationError:
        return None
