"""A Python client for a ByTheBook service, blocking or asynchronous.

    with Client("http://127.0.0.1:8000") as book:
        result = book.query("How do ROS 2 nodes communicate?")

It needs httpx and pydantic, and no other part of this package.
"""

from bythebook.client.clients import AsyncClient, Client
from bythebook.client.failures import (
    ApiError,
    ClientError,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerFailed,
    Unauthorized,
    Unavailable,
    UnexpectedResponse,
)
from bythebook.client.results import (
    Answer,
    AskResult,
    ChatEvent,
    ChatResult,
    ChatSource,
    Chunk,
    Citation,
    ConfidenceMetrics,
    Content,
    Conversation,
    Done,
    FoundSection,
    HealthResult,
    Message,
    Metadata,
    NearestSection,
    PartHealth,
    QueryResult,
    RagResult,
    RagSource,
    Refusal,
    Retrieval,
    SearchResult,
)
from bythebook.client.streams import AsyncChatStream, ChatStream

__all__ = [
    "Answer",
    "ApiError",
    "AskResult",
    "AsyncChatStream",
    "AsyncClient",
    "ChatEvent",
    "ChatResult",
    "ChatSource",
    "ChatStream",
    "Chunk",
    "Citation",
    "Client",
    "ClientError",
    "ConfidenceMetrics",
    "ConnectionFailed",
    "Content",
    "Conversation",
    "Done",
    "Forbidden",
    "FoundSection",
    "HealthResult",
    "InvalidRequest",
    "Message",
    "Metadata",
    "NearestSection",
    "NotFound",
    "PartHealth",
    "QueryResult",
    "RagResult",
    "RagSource",
    "RateLimited",
    "Refusal",
    "Retrieval",
    "SearchResult",
    "ServerFailed",
    "Unauthorized",
    "Unavailable",
    "UnexpectedResponse",
]
