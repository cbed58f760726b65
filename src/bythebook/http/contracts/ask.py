"""Contract D: POST /ask."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bythebook.ask.show import MOST_QUOTES, Quality, answer_sources, retrieval_quality
from bythebook.domain.answers import SELECTED_TEXT, Answered, Outcome, Refused, Source
from bythebook.domain.questions import Mode, Question, Scope
from bythebook.http.access.gate_routes import QuestionRoute
from bythebook.http.contracts.fields import (
    NO_NUL,
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

PATH = "/ask"
CHUNKS = 5
MOST_SENTENCES = 5
MOST_TEXT = 2000  # characters of a chunk that are shown
REFUSALS: Mapping[Mode, str] = {
    "standard_rag": "This information is not available in the book.",
    "selected_text_only": "This information is not available in the selected text.",
}
EMPTY_QUESTION = "Please provide a question about the book."
_DETAILS: Mapping[ProblemKind, str] = {
    "store_unavailable": "Unable to search the book. Please try again later.",
    "embedder_unavailable": "Unable to search the book. Please try again later.",
    "model_timeout": "Unable to generate answer. Please try again.",
    "model_failed": "Unable to generate answer. Please try again.",
    "internal": "Unable to generate answer. Please try again.",
}
STATUSES: Mapping[ProblemKind, int] = {"model_timeout": 503}


AskText = Annotated[str, Field(min_length=1, max_length=1000), *PLAIN]
AskSelection = Annotated[str, Field(max_length=10_000), NO_NUL, AfterValidator(str.strip)]


class AskRequest(BaseModel):
    """A reader's question."""

    model_config = ConfigDict(extra="forbid")

    question: AskText = Field(description="The question.")
    selected_text: AskSelection | None = Field(
        None, description="Answer from this text only; a blank one counts as none."
    )
    book: BookId | None = Field(
        None, description="Id of the book to ask; without it all books are searched."
    )


class ChunkReference(BaseModel):
    """A chunk that the answer rests on, and its words that show why."""

    chunk_id: str = Field(min_length=1, description='Or "selected_text".')
    text: str = Field(
        min_length=1, max_length=MOST_TEXT, description='A longer one is cut and ends in "...".'
    )
    page: int | None = Field(None, ge=1, description="Where the book has pages.")
    chapter: str | None = Field(None, description="Chapter that it stands in.")
    section: str | None = Field(None, description="Section that it begins in.")
    evidence: list[str] = Field(
        default_factory=list,
        max_length=MOST_QUOTES,
        description="Verbatim quotes of the chunk, those that the answer cites first.",
    )


class AskResponse(BaseModel):
    """An answer with the chunks it rests on, or the fixed sentence that there is none."""

    answer: str = Field(min_length=1, description="The answer, or the fixed refusal.")
    sources: list[str] = Field(description="Ids of the matched chunks, in their order.")
    matched_chunks: list[ChunkReference] = Field(
        description="The cited ones first, then others judged relevant, best first."
    )
    grounded: bool = Field(description="Whether every sentence rests on a quote that was found.")
    retrieval_quality: Quality | None = Field(None, description="Null with a selected text.")
    nearest_sections: list[NearestSectionModel] = Field(
        default_factory=list, description="Where to read on after a refusal."
    )
    disclaimer: str | None = Field(
        None, description="What an answer opens with that is cautious or partial."
    )

    @model_validator(mode="after")
    def _names_its_chunks(self) -> Self:
        if self.sources != [chunk.chunk_id for chunk in self.matched_chunks]:
            raise ValueError("sources must be the ids of matched_chunks")
        if not self.sources and (self.grounded or self.answer not in REFUSALS.values()):
            raise ValueError("an answer must have at least one source")
        return self


class AskError(BaseModel):
    """A failure."""

    error: ProblemKind = Field(description="What failed.")
    detail: str = Field(min_length=1, description="A sentence for a person.")


def ask_router(answerer: Answerer) -> APIRouter:
    """Make the route of contract D."""
    router = APIRouter(tags=["D: ask"], route_class=QuestionRoute)
    errors = failures(AskError, 401, 403, 413, 422, 429, 500, 502, 503)

    @router.post(PATH, responses=errors, operation_id="ask", summary="Ask, and see the evidence")
    async def ask(request: Request, body: AskRequest) -> AskResponse:
        """Answer in one to five sentences, with the chunks and their words that show why."""
        return to_response(
            await answerer.collect(make_incoming_question(request, "ask", to_question(body)))
        )

    return router


def to_question(body: AskRequest) -> Question:
    """Read the request; a selection overrides retrieval."""
    return Question(
        body.question, Scope(body.book, body.selected_text or None), CHUNKS, MOST_SENTENCES
    )


def to_response(outcome: Outcome) -> AskResponse:
    """Write an outcome as contract D's response."""
    retrieved = outcome.mode == "standard_rag"
    quality = retrieval_quality(outcome) if retrieved else None
    if isinstance(outcome, Refused):
        return AskResponse(
            answer=REFUSALS[outcome.mode],
            sources=[],
            matched_chunks=[],
            grounded=False,
            retrieval_quality=quality,
            nearest_sections=to_nearest(outcome.nearest_sections),
        )
    return _write_answer(outcome, quality)


def _write_answer(outcome: Answered, quality: Quality | None) -> AskResponse:
    chunks = [_chunk(source) for source in answer_sources(outcome)]
    return AskResponse(
        answer=write_full_answer(outcome),
        sources=[chunk.chunk_id for chunk in chunks],
        matched_chunks=chunks,
        grounded=outcome.grounded,
        retrieval_quality=quality,
        disclaimer=outcome.disclaimer,
    )


def _chunk(source: Source) -> ChunkReference:
    chunk = source.passage.chunk
    text = chunk.text if len(chunk.text) <= MOST_TEXT else chunk.text[: MOST_TEXT - 3] + "..."
    if source.passage.is_selection:
        return ChunkReference(chunk_id=SELECTED_TEXT, text=text, evidence=list(source.quotes))
    return ChunkReference(
        chunk_id=chunk.chunk_id,
        text=text,
        page=chunk.page,
        chapter=chunk.chapter or None,
        section=chunk.section or None,
        evidence=list(source.quotes),
    )


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract D's error."""
    message = " ".join(filter(None, (problem.message, problem.details)))
    detail = message if problem.is_lasting else _DETAILS.get(problem.kind, message)
    if problem.kind == "validation_failed" and _asks_nothing(request):
        detail = EMPTY_QUESTION
    return AskError(error=problem.kind, detail=detail).model_dump(mode="json")


def _asks_nothing(request: Request) -> bool:
    body = context_of(request).rejected_body
    if not isinstance(body, dict):
        return False
    question = body.get("question")
    return question is None or (isinstance(question, str) and not question.strip())
