"""The results of calls; unknown fields of a newer service are ignored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Citation(_Result):
    """A verbatim quote and its place."""

    sentence: int  # index of the sentence it supports
    chunk_id: str
    char_start: int
    char_end: int
    chapter: str | None = None
    section: str | None = None
    source_url: str | None = None
    referenced_text: str | None = None
    document_id: str | None = None
    link: str | None = None
    key: bool = True  # its sentence answers; False: it is the context of one that does
    permalink: str | None = None  # opens the quote also after the book was edited


class NearestSection(_Result):
    """Where to read on after a refusal."""

    chapter: str
    section: str
    url: str


class Answer(_Result):
    """An answer with a quote for each sentence."""

    text: str
    citations: tuple[Citation, ...]
    mode: str
    sentences: tuple[str, ...] = ()
    key_sentences: tuple[int, ...] = ()  # indexes of those that answer; the others are context
    disclaimer: str | None = None
    fallback: bool = False  # True: the language model failed, and the book's excerpt answers


class Refusal(_Result):
    """A refusal and its type."""

    reason: str
    refusal_type: str
    nearest_sections: tuple[NearestSection, ...] = ()


class Metadata(_Result):
    """How an answer was made."""

    chunks_retrieved: int
    processing_time_ms: int
    request_id: UUID
    timestamp: datetime
    session_id: UUID | None = None


class QueryResult(_Result):
    """Contract A: an answer or a refusal."""

    status: str
    metadata: Metadata
    answer: Answer | None = None
    refusal: Refusal | None = None


class RagSource(_Result):
    """A source page of an answer."""

    url: str
    page_title: str
    relevance_score: float
    chunk_index: int | None = None


class RagResult(_Result):
    """Contract B: an answer with its source pages; none without a match."""

    query: str
    answer: str
    sources: tuple[RagSource, ...]
    model_used: str
    tokens_used: int
    retrieval_count: int
    disclaimer: str | None = None


class ChatSource(_Result):
    """A source chunk of an answer."""

    chunk_text: str
    similarity_score: float
    chapter: str
    section: str
    url: str
    chunk_index: int


class ConfidenceMetrics(_Result):
    """How good the retrieval was."""

    average_similarity: float
    min_similarity: float
    max_similarity: float
    num_chunks: int
    chunk_diversity: float
    confidence_level: str
    should_answer: bool


class ChatResult(_Result):
    """Contract C: an answer, or a refusal where `should_answer` is false."""

    response: str
    confidence: float
    sources: tuple[ChatSource, ...]
    session_id: UUID
    timestamp: datetime
    confidence_level: str
    should_answer: bool
    citations: tuple[Citation, ...] = ()
    sentences: tuple[str, ...] = ()
    key_sentences: tuple[int, ...] = ()  # indexes of those that answer; the others are context
    confidence_metrics: ConfidenceMetrics | None = None
    nearest_sections: tuple[NearestSection, ...] = ()
    disclaimer: str | None = None
    fallback: bool = False  # True: the language model failed, and the book's excerpt answers


class Retrieval(_Result):
    """The first event of a stream: the retrieved chunks."""

    num_chunks: int
    average_score: float
    sections: tuple[str, ...] = ()


class Content(_Result):
    """The next words of the answer, verified, with their quotes."""

    delta: str
    citations: tuple[Citation, ...] = ()


class Done(_Result):
    """The last event of a stream: the whole answer."""

    result: ChatResult


ChatEvent = Retrieval | Content | Done


class Message(_Result):
    """One message of a conversation."""

    role: str
    content: str
    timestamp: datetime
    confidence: float | None = None
    citations: tuple[Citation, ...] = ()


class Conversation(_Result):
    """A conversation: its newest messages, oldest first."""

    thread_id: UUID
    messages: tuple[Message, ...]
    created_at: datetime
    updated_at: datetime
    topic_summary: str | None = None
    metadata: Mapping[str, Any] = {}


class Chunk(_Result):
    """A source chunk of an answer, with the evidence in it."""

    chunk_id: str
    text: str
    page: int | None = None
    chapter: str | None = None
    section: str | None = None
    evidence: tuple[str, ...] = ()


class AskResult(_Result):
    """Contract D: an answer with its evidence, or a refusal where `grounded` is false."""

    answer: str
    sources: tuple[str, ...]
    matched_chunks: tuple[Chunk, ...]
    grounded: bool
    retrieval_quality: str | None = None
    nearest_sections: tuple[NearestSection, ...] = ()
    disclaimer: str | None = None


class FoundSection(_Result):
    """A section that may contain the answer, with its best matching sentence."""

    chapter: str
    section: str
    url: str
    reader_url: str
    text: str


class SearchResult(_Result):
    """The sections nearest to a question, best first; they may not answer it."""

    sections: tuple[FoundSection, ...]


class PartHealth(_Result):
    """The health of one part of the service."""

    status: str
    latency_ms: float
    message: str | None = None


class HealthResult(_Result):
    """The health of all parts of the service."""

    status: str
    dependencies: Mapping[str, PartHealth] = {}
