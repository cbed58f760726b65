"""Plain stand-ins for the parts behind the application, and a way to call it in this process."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import httpx
import numpy as np

from bythebook.ask.compose import ExtractiveGenerator
from bythebook.ask.pipeline import AskPorts
from bythebook.ask.relevance import relevance_map
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Block, Book, Chunk, Document, Section
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.http.app import Service, create_app
from bythebook.ports import ChunkIndex, Embedder, Judge, Library, Vector, Vectors

READER = "http://reader.test"
BOOK = Book(
    "tales", "Tales", "g1", "all-MiniLM-L6-v2-fake", 1, 1, 10, "tales", "2026-01-01T00:00:00+00:00"
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


@dataclass
class FakeEmbedder:
    """Embeds nothing; fails where told to."""

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


@dataclass
class FakeIndex:
    """Finds what it was given; fails where told to."""

    failure: BaseException | None = None
    hits: Sequence[Hit] = ()
    calls: int = 0

    async def search(
        self, question: str, vector: Vector, books: Sequence[Book], limit: int
    ) -> Sequence[Hit]:
        self.calls += 1
        if self.failure is not None:
            raise self.failure
        return self.hits


class FakeJudge:
    """Takes the first unit for the answer."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        evidence = Evidence(passages[0], passages[0].chunk.units[0], 0.9)
        return Judgement(0.9, tuple(0.9 for _ in passages), (evidence,))


@dataclass
class SentenceJudge:
    """Takes the units that hold a word for the evidence, each as likely as told."""

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


def fake_service(
    *,
    library: Library | None = None,
    embedder: Embedder | None = None,
    index: ChunkIndex | None = None,
    judge: Judge | None = None,
) -> Service:
    ports = AskPorts(
        library=library or FakeLibrary(),
        embedder=embedder or FakeEmbedder(),
        index=index or FakeIndex(),
        judge=judge or FakeJudge(),
        generator=ExtractiveGenerator(),
        reader_url=READER,
    )
    return Service(ask=ports, reader_url=READER, version="0", models=MODELS)


def call(
    service: Service, method: str, path: str, body: dict[str, object] | None = None
) -> httpx.Response:
    """Send one request to the application, without a network between."""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            return await client.request(method, path, json=body)

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
