"""Each call as a value: the request, and how to read its response."""

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
    """One request; `read` turns the body into the result."""

    method: str
    path: str
    read: Callable[[bytes], T]
    body: Mapping[str, Any] | None = None
    request_id: Id | None = None
    streams: bool = False

    def as_stream(self) -> "Call[T]":
        """Return the same call with a stream as response."""
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
    """Ask by contract A: an answer with a quote for each sentence, or a typed refusal."""
    body = _drop_none(
        query=question, selected_text=selected_text, top_k=top_k, session_id=session_id, book=book
    )
    return Call("POST", "/api/query", _reader_of(QueryResult), body, request_id)


def rag(
    question: str,
    *,
    top_k: int | None = None,
    model: str | None = None,
    book: str | None = None,
    request_id: Id | None = None,
) -> Call[RagResult]:
    """Ask by contract B: a short answer with its source pages."""
    body = _drop_none(query=question, top_k=top_k, model=model, book=book)
    return Call("POST", "/query", _reader_of(RagResult), body, request_id)


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
    """Ask by contract C, in a conversation; without a session id a new one starts."""
    body = _drop_none(
        message=message,
        session_id=session_id,
        top_k=top_k,
        similarity_threshold=similarity_threshold,
        selected_text=selected_text,
        scope=scope,
        book=book,
        metadata=metadata,
    )
    return Call("POST", "/chat/run", _reader_of(ChatResult), body, request_id)


def history(session_id: Id, *, request_id: Id | None = None) -> Call[Conversation]:
    """Get the messages of a conversation, oldest first."""
    return Call(
        "GET", _session_path(session_id) + "/history", _reader_of(Conversation), None, request_id
    )


def delete_session(session_id: Id, *, request_id: Id | None = None) -> Call[None]:
    """Delete a conversation with all its messages."""
    return Call("DELETE", _session_path(session_id), _read_nothing, None, request_id)


def ask(
    question: str,
    *,
    selected_text: str | None = None,
    book: str | None = None,
    request_id: Id | None = None,
) -> Call[AskResult]:
    """Ask by contract D: an answer with its chunks and the evidence in them."""
    body = _drop_none(question=question, selected_text=selected_text, book=book)
    return Call("POST", "/ask", _reader_of(AskResult), body, request_id)


def search(
    words: str,
    *,
    book: str | None = None,
    limit: int | None = None,
    request_id: Id | None = None,
) -> Call[SearchResult]:
    """Find the sections nearest to a question or to some words; quick, without judging or logging."""
    parameters = urlencode(_drop_none(q=words, book=book, limit=limit))
    return Call("GET", f"/search?{parameters}", _reader_of(SearchResult), None, request_id)


def feedback(
    of_request: Id, *, helpful: bool, reason: str | None = None, request_id: Id | None = None
) -> Call[None]:
    """Report whether the answer to an earlier request helped."""
    body = _drop_none(request_id=of_request, helpful=helpful, reason=reason)
    return Call("POST", "/feedback", _read_nothing, body, request_id)


def health(*, request_id: Id | None = None) -> Call[HealthResult]:
    """Get the health of each part of the service."""
    return Call("GET", "/health", _reader_of(HealthResult), None, request_id)


def _drop_none(**fields: Any) -> dict[str, Any]:
    """Leave out arguments that are None, so that the service's defaults apply."""
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in fields.items()
        if value is not None
    }


def _session_path(session_id: Id) -> str:
    return f"/session/{quote(str(session_id), safe='')}"


def _reader_of(model: type[M]) -> Callable[[bytes], M]:
    return model.model_validate_json


def _read_nothing(_body: bytes) -> None:
    """Ignore the body: only success matters."""
