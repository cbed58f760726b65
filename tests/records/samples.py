"""Records to keep, for tests that do not care which."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from bythebook.domain.records import Exchange, Message, MessageCitation, QueryEntry

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
QUOTE = MessageCitation(
    sentence=0,
    chunk_id="c1",
    char_start=10,
    char_end=42,
    chapter="Nodes",
    section="Topics",
    source_url="https://example.org/nodes#topics",
    referenced_text="Nodes publish to topics.",
    document_id="nodes",
    link="https://example.org/nodes#:~:text=Nodes",
)


def query(**given: Any) -> QueryEntry:
    usual: dict[str, Any] = {
        "request_id": uuid.uuid4(),
        "contract": "query",
        "mode": "standard_rag",
        "status": "success",
        "query_text": "What is a node?",
        "created_at": NOON,
        "processing_time_ms": 12,
        "book_id": "robots",
    }
    return QueryEntry(**(usual | given))


def exchange(question: str, answer: str = "It is so.", at: datetime = NOON) -> Exchange:
    asked = Message("user", question, at)
    later = at + timedelta(seconds=1)
    return Exchange(asked, Message("assistant", answer, later, 0.9, (QUOTE,)))
