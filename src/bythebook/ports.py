"""What the core needs of the world, in our own types."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bythebook.domain.answers import Draft, Hit, Judgement, Passage
from bythebook.domain.books import Book, Chunk, CutDocument, Document, LiveBook, SourceBook
from bythebook.domain.questions import Plan
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
from bythebook.domain.reports import IngestReport

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


class BookReader(Protocol):
    """Makes documents of a source."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out from a path or an address, or raise UnreadableBook with what to do."""
        ...


class Embedder(Protocol):
    """Turns text into vectors; a question and a passage may need different ways."""

    @property
    def model_id(self) -> str:
        """Name of the model, stored with every index it built."""
        ...

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        ...

    @property
    def usd_per_million_tokens(self) -> float:
        """What embedding costs; 0 where it runs on this machine."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count what the model would read of each text."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed parts of a book, in the order given."""
        ...


class VectorCache(Protocol):
    """Vectors by model and content, so that nothing unchanged is embedded again."""

    def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Give the vectors that are known."""
        ...

    def put(self, model_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors, durably on return."""
        ...


class ChunkIndex(Protocol):
    """Finds chunks of the live generations by meaning and by words."""

    async def search(
        self, question: str, vector: Vector, books: Sequence[Book], limit: int
    ) -> Sequence[Hit]:
        """Give the best by either way, each with both scores."""
        ...


class Library(Protocol):
    """The published books and their texts."""

    def books(self) -> Sequence[Book]:
        """Give every published book, by id."""
        ...

    def book(self, book_id: str) -> Book:
        """Give one, or raise UnknownBook."""
        ...

    def documents(self, book_id: str) -> Sequence[Document]:
        """Give the documents of the live generation in reading order."""
        ...

    def document(self, book_id: str, document_id: str) -> Document:
        """Give one, or raise UnknownDocument."""
        ...


class Edition(Protocol):
    """A generation in the making: invisible to readers until it is published."""

    def start_from_live(self) -> bool:
        """Begin with all that the live generation holds; says no, and begins empty, if it is not sound."""
        ...

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Put chunks with their vectors in; one of the same id is replaced."""
        ...

    def drop(self, chunks: Sequence[Chunk]) -> None:
        """Take chunks of the live generation out."""
        ...

    def publish(self, book: Book, documents: Sequence[CutDocument], report: IngestReport) -> None:
        """Check the count, keep the texts, switch the pointer, remove older generations."""
        ...


class Press(Protocol):
    """Makes new generations."""

    def require_id(self, book_id: str) -> None:
        """Raise UnknownBook if this cannot be a book's id."""
        ...

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        """Give what the live generation holds; nothing for a new book or another embedder."""
        ...

    def edition(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> AbstractContextManager[Edition]:
        """Hold the book for one run; on leaving without publishing nothing has changed."""
        ...

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations."""
        ...


class Judge(Protocol):
    """Reads question and passages, and says whether and where they answer."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection; needs no index and no embedder."""
        ...


class Generator(Protocol):
    """Proposes sentences; none of them is shown before it was verified."""

    def compose(self, plan: Plan, judgement: Judgement) -> AsyncIterator[Draft]:
        """Give sentences in order, each with the quotes it rests on."""
        ...


class QueryLog(Protocol):
    """What was asked and how it went, without the answers."""

    async def log(self, entry: QueryEntry) -> None:
        """Keep a question and count it in its session."""
        ...

    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        """Sum up the questions from `since` on and before `until`, of one book or all."""
        ...


class Threads(Protocol):
    """Conversations by owner and session; another owner's is simply unknown."""

    async def append(
        self,
        owner: str,
        session_id: UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Add question and answer, durably on return, and give the count of all messages.

        An unknown session begins a thread, an archived one is resumed; None leaves summary and
        metadata as they are.
        """
        ...

    async def history(self, owner: str, session_id: UUID) -> Thread | None:
        """Give a thread with its live messages, if the owner has it."""
        ...

    async def delete(self, owner: str, session_id: UUID) -> bool:
        """Remove a thread and every message of it, archived ones too; False if there is none."""
        ...


class KeyStore(Protocol):
    """Keys to the service; of their secrets only hashes."""

    async def create(self, terms: KeyTerms, now: datetime) -> IssuedKey:
        """Make a key; its secret is given here and never again."""
        ...

    async def list(self) -> Sequence[ApiKey]:
        """Give all keys, revoked and expired ones too, oldest first."""
        ...

    async def revoke(self, key_id: UUID, now: datetime) -> bool:
        """Make a key useless for good; False if there is none of that id."""
        ...

    async def find(self, key_hash: str) -> ApiKey | None:
        """Give the key of a hash, usable or not."""
        ...


class FeedbackStore(Protocol):
    """What readers thought of answers."""

    async def give(self, feedback: Feedback) -> bool:
        """Keep the latest word on a request; False if no such request is known."""
        ...


class Housekeeping(Protocol):
    """Work that comes due with time, done once however many processes ask for it."""

    async def purge(self, now: datetime) -> Purged | None:
        """Delete what is past its time; None if it was done less than an hour ago."""
        ...

    async def archive_idle(self, now: datetime) -> int | None:
        """Archive idle threads and count them; None if it was done less than a minute ago."""
        ...
