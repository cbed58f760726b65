"""Contract A: POST /api/query (also /v1/query)."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import UUID4, BaseModel, ConfigDict, Field, model_validator

from bythebook.ask.show import message_citations
from bythebook.domain.answers import Answered, Outcome, RefusalType
from bythebook.domain.questions import Mode, Question, Scope
from bythebook.domain.records import MessageCitation
from bythebook.http.access.gate_routes import QuestionRoute, admit_session
from bythebook.http.contracts.fields import (
    FALLBACK,
    PLAIN,
    BookId,
    NearestSectionModel,
    to_nearest,
    write_full_answer,
)
from bythebook.http.contracts.incoming import make_incoming_question
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import Problem, ProblemKind, failures
from bythebook.operate.answerer import Answerer

PATHS = ("/api/query", "/v1/query")
_INSUFFICIENT = (
    "The provided book content does not contain sufficient information to answer this question"
)
REFUSAL_MESSAGES: Mapping[RefusalType, str] = {
    "empty_retrieval": _INSUFFICIENT,
    "low_relevance": _INSUFFICIENT,
    "insufficient_grounding": _INSUFFICIENT,
    "selected_text_missing": "The selected text does not contain this information",
}
ErrorCode = Literal[
    "QDRANT_TIMEOUT",
    "COHERE_FAILURE",
    "OPENROUTER_TIMEOUT",
    "VALIDATION_FAILED",
    "RATE_LIMIT_EXCEEDED",
    "OVERLOADED",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "PAYLOAD_TOO_LARGE",
    "OPENROUTER_FAILURE",
    "INTERNAL_ERROR",
]
_CODES: Mapping[ProblemKind, ErrorCode] = {
    "validation_failed": "VALIDATION_FAILED",
    "payload_too_large": "PAYLOAD_TOO_LARGE",
    "store_unavailable": "QDRANT_TIMEOUT",
    "embedder_unavailable": "COHERE_FAILURE",
    "database_unavailable": "QDRANT_TIMEOUT",
    "model_timeout": "OPENROUTER_TIMEOUT",
    "model_failed": "OPENROUTER_FAILURE",
    "rate_limited": "RATE_LIMIT_EXCEEDED",
    "overloaded": "OVERLOADED",
    "unauthorized": "UNAUTHORIZED",
    "forbidden": "FORBIDDEN",
    "internal": "INTERNAL_ERROR",
}


QueryText = Annotated[str, Field(min_length=1, max_length=500), *PLAIN]
SelectedText = Annotated[str, Field(min_length=10, max_length=5000), *PLAIN]


class QueryRequest(BaseModel):
    """A reader's question."""

    model_config = ConfigDict(extra="forbid")

    query: QueryText = Field(description="The question.")
    selected_text: SelectedText | None = Field(None, description="Answer from this text only.")
    top_k: int = Field(5, ge=1, le=20, strict=True, description="How many chunks to retrieve.")
    session_id: UUID4 | None = Field(None, description="The reader's session, echoed back.")
    book: BookId | None = Field(
        None, description="Id of the book to ask; without it all books are searched."
    )


class CitationModel(BaseModel):
    """A verbatim quote and where it stands."""

    chapter: str | None = Field(None, description="Chapter that it stands in.")
    section: str | None = Field(None, description='Section, or "Selected text".')
    source_url: str | None = Field(None, description="Opens the book at the section.")
    referenced_text: str | None = Field(None, max_length=500, description="The quote, verbatim.")
    sentence: int = Field(ge=0, description="Index of the sentence that this quote supports.")
    chunk_id: str = Field(description='Chunk that it stands in, or "selected_text".')
    document_id: str | None = Field(None, description="Page of the book that it stands in.")
    char_start: int = Field(ge=0, description="Offset of the quote in the document's .txt.")
    char_end: int = Field(ge=0, description="Offset after its last character.")
    link: str | None = Field(None, description="Opens the book at the quote.")
    permalink: str | None = Field(
        None,
        description="Opens the quote for as long as its words stand in the book, wherever they move.",
    )
    key: bool = Field(
        default=True, description="Whether its sentence answers, or is the context of one."
    )

    @model_validator(mode="after")
    def _names_a_place(self) -> Self:
        if not (self.chapter or self.section or self.source_url):
            raise ValueError("Citation must have at least one of: chapter, section, source_url")
        return self


class GroundedAnswer(BaseModel):
    """An answer, each sentence of it quoted from the book."""

    text: str = Field(min_length=1, max_length=2000, description="The whole answer.")
    citations: list[CitationModel] = Field(
        min_length=1, description="At least one for each sentence."
    )
    mode: Mode = Field(description="Whether the book was searched, or a selection alone read.")
    sentences: list[str] = Field(min_length=1, description="The verified sentences, in order.")
    key_sentences: list[int] = Field(
        min_length=1,
        description="Indexes of the sentences that answer; the others are their context.",
    )
    disclaimer: str | None = Field(
        None, description="What an answer opens with that is cautious or partial."
    )
    fallback: bool = Field(default=False, description=FALLBACK)


class RefusalMessage(BaseModel):
    """A refusal, with its type."""

    reason: str = Field(description="The fixed sentence of the type.")
    refusal_type: RefusalType = Field(description="Why there is no answer.")
    nearest_sections: list[NearestSectionModel] = Field(
        default_factory=list, description="Where to read on, nearest first."
    )

    @model_validator(mode="after")
    def _says_the_fixed_message(self) -> Self:
        if self.reason != REFUSAL_MESSAGES[self.refusal_type]:
            raise ValueError(f'Refusal message must be: "{REFUSAL_MESSAGES[self.refusal_type]}"')
        return self


class ErrorDetail(BaseModel):
    """What failed, and whether trying again helps."""

    code: ErrorCode = Field(description="What failed; the names stand for any store and model.")
    message: str = Field(min_length=1, max_length=200, description="A sentence for a person.")
    details: str | None = Field(None, max_length=500, description="Details.")
    retry_after: int | None = Field(None, ge=0, description="Seconds to wait before another try.")


class ResponseMetadata(BaseModel):
    """How the answer was made."""

    chunks_retrieved: int = Field(ge=0, description="Chunks that were found.")
    processing_time_ms: int = Field(ge=0, description="Time that the service took.")
    session_id: uuid.UUID | None = Field(None, description="The session that was given.")
    request_id: uuid.UUID = Field(description="As in X-Request-ID; feedback names it.")
    timestamp: datetime = Field(description="When it was answered, in UTC.")


class QueryResponse(BaseModel):
    """The envelope: exactly one of answer, refusal and error."""

    status: Literal["success", "refused", "error"] = Field(description="What it holds.")
    answer: GroundedAnswer | None = Field(None, description="Where the status is success.")
    refusal: RefusalMessage | None = Field(None, description="Where the status is refused.")
    error: ErrorDetail | None = Field(None, description="Where the status is error.")
    metadata: ResponseMetadata = Field(description="How it was made.")

    @model_validator(mode="after")
    def _holds_exactly_what_its_status_says(self) -> Self:
        parts = {"success": self.answer, "refused": self.refusal, "error": self.error}
        present = [status for status, part in parts.items() if part is not None]
        if present != [self.status]:
            raise ValueError("Exactly one of answer, refusal, error must be present")
        return self


def query_router(answerer: Answerer, reader_url: str) -> APIRouter:
    """Make the routes of contract A."""
    router = APIRouter(tags=["A: query"], route_class=QuestionRoute)
    errors = failures(QueryResponse, 401, 403, 413, 422, 429, 500, 502, 503, 504)

    async def query(request: Request, body: QueryRequest) -> QueryResponse:
        """Answer a question from the book, or refuse with a type."""
        context_of(request).session_id = body.session_id
        await admit_session(request, body.session_id)
        asked = make_incoming_question(
            request, "query", to_question(body), session_id=body.session_id
        )
        outcome = await answerer.collect(asked)
        return to_response(outcome, reader_url, _metadata(request, len(outcome.passages)))

    for path in PATHS:
        router.add_api_route(
            path,
            query,
            methods=["POST"],
            response_model=QueryResponse,
            responses=errors,
            operation_id="query" + path.replace("/", "_"),
            summary="Ask the book",
        )
    return router


def to_question(body: QueryRequest) -> Question:
    """Read the request."""
    return Question(body.query, Scope(body.book, body.selected_text), body.top_k)


def to_response(outcome: Outcome, reader_url: str, metadata: ResponseMetadata) -> QueryResponse:
    """Write an outcome as contract A's envelope."""
    if isinstance(outcome, Answered):
        return QueryResponse(
            status="success", answer=_answer(outcome, reader_url), metadata=metadata
        )
    refusal = RefusalMessage(
        reason=REFUSAL_MESSAGES[outcome.refusal_type],
        refusal_type=outcome.refusal_type,
        nearest_sections=to_nearest(outcome.nearest_sections),
    )
    return QueryResponse(status="refused", refusal=refusal, metadata=metadata)


def _answer(outcome: Answered, reader_url: str) -> GroundedAnswer:
    return GroundedAnswer(
        text=write_full_answer(outcome),
        citations=[
            to_citation(cited) for cited in message_citations(outcome.sentences, reader_url)
        ],
        mode=outcome.mode,
        sentences=[sentence.text for sentence in outcome.sentences],
        key_sentences=list(outcome.key_sentences),
        disclaimer=outcome.disclaimer,
        fallback=outcome.fallback,
    )


def to_citation(citation: MessageCitation) -> CitationModel:
    """Write a citation, as contracts A and C show it."""
    return CitationModel.model_validate(asdict(citation))


def _metadata(request: Request, chunks: int) -> ResponseMetadata:
    context = context_of(request)
    return ResponseMetadata(
        chunks_retrieved=chunks,
        processing_time_ms=round((time.perf_counter() - context.started) * 1000),
        session_id=context.session_id,
        request_id=context.request_id,
        timestamp=datetime.now(UTC),
    )


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract A's envelope."""
    code = _CODES.get(problem.kind)
    if code is None:  # a wrong method is not a failure of this contract
        return {"error": problem.kind, "message": problem.message}
    error = ErrorDetail(
        code=code,
        message=problem.message[:200],
        details=problem.details,
        retry_after=problem.retry_after,
    )
    response = QueryResponse(status="error", error=error, metadata=_metadata(request, 0))
    return response.model_dump(mode="json")
