"""Plain stand-ins for the parts behind the application, and a way to call it in this process."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
import numpy as np

from bythebook.ask.compose import ExtractiveGenerator
from bythebook.ask.pipeline import AskPorts
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Block, Book, Document, Section
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.http.app import Service, create_app
from bythebook.ports import ChunkIndex, Embedder, Judge, Library, Vector, Vectors

READER = "http://reader.test"
BOOK = Book(
    "tales", "Tales", "g1", "all-MiniLM-L6-v2-fake", 1, 1, 10, "tales", "2026-01-01T00:00:00+00:00"
)


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
    return Service(ask=ports, reader_url=READER, version="0")


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
