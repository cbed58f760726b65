"""What storing questions, conversations and keys needs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from bythebook.domain.records import (
    ApiKey,
    Exchange,
    Feedback,
    IssuedKey,
    KeyTerms,
    Purged,
    QueryEntry,
    QueryStats,
    Thread,
)


class QueryLog(Protocol):
    """What was asked and how it ended, without the answers."""

    async def log(self, *entries: QueryEntry) -> None:
        """Store questions and count them in their sessions, all or none."""
        ...

    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        """Sum up the questions from `since` on and before `until`, of one book or all."""
        ...


class RecentCitations(Protocol):
    """What answers cited of late."""

    async def list_recent(self, book_id: str, most: int) -> Sequence[str]:
        """Return the ids of citations of a book, each once, newest first."""
        ...


class Threads(Protocol):
    """Conversations by owner and session; another owner's is unknown."""

    async def append(
        self,
        owner: str,
        session_id: UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Store a question and its answer durably; return the count of all messages.

        An unknown session begins a thread, an archived one is resumed; None leaves summary and
        metadata as they are.
        """
        ...

    async def history(self, owner: str, session_id: UUID) -> Thread | None:
        """Return a thread with its live messages, if the owner has it."""
        ...

    async def delete(self, owner: str, session_id: UUID) -> bool:
        """Remove a thread and all its messages, archived ones too; return False if there is none."""
        ...


class KeyStore(Protocol):
    """Keys of the service, with hashes of their secrets."""

    async def create(self, terms: KeyTerms, now: datetime, secret: str | None = None) -> IssuedKey:
        """Make a key, of a new secret unless one is given; it is returned only here."""
        ...

    async def list(self) -> Sequence[ApiKey]:
        """Return all keys, including revoked and expired ones, oldest first."""
        ...

    async def revoke(self, key_id: UUID, now: datetime) -> bool:
        """Revoke a key for good; return False if the id is unknown."""
        ...

    async def find(self, key_hash: str) -> ApiKey | None:
        """Return the key of a hash, usable or not."""
        ...


class FeedbackStore(Protocol):
    """What readers thought of answers."""

    async def give(self, owner: str, feedback: Feedback) -> bool:
        """Store the latest feedback on a request; return False if the owner made no such request."""
        ...


class Housekeeping(Protocol):
    """Periodic work, done once however many processes ask for it."""

    async def purge(self, now: datetime) -> Purged | None:
        """Delete what is past its retention; return None if that was done less than an hour ago."""
        ...

    async def archive_idle(self, now: datetime) -> int | None:
        """Archive idle threads and return how many; None if that was done less than a minute ago."""
        ...
