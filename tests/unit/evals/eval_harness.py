"""A harness over plain stand-ins for the product's parts: what is published is what is found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from evals.harness import CosineScorer, Harness
from evals.report.results import Figure, SetResult
from tests.unit.fakes import MODEL, FakeCalibrations, make_book, make_chunk, words

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Block, Book, Chunk, Document, SourceBook
from bythebook.domain.text.units import selection_units
from bythebook.evaluate.run import QuestionResult
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ingest.pipeline import IngestPorts
from bythebook.ports import BookReader, Lookup, Vector, Vectors


@dataclass
class LetterEmbedder:
    """Embeds a text as how often it has each letter."""

    model_id: str = MODEL
    dimension: int = 26
    usd_per_million_tokens: float = 0.0
    read: list[str] = field(default_factory=list)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return words(texts)

    async def embed_query(self, text: str) -> Vector:
        return letters(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.read.extend(texts)
        return np.stack([letters(text) for text in texts])


def letters(text: str) -> Vector:
    """Count letters."""
    return np.array([text.lower().count(chr(97 + n)) for n in range(26)], np.float32)


class WordJudge:
    """Finds that a passage answers, and supports, as far as it has the question's last word."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        wanted = question.rstrip("?").split()[-1]
        found = [
            Evidence(passage, unit, 0.9)
            for passage in passages
            for unit in passage.chunk.units
            if wanted in passage.chunk.text[unit.start : unit.end]
        ]
        other = [Evidence(p, p.chunk.units[0], 0.1) for p in passages if p.chunk.units]
        supports = tuple(0.5 for _ in passages)
        return Judgement(0.9 if found else 0.1, supports, tuple(found or other))

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        last = claim.rstrip(".").split()[-1]
        return 0.9 if any(last in passage.chunk.text for passage in passages) else 0.1


@dataclass
class Shelf:
    """A library and an index in one: finds all that its books hold."""

    hits: dict[str, list[Hit]] = field(default_factory=dict)
    pages: dict[tuple[str, str], Document] = field(default_factory=dict)

    def books(self) -> Sequence[Book]:
        return [self.book(book_id) for book_id in self.hits]

    def book(self, book_id: str) -> Book:
        return make_book(book_id)

    def documents(self, book_id: str) -> Sequence[Document]:
        return [page for (owner, _), page in self.pages.items() if owner == book_id]

    def document(self, book_id: str, document_id: str) -> Document:
        return self.pages[book_id, document_id]

    def older_generations(self, book_id: str) -> list[str]:
        return []

    def older_text(self, book_id: str, generation: str) -> None:
        return None

    def picture(self, book_id: str, file: str) -> bytes:
        raise KeyError(file)

    def put(self, book_id: str, *documents: Document) -> None:
        self.hits[book_id] = [
            Hit(_chunk(book_id, document, block), 0.6, 0.5)
            for document in documents
            for block in document.blocks
            if block.kind != "heading"
        ]
        self.pages |= {(book_id, document.document_id): document for document in documents}

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        found = [hit for book in wanted.books for hit in self.hits[book.book_id]]
        within = wanted.within
        return [hit for hit in found if within is None or within.holds(hit.chunk)]

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        raise NotImplementedError


def _chunk(book_id: str, document: Document, block: Block) -> Chunk:
    text = document.text[block.start : block.end]
    chunk = make_chunk(
        text, book_id=book_id, document_id=document.document_id, char_start=block.start
    )
    return replace(chunk, units=selection_units(text))


@dataclass(frozen=True, slots=True)
class ShelfHarness(Harness):
    """A harness whose books need no index: what is published is what is found."""

    published: dict[str, SourceBook] = field(default_factory=dict)

    async def publish(self, book_id: str, reader: BookReader) -> None:
        book = reader.read(book_id, title=None, base_url=None)
        self.published[book_id] = book
        assert isinstance(self.ask.library, Shelf)
        self.ask.library.put(book_id, *(source.read() for source in book.documents))


def make_harness(shelf: Shelf | None = None, *, quick: bool = False) -> ShelfHarness:
    judge, embedder = WordJudge(), LetterEmbedder()
    shelf = shelf or Shelf({"sample": []})
    ask = AskPorts(
        library=shelf,
        embedder=embedder,
        index=shelf,
        calibrations=FakeCalibrations(),
        judge=judge,
        support=judge,
        generator=ExtractiveGenerator(),
        reader_url="http://reader.test",
    )
    unused: IngestPorts = None  # type: ignore[assignment]
    return ShelfHarness(ask, unused, CosineScorer(embedder), 0.5, quick=quick)


def lines(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")


def values(result: SetResult) -> dict[str, float]:
    return {figure.name: figure.value for figure in result.figures}


def figure(result: SetResult, name: str) -> Figure:
    return next(one for one in result.figures if one.name == name)


def make_result(
    question: EvalQuestion, *, text: str = "", refusal: str | None = None, shown: bool = False
) -> QuestionResult:
    """A result with an answer of this text, or a refusal."""
    return QuestionResult(
        question=question,
        answered=refusal is None,
        refusal_type=refusal,
        text=text,
        words=len(text.split()),
        gold_in_answer=shown,
        gold_in_key=shown,
        gold_first=shown,
        gold_among_three=shown,
        gold_retrieved=True,
        quotes=0,
        exact_quotes=0,
        relevance=0.9,
        cosine=0.5,
        answerable=0.9,
        milliseconds=1.0,
    )
