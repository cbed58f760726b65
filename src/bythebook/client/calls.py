"""Each call as a value: what to send, and how to read what comes back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

from pydantic import BaseModel

from bythebook.client.results import (
    AskResult,
    ChatResult,
    Conversation,
    HealthResult,
    QueryResult,
    RagResult,
    SearchResult,
)

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Id = UUID | str
ChatScope = Literal["selection", "section", "book"]


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request; `read` makes its result of the body."""

    method: str
    path: str
    read: Callable[[bytes], T]
    body: Mapping[str, Any] | None = None
    request_id: Id | None = None
    streams: bool = False

    def streamed(self) -> "Call[T]":
        """Give the same call, answered as a stream."""
        return replace(self, path="/chat/stream", streams=True)


def query(
    question: str,
    *,
    selected_text: str | None = None,
    top_k: int | None = None,
    session_id: Id | None = None,
    book: str | None = None,
    request_id: Id | None = None,
) -> Call[QueryResult]:
    """Ask by contract A: an answer with a quote for each sentence, or a refusal by type."""
    body = _given(
        query=question, selected_text=selected_text, top_k=top_k, session_id=session_id, book=book
    )
    return Call("POST", "/api/query", _reads(QueryResult), body, request_id)


def rag(
    question: str,
    *,
    top_k: int | None = None,
    model: str | None = None,
    book: str | None = None,
    request_id: Id | None = None,
) -> Call[RagResult]:
    """Ask by contract B: a short answer with its pages."""
    body = _given(query=question, top_k=top_k, model=model, book=book)
    return Call("POST", "/query", _reads(RagResult), body, request_id)


def chat(
    message: str,
    *,
    session_id: Id | None = None,
    top_k: int | None = None,
    similarity_threshold: float | None = None,
    selected_text: str | None = None,
    scope: ChatScope | None = None,
    book: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    request_id: Id | None = None,
) -> Call[ChatResult]:
    """Ask by contract C, within a conversation; without a session a new one begins."""
    body = _given(
        message=message,
        session_id=session_id,
        top_k=top_k,
        similarity_threshold=similarity_threshold,
        selected_text=selected_text,
        scope=scope,
        book=book,
        metadata=metadata,
    )
    return Call("POST", "/chat/run", _reads(ChatResult), body, request_id)


def history(session_id: Id, *, request_id: Id | None = None) -> Call[Conversation]:
    """Give the messages of a conversation, oldest first."""
    return Call("GET", _session(session_id) + "/history", _reads(Conversation), None, request_id)


def delete_session(session_id: Id, *, request_id: Id | None = None) -> Call[None]:
    """Delete a conversation with every message of it."""
    return Call("DELETE", _session(session_id), _nothing, None, request_id)


def ask(
    question: str,
    *,
    selected_text: str | None = None,
    book: str | None = None,
    request_id: Id | None = None,
) -> Call[AskResult]:
    """Ask by contract D: an answer with the chunks and their words that show why."""
    body = _given(question=question, selected_text=selected_text, book=book)
    return Call("POST", "/ask", _reads(AskResult), body, request_id)


def search(
    words: str,
    *,
    book: str | None = None,
    limit: int | None = None,
    request_id: Id | None = None,
) -> Call[SearchResult]:
    """Find the sections nearest to a question or to words, at once; nothing is judged or kept."""
    asked = urlencode(_given(q=words, book=book, limit=limit))
    return Call("GET", f"/search?{asked}", _reads(SearchResult), None, request_id)


def feedback(
    of_request: Id, *, helpful: bool, reason: str | None = None, request_id: Id | None = None
) -> Call[None]:
    """Say whether the answer to an earlier request helped."""
    body = _given(request_id=of_request, helpful=helpful, reason=reason)
    return Call("POST", "/feedback", _nothing, body, request_id)


def health(*, request_id: Id | None = None) -> Call[HealthResult]:
    """Say how each part of the service does."""
    return Call("GET", "/health", _reads(HealthResult), None, request_id)


def _given(**fields: Any) -> dict[str, Any]:
    """Leave out what was not given, so that the service's own defaults hold."""
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in fields.items()
        if value is not None
    }


def _session(session_id: Id) -> str:
    return f"/session/{quote(str(session_id), safe='')}"


def _reads(model: type[M]) -> Callable[[bytes], M]:
    return model.model_validate_json


def _nothing(_body: bytes) -> None:
    """Read nothing: success is all there is to say."""
