"""Contract A: POST /api/query (also /v1/query)."""

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import UUID4, BaseModel, ConfigDict, Field, model_validator

from bythebook.ask.links import quote_link, section_url
from bythebook.ask.pipeline import AskPorts, collect
from bythebook.ask.verify import numbered
from bythebook.domain.answers import SELECTED_TEXT, Answered, Citation, Outcome, RefusalType
from bythebook.domain.questions import Mode, Question, Scope
from bythebook.http.fields import PLAIN, BookId, NearestSectionModel, to_nearest, told_text
from bythebook.http.problems import Problem, ProblemKind

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
    "model_timeout": "OPENROUTER_TIMEOUT",
    "model_failed": "OPENROUTER_FAILURE",
    "rate_limited": "RATE_LIMIT_EXCEEDED",
    "unauthorized": "UNAUTHORIZED",
    "forbidden": "FORBIDDEN",
    "internal": "INTERNAL_ERROR",
}


QueryText = Annotated[str, Field(min_length=1, max_length=500), *PLAIN]
SelectedText = Annotated[str, Field(min_length=10, max_length=5000), *PLAIN]


class QueryRequest(BaseModel):
    """A reader's question."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"query": "How do ROS 2 nodes communicate?"}]},
    )

    query: QueryText = Field(description="The question.")
    selected_text: SelectedText | None = Field(None, description="Answer from this text only.")
    top_k: int = Field(5, ge=1, le=20, strict=True, description="How many chunks to retrieve.")
    session_id: UUID4 | None = Field(None, description="The reader's session, echoed back.")
    book: BookId | None = Field(
        None, description="Id of the book to ask; without it all books are searched."
    )


class CitationModel(BaseModel):
    """A verbatim quote and where it stands."""

    chapter: str | None = None
    section: str | None = None
    source_url: str | None = None
    referenced_text: str | None = Field(None, max_length=500)
    sentence: int = Field(ge=0, description="Index of the sentence that this quote supports.")
    chunk_id: str
    document_id: str | None = None
    char_start: int = Field(ge=0, description="Offset of the quote in the document's .txt.")
    char_end: int = Field(ge=0)
    link: str | None = Field(None, description="Opens the book at the quote.")

    @model_validator(mode="after")
    def _names_a_place(self) -> Self:
        if not (self.chapter or self.section or self.source_url):
            raise ValueError("Citation must have at least one of: chapter, section, source_url")
        return self


class GroundedAnswer(BaseModel):
    """An answer, each sentence of it quoted from the book."""

    text: str = Field(min_length=1, max_length=2000)
    citations: list[CitationModel] = Field(min_length=1)
    mode: Mode
    sentences: list[str] = Field(min_length=1)
    disclaimer: str | None = None


class RefusalMessage(BaseModel):
    """An honest no, and of which kind."""

    reason: str
    refusal_type: RefusalType
    nearest_sections: list[NearestSectionModel] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_the_fixed_message(self) -> Self:
        if self.reason != REFUSAL_MESSAGES[self.refusal_type]:
            raise ValueError(f'Refusal message must be: "{REFUSAL_MESSAGES[self.refusal_type]}"')
        return self


class ErrorDetail(BaseModel):
    """What failed, and whether trying again helps."""

    code: ErrorCode
    message: str = Field(min_length=1, max_length=200)
    details: str | None = Field(None, max_length=500)
    retry_after: int | None = Field(None, ge=0)


class ResponseMetadata(BaseModel):
    """How the answer came about."""

    chunks_retrieved: int
    processing_time_ms: int
    session_id: uuid.UUID | None = None
    request_id: uuid.UUID
    timestamp: datetime


class QueryResponse(BaseModel):
    """The envelope: exactly one of answer, refusal and error."""

    status: Literal["success", "refused", "error"]
    answer: GroundedAnswer | None = None
    refusal: RefusalMessage | None = None
    error: ErrorDetail | None = None
    metadata: ResponseMetadata

    @model_validator(mode="after")
    def _holds_exactly_what_its_status_says(self) -> Self:
        parts = {"success": self.answer, "refused": self.refusal, "error": self.error}
        present = [status for status, part in parts.items() if part is not None]
        if present != [self.status]:
            raise ValueError("Exactly one of answer, refusal, error must be present")
        return self


def query_router(ports: AskPorts, reader_url: str) -> APIRouter:
    """Make the routes of contract A."""
    router = APIRouter(tags=["A: query"])
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": QueryResponse, "description": text}
        for status, text in (
            (413, "The body is larger than 256 KiB"),
            (422, "The request is not valid"),
            (500, "A defect of ours"),
            (503, "The index or the embedder cannot be reached"),
        )
    }

    async def query(request: Request, body: QueryRequest) -> QueryResponse:
        """Answer a question from the book, or refuse, honestly and by type."""
        request.state.session_id = body.session_id
        outcome = await collect(to_question(body), ports)
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
        text=told_text(outcome),
        citations=[
            _citation(index, cited, reader_url) for index, cited in numbered(outcome.sentences)
        ],
        mode=outcome.mode,
        sentences=[sentence.text for sentence in outcome.sentences],
        disclaimer=outcome.disclaimer,
    )


def _citation(sentence: int, citation: Citation, reader_url: str) -> CitationModel:
    chunk = citation.passage.chunk
    place = {
        "sentence": sentence,
        "referenced_text": citation.quote,
        "char_start": citation.char_start,
        "char_end": citation.char_end,
    }
    if citation.passage.is_selection:
        selection = {"chunk_id": SELECTED_TEXT, "section": chunk.section}
        return CitationModel.model_validate({**place, **selection})
    return CitationModel.model_validate(
        {
            **place,
            "chunk_id": chunk.chunk_id,
            "chapter": chunk.chapter,
            "section": chunk.section,
            "source_url": section_url(chunk, reader_url),
            "document_id": chunk.document_id,
            "link": quote_link(citation, reader_url),
        }
    )


def _metadata(request: Request, chunks: int) -> ResponseMetadata:
    return ResponseMetadata(
        chunks_retrieved=chunks,
        processing_time_ms=round((time.perf_counter() - request.state.started) * 1000),
        session_id=getattr(request.state, "session_id", None),
        request_id=request.state.request_id,
        timestamp=datetime.now(UTC),
    )


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract A's envelope."""
    code = _CODES.get(problem.kind)
    if code is None:  # a wrong method is no failure of this contract
        return {"error": problem.kind, "message": problem.message}
    error = ErrorDetail(
        code=code,
        message=problem.message[:200],
        details=problem.details,
        retry_after=problem.retry_after,
    )
    response = QueryResponse(status="error", error=error, metadata=_metadata(request, 0))
    return response.model_dump(mode="json")
