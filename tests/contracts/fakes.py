"""Plain stand-ins for the parts behind the application, and a way to call it in this process."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import numpy as np
from fastapi.requests import Request
from tests.unit.fakes import FakeCalibrations, FakeSupport, wide_queue
from tests.unit.fakes import FakeIndex as FakeIndex

from bythebook.adapters.operations.limits_windows import MemoryWindows
from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.domain.access import Caller
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Block, Book, Chunk, Document, Section
from bythebook.domain.records import (
    LIVE_MESSAGES,
    ApiKey,
    Exchange,
    Feedback,
    IssuedKey,
    KeyScope,
    KeyTerms,
    QueryEntry,
    QueryStats,
    Thread,
    key_hash,
    key_prefix,
    new_secret,
)
from bythebook.domain.reports import IngestReport
from bythebook.errors import RecordsFailed, UnknownBook, UnknownDocument
from bythebook.http.app import Service, create_app
from bythebook.http.wire.context import RequestContext
from bythebook.operate.access.gate import Gate, RequestLimits
from bythebook.operate.access.keyring import KeyRing
from bythebook.operate.access.latest_keys import KEY_TIMES, KeyTimes
from bythebook.operate.answerer import Answerer
from bythebook.operate.insight import Insight
from bythebook.operate.journal import Journal
from bythebook.ports import ChunkIndex, Embedder, Judge, Library, Threads, Vector, Vectors

READER = "http://reader.test"
BOOK = Book(
    "tales", "Tales", "g1", "all-MiniLM-L6-v2-fake", 1, 1, 10, "tales", "2026-01-01T00:00:00+00:00"
)

CITATION = set(
    """chapter section source_url referenced_text sentence key chunk_id document_id char_start char_end permalink
    link""".split()
)
MODELS = ("gpt-3.5-turbo", "gpt-4", "gpt-4-turbo-preview")
JSON = {"content-type": "application/json"}
# What is no JSON object in UTF-8; the word "secret" in it must not come back.
BROKEN_BODIES: dict[str, bytes] = {
    "nothing": b"",
    "broken JSON": b'{"query": "secret"',
    "JSON array": b'["secret"]',
    "JSON number": b"5",
    "JSON null": b"null",
    "JSON string": b'"secret"',
    "deep nesting": b"[" * 100_000,
    "deep objects": b'{"query":' * 20_000,
    "invalid UTF-8": b'{"query": "secret \xff"}',
    "number of 5000 digits": b'{"query": "secret", "question": "secret", "top_k": '
    + b"9" * 5000
    + b"}",
    "lone surrogate in a name": rb'{"query": "x", "question": "x", "\ud800": "secret"}',
}


@dataclass
class FakeLibrary:
    documents_of: dict[str, list[Document]] = field(default_factory=lambda: {"tales": []})

    def books(self) -> Sequence[Book]:
        return [self.book(name) for name in self.documents_of]

    def book(self, book_id: str) -> Book:
        if book_id not in self.documents_of:
            raise UnknownBook(f"There is no book {book_id!r}.")
        return BOOK

    def documents(self, book_id: str) -> Sequence[Document]:
        return self.documents_of[book_id]

    def document(self, book_id: str, document_id: str) -> Document:
        for document in self.documents_of[self.book(book_id).book_id]:
            if document.document_id == document_id:
                return document
        raise UnknownDocument("no such page")

    def older_generations(self, book_id: str) -> Sequence[str]:
        return ()

    def older_text(self, book_id: str, generation: str) -> None:
        return None

    def picture(self, book_id: str, file: str) -> bytes:
        raise UnknownDocument("no such picture")


@dataclass
class FakeEmbedder:
    """Embeds nothing; fails if asked to."""

    failure: BaseException | None = None
    calls: int = 0
    model_id: str = "all-MiniLM-L6-v2-fake"
    dimension: int = 4
    usd_per_million_tokens: float = 0.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        self._touch()
        return [len(text.split()) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        self._touch()
        return np.zeros(self.dimension, np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._touch()
        return np.zeros((len(texts), self.dimension), np.float32)

    def _touch(self) -> None:
        self.calls += 1
        if self.failure is not None:
            raise self.failure


class FakeJudge:
    """Takes the first unit for the answer."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        evidence = Evidence(passages[0], passages[0].chunk.units[0], 0.9)
        return Judgement(0.9, tuple(0.9 for _ in passages), (evidence,))


@dataclass
class SentenceJudge:
    """Takes the units that hold a word for the evidence, each as likely as given."""

    word: str = ""
    support: float = 0.9
    answerable: float = 0.9

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        evidence = tuple(
            Evidence(passage, unit, self.support)
            for passage in passages
            for unit, text in zip(passage.chunk.units, passage.chunk.unit_texts(), strict=True)
            if self.word in text
        )
        held = {found.passage.chunk.chunk_id for found in evidence}
        supports = tuple(self.support * (one.chunk.chunk_id in held) for one in passages)
        return Judgement(self.answerable, supports, evidence)


@dataclass
class RankingJudge:
    """Gives each unit the support that was set for its text, the best first."""

    supports: Mapping[str, float]
    answerable: float = 0.9

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        evidence = [
            Evidence(passage, unit, self.supports[text])
            for passage in passages
            for unit, text in zip(passage.chunk.units, passage.chunk.unit_texts(), strict=True)
        ]
        evidence.sort(key=lambda found: -found.support)
        best = {
            found.passage.chunk.chunk_id: found.support for found in reversed(evidence)
        }  # the last one set is the best
        supports = tuple(best[passage.chunk.chunk_id] for passage in passages)
        return Judgement(self.answerable, supports, tuple(evidence))


def hits(*chunks: tuple[Chunk, float]) -> list[Hit]:
    """Make hits of chunks and the relevance that each is to have."""
    bundled = relevance_map(BOOK.embedding_model)
    return [
        Hit(chunk, bundled.midpoint + math.log(r / (1 - r)) / bundled.slope, 0.0)
        for chunk, r in chunks
    ]


class NoRecords:
    """Records that cannot be reached."""

    async def log(self, *entries: QueryEntry) -> None:
        raise RecordsFailed("no records here")

    async def stats(
        self, since: datetime, until: datetime, *, book_id: str | None = None, most: int = 10
    ) -> QueryStats:
        raise RecordsFailed("no records here")

    async def append(
        self,
        owner: str,
        session_id: UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        raise RecordsFailed("no records here")

    async def history(self, owner: str, session_id: UUID) -> Thread | None:
        raise RecordsFailed("no records here")

    async def delete(self, owner: str, session_id: UUID) -> bool:
        raise RecordsFailed("no records here")

    async def give(self, owner: str, feedback: Feedback) -> bool:
        raise RecordsFailed("no records here")


class NoLog:
    """A log of questions that cannot be read."""

    async def _fail(self, *_: object, **__: object) -> Any:
        raise RecordsFailed("no records here")

    count_by_day = count_feedback = list_wordings = count_citations = _fail
    count_by_score = measure_latency = list_questions = find_question = _fail


class NoReports:
    """Books without reports."""

    def report(self, book_id: str) -> IngestReport:
        raise UnknownBook(f"There is no book {book_id!r}.")


@dataclass
class FakeKeys:
    """Keys in memory; they cannot be read if asked so."""

    failure: RecordsFailed | None = None
    keys: dict[str, ApiKey] = field(default_factory=dict)
    reads: int = 0

    async def create(self, terms: KeyTerms, now: datetime, secret: str | None = None) -> IssuedKey:
        secret = secret or new_secret()
        key = ApiKey(uuid4(), key_prefix(secret), terms, now)
        self.keys[key_hash(secret)] = key
        return IssuedKey(key, secret)

    async def list(self) -> Sequence[ApiKey]:
        self._touch()
        return list(self.keys.values())

    async def revoke(self, key_id: UUID, now: datetime) -> bool:
        for hashed, key in self.keys.items():
            if key.key_id == key_id:
                self.keys[hashed] = replace(key, revoked_at=now)
                return True
        return False

    async def find(self, key_hash: str) -> ApiKey | None:
        self._touch()
        return self.keys.get(key_hash)

    def add(self, scope: KeyScope = "ask", **terms: Any) -> str:
        """Make a key and give its secret."""
        made = asyncio.run(self.create(KeyTerms(scope, **terms), datetime.now(UTC)))
        return made.secret

    def _touch(self) -> None:
        self.reads += 1
        if self.failure is not None:
            raise self.failure


@dataclass
class MemoryThreads:
    """Conversations that are kept as long as this lives; fails if asked to."""

    threads: dict[tuple[str, UUID], Thread] = field(default_factory=dict)
    failure: BaseException | None = None  # of appending

    async def append(
        self,
        owner: str,
        session_id: UUID,
        exchange: Exchange,
        *,
        topic_summary: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        said = (exchange.asked, exchange.answered)
        first, last = exchange.asked.created_at, exchange.answered.created_at
        new = Thread(session_id, (), 0, first, last, "active", None, {})
        known = self.threads.get((owner, session_id), new)
        self.threads[owner, session_id] = replace(
            known,
            messages=(*known.messages, *said)[-LIVE_MESSAGES:],
            message_count=known.message_count + 2,
            updated_at=last,
            topic_summary=topic_summary or known.topic_summary,
            metadata=known.metadata if metadata is None else metadata,
        )
        return known.message_count + 2

    async def history(self, owner: str, session_id: UUID) -> Thread | None:
        await asyncio.sleep(0)
        return self.threads.get((owner, session_id))

    async def delete(self, owner: str, session_id: UUID) -> bool:
        await asyncio.sleep(0)
        return self.threads.pop((owner, session_id), None) is not None


def fake_service(
    *,
    library: Library | None = None,
    embedder: Embedder | None = None,
    index: ChunkIndex | None = None,
    judge: Judge | None = None,
    keys: FakeKeys | None = None,
    limits: RequestLimits | None = None,
    threads: Threads | None = None,
    key_times: KeyTimes = KEY_TIMES,
    settle_seconds: float = 5.0,
) -> Service:
    ports = AskPorts(
        library=library or FakeLibrary(),
        embedder=embedder or FakeEmbedder(),
        index=index or FakeIndex(),
        calibrations=FakeCalibrations(),
        judge=judge or FakeJudge(),
        support=FakeSupport(),
        generator=ExtractiveGenerator(),
        reader_url=READER,
    )
    metrics = PrometheusMetrics()
    ring = KeyRing(keys or FakeKeys(), times=key_times)
    journal = Journal(NoRecords(), metrics, settle_seconds=settle_seconds)
    return Service(
        gate=Gate(ring, MemoryWindows(), limits or RequestLimits(), metrics),
        answerer=Answerer(ports, journal, wide_queue()),
        threads=threads or NoRecords(),
        feedback=NoRecords(),
        insight=Insight(NoLog(), ports, NoReports()),
        metrics=metrics,
        reader_url=READER,
        version="0",
        models=MODELS,
    )


def over(*chunks: tuple[Chunk, float], judge: Judge | None = None) -> Service:
    """Make a service that finds these chunks, each of the relevance given."""
    return fake_service(index=FakeIndex(hits=hits(*chunks)), judge=judge or SentenceJudge())


def call(
    service: Service,
    method: str,
    path: str,
    body: dict[str, object] | None = None,
    *,
    key: str | None = None,
) -> httpx.Response:
    """Send one request to the application, without a network between."""
    headers = {"X-API-Key": key} if key else {}

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            return await client.request(method, path, json=body, headers=headers)

    return asyncio.run(send())


def one_page(document_id: str, title: str, text: str, *, anchor: str = "") -> Document:
    """Make a document of a heading and paragraphs."""
    blocks, at = [], 0
    for number, piece in enumerate(text.split("\n\n")):
        kind = "heading" if number == 0 else "paragraph"
        blocks.append(Block(kind, at, at + len(piece), level=1))  # type: ignore[arg-type]
        at += len(piece) + 2
    section = Section(title, anchor, (title,), 0, len(text))
    return Document(document_id, title, title, text, tuple(blocks), (section,))


def bare_request(path: str) -> Request:
    """Make a request that nothing is known of but its path."""
    context = RequestContext(uuid4(), Caller())
    return Request({"type": "http", "path": path, "headers": [], "state": {"context": context}})
