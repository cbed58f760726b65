"""Requests and responses of contract C."""

import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    UUID4,
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)

from bythebook.ask.show import DISCLAIMER
from bythebook.domain.answers import ConfidenceLevel
from bythebook.http.contracts.fields import FALLBACK, PLAIN, BookId, NearestSectionModel
from bythebook.http.contracts.query import CitationModel, SelectedText

MOST_CHUNK_TEXT = 500  # characters of a chunk that are shown
MOST_METADATA_BYTES = 2048
MOST_METADATA_DEPTH = 8
SIMILARITY_THRESHOLD = 0.7
ScopeName = Literal["selection", "section", "book"]
ErrorName = Literal[
    "validation_failed",
    "unauthorized",
    "forbidden",
    "not_found",
    "payload_too_large",
    "rate_limited",
    "overloaded",
    "store_unavailable",
    "embedder_unavailable",
    "model_timeout",
    "model_failed",
    "database_unavailable",
    "internal",
]


def _require_storable(metadata: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError unless every database can store the value as JSON."""
    try:
        written = json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(written.encode())
    except (ValueError, RecursionError) as error:  # NaN, a lone surrogate, a tower of lists
        raise ValueError("must be plain JSON") from error
    if size > MOST_METADATA_BYTES:
        raise ValueError(f"must be at most {MOST_METADATA_BYTES} bytes as JSON")
    if any("\0" in text for text in _texts(metadata)):
        raise ValueError("must not contain NUL characters")
    if _depth(metadata) > MOST_METADATA_DEPTH:
        raise ValueError(f"must be nested at most {MOST_METADATA_DEPTH} deep")
    return metadata


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    within = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, within), default=0)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        within = (*value, *value.values()) if isinstance(value, dict) else value
        for part in within:
            yield from _texts(part)


ChatText = Annotated[str, Field(min_length=1, max_length=1000), *PLAIN]
Share = Annotated[float, Field(ge=0, le=1)]


class ChatRequest(BaseModel):
    """A message of a reader."""

    model_config = ConfigDict(extra="forbid")

    message: ChatText = Field(description="The question, which may refer to earlier ones.")
    session_id: UUID4 | None = Field(
        None, description="The conversation to continue; without it a new one begins."
    )
    stream: bool = Field(default=False, strict=True, description="Answer as a stream of events.")
    top_k: int = Field(5, ge=1, le=10, strict=True, description="How many chunks to retrieve.")
    similarity_threshold: float = Field(
        SIMILARITY_THRESHOLD,
        ge=0,
        le=1,
        strict=True,
        allow_inf_nan=False,
        description="Where given, chunks below it are not read; else it bounds only what "
        "`sources` lists in addition to cited chunks.",
    )
    selected_text: SelectedText | None = Field(None, description="What the reader selected.")
    scope: ScopeName | None = Field(
        None,
        description="Where the answer may come from: the selection (the default where there is "
        "one), the section it stands in, or the book.",
    )
    metadata: Annotated[dict[str, JsonValue], AfterValidator(_require_storable)] | None = Field(
        None, description="Kept with the conversation, as user_id and tags; up to 2 KB of JSON."
    )
    book: BookId | None = Field(
        None, description="Id of the book to ask; without it all books are searched."
    )

    @field_validator("scope")
    @classmethod
    def _has_what_it_needs(cls, scope: ScopeName | None, info: ValidationInfo) -> ScopeName | None:
        missing = info.data.get("selected_text", "") is None
        if scope in {"selection", "section"} and missing:
            raise ValueError(f'"{scope}" needs selected_text')
        return scope


class ChatSource(BaseModel):
    """A chunk that the answer rests on."""

    chunk_text: str = Field(
        min_length=1, max_length=MOST_CHUNK_TEXT, description="A longer one is cut at its end."
    )
    similarity_score: Share
    chapter: str
    section: str
    url: str = Field(description="Empty for a selected text.")
    chunk_index: int = Field(ge=0)


class ConfidenceMetricsModel(BaseModel):
    """How much the answer can be trusted."""

    average_similarity: Share
    min_similarity: Share
    max_similarity: Share
    num_chunks: int = Field(ge=0)
    chunk_diversity: Share = Field(description="1 less the mean similarity of all pairs.")
    confidence_level: ConfidenceLevel = Field(
        description="By average and number of chunks: high from 0.85 and 5, medium from 0.75 and 3, else "
        "low; insufficient exactly where nothing is answered."
    )
    should_answer: bool

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if not self.min_similarity <= self.average_similarity <= self.max_similarity:
            raise ValueError("average_similarity must lie between the least and the most")
        if self.should_answer is (self.confidence_level == "insufficient"):
            raise ValueError("confidence_level is insufficient exactly where nothing is answered")
        return self


class ChatResponse(BaseModel):
    """An answer with what it rests on, or the fixed sentence that there is none."""

    response: str = Field(min_length=1)
    confidence: Share = Field(
        description="The average similarity of what was found; whether it answers, `should_answer` and "
        "`confidence_level` say."
    )
    sources: list[ChatSource] = Field(
        description="The cited ones first, then others judged relevant, best first."
    )
    session_id: uuid.UUID = Field(description="For follow-up questions.")
    timestamp: datetime
    confidence_level: ConfidenceLevel
    should_answer: bool
    sentences: list[str] = Field(description="The sentences of the answer, each verified.")
    key_sentences: list[int] = Field(
        description="Indexes of the sentences that answer; the others are their context."
    )
    citations: list[CitationModel] = Field(description="The quotes behind the sentences.")
    confidence_metrics: ConfidenceMetricsModel
    nearest_sections: list[NearestSectionModel] = Field(
        default_factory=list, description="Where to read on after a refusal."
    )
    disclaimer: str | None = Field(
        None,
        description=f'What an answer of level low opens with: "{DISCLAIMER}"; '
        "and which parts of the question it does not answer.",
    )
    fallback: bool = Field(default=False, description=FALLBACK)

    @model_validator(mode="after")
    def _agrees_with_its_metrics(self) -> Self:
        metrics = self.confidence_metrics
        if (self.confidence, self.confidence_level, self.should_answer) != (
            metrics.average_similarity,
            metrics.confidence_level,
            metrics.should_answer,
        ):
            raise ValueError("confidence must be what confidence_metrics say")
        if self.should_answer is not bool(self.sources and self.citations and self.sentences):
            raise ValueError("an answer has sources and a refusal has none")
        return self


class RetrievalEvent(BaseModel):
    """What was found, before it is judged."""

    num_chunks: int = Field(ge=0)
    average_score: Share
    sections: list[str]


class ContentEvent(BaseModel):
    """The next piece of the answer's text, and the quotes behind it."""

    delta: str = Field(min_length=1)
    citations: list[CitationModel] = Field(min_length=1)


class UserMessage(BaseModel):
    """What the reader wrote."""

    role: Literal["user"]
    content: str
    timestamp: datetime


class AssistantMessage(BaseModel):
    """What was answered."""

    role: Literal["assistant"]
    content: str
    timestamp: datetime
    confidence: float | None = Field(None, ge=0, le=1)
    citations: list[CitationModel] = Field(
        description="Without quotes where they are of a selected text, which is not kept."
    )


class ConversationThread(BaseModel):
    """A conversation: its newest messages, oldest first."""

    thread_id: uuid.UUID
    messages: list[Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]] = Field(
        max_length=50
    )
    created_at: datetime
    updated_at: datetime
    topic_summary: str | None = Field(None, max_length=200, description="From 5 exchanges on.")
    metadata: dict[str, JsonValue]


class ChatError(BaseModel):
    """A failure."""

    error: ErrorName
    message: str = Field(min_length=1)
    details: str | None = None
    timestamp: datetime
    request_id: uuid.UUID
