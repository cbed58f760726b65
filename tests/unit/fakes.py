"""Plain stand-ins for the parts of the product, and short ways to make its nouns."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.domain.answers import Draft, Evidence, Hit, Judgement, Passage
from bythebook.domain.books import (
    Block,
    BlockKind,
    Book,
    Chunk,
    CutDocument,
    Document,
    LiveBook,
    Section,
    SourceBook,
    SourceDocument,
    Unit,
    UnitKind,
)
from bythebook.domain.calibrations import Calibration
from bythebook.domain.questions import Plan
from bythebook.domain.reports import IngestReport
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.operate.answer_queue import AnswerQueue
from bythebook.ports import Embedder, LoadPicture, Lookup, Vector, Vectors

MODEL = "all-MiniLM-L6-v2-fake"


def words(texts: Sequence[str]) -> list[int]:
    """Count tokens as words."""
    return [len(text.split()) for text in texts]


def make_chunk(
    *parts: str | tuple[UnitKind, str],
    book_id: str = "robots",
    document_id: str = "walking",
    char_start: int = 0,
    source_url: str = "",
    anchor: str = "",
    section: str = "Gaits",
) -> Chunk:
    """Make a chunk of units, each on a line of its own; a bare text is a sentence."""
    units: list[Unit] = []
    text = ""
    for part in parts:
        kind: UnitKind = "sentence" if isinstance(part, str) else part[0]
        body = part if isinstance(part, str) else part[1]
        text += "\n" if text else ""
        units.append(Unit(kind, len(text), len(text) + len(body)))
        text += body
    return Chunk(
        book_id=book_id,
        document_id=document_id,
        chunk_index=0,
        text=text,
        chapter="Walking",
        section=section,
        heading_path=("Walking", section),
        anchor=anchor,
        source_url=source_url,
        char_start=char_start,
        char_end=char_start + len(text),
        token_count=len(text.split()),
        units=tuple(units),
    )


def make_passage(*parts: str | tuple[UnitKind, str], relevance: float = 0.9) -> Passage:
    """Make a passage of units."""
    return Passage(make_chunk(*parts), relevance)


def make_document(
    *blocks: tuple[BlockKind, str], document_id: str = "walking", url: str = ""
) -> Document:
    """Make a document of blocks; each heading opens a section, named and anchored by its text."""
    text, placed = "", []
    for kind, body in blocks:
        text += "\n\n" if text else ""
        placed.append(Block(kind, len(text), len(text) + len(body), level=kind == "heading"))
        text += body
    starts = [block.start for block in placed if block.kind == "heading"]
    sections = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        title = text[start:end].partition("\n")[0]
        sections.append(Section(title, title.lower(), ("Walking", title), start, end))
    return Document(
        document_id, "Walking", "Walking", text, tuple(placed), tuple(sections), url=url
    )


def make_book(book_id: str = "robots", embedding_model: str = MODEL) -> Book:
    """Make the manifest of a published book."""
    return Book(book_id, "Robots", "g1", embedding_model, 1, 1, 1, "robots", "2026-01-01")


@dataclass
class FakeEmbedder:
    """Gives every text the same vector, and keeps what it read."""

    model_id: str = MODEL
    dimension: int = 4
    read: list[str] = field(default_factory=list)
    failure: Exception | None = None
    value: float = 0.5
    usd_per_million_tokens: float = 0.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return words(texts)

    async def embed_query(self, text: str) -> Vector:
        vector: Vector = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.failure is not None:
            raise self.failure
        self.read.extend(texts)
        return np.full((len(texts), self.dimension), self.value, np.float32)


@dataclass
class FakeIndex:
    """Finds what it was given; fails if asked to."""

    hits: Sequence[Hit] = ()
    failure: BaseException | None = None
    calls: int = 0
    searches: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        self._touch()
        books = tuple(book.book_id for book in wanted.books)
        self.searches.append((wanted.question, books, wanted.limit))
        within = wanted.within
        return [hit for hit in self.hits if within is None or within.holds(hit.chunk)]

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        self._touch()
        return np.eye(len(chunks), 4, dtype=np.float32)

    def _touch(self) -> None:
        self.calls += 1
        if self.failure is not None:
            raise self.failure


@dataclass
class FakeLibrary:
    """A library in memory."""

    shelf: Sequence[Book] = (make_book(),)
    texts: Mapping[str, Document] = field(default_factory=dict)

    def books(self) -> Sequence[Book]:
        return self.shelf

    def book(self, book_id: str) -> Book:
        for book in self.shelf:
            if book.book_id == book_id:
                return book
        raise UnknownBook(f"There is no book {book_id!r}.")

    def documents(self, book_id: str) -> Sequence[Document]:
        return tuple(self.texts.values())

    def document(self, book_id: str, document_id: str) -> Document:
        if document_id not in self.texts:
            raise UnknownDocument(document_id)
        return self.texts[document_id]

    def older_generations(self, book_id: str) -> Sequence[str]:
        return ()

    def older_text(self, book_id: str, generation: str) -> None:
        return None

    def picture(self, book_id: str, file: str) -> bytes:
        raise UnknownDocument(file)


@dataclass
class FakeJudge:
    """Finds the first unit of each passage to be evidence, as sure as it is asked to be."""

    answerable: float = 0.9
    finds_evidence: bool = True
    seen: list[Sequence[Passage]] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.seen.append(passages)
        found = [Evidence(p, p.chunk.units[0], self.answerable) for p in passages if p.chunk.units]
        return Judgement(
            self.answerable,
            tuple(self.answerable for _ in passages),
            tuple(found) if self.finds_evidence else (),
        )


class FakeCalibrations:
    """Keeps fits in memory, as long as the test runs."""

    def __init__(self, *fits: Calibration) -> None:
        self.fits = {fit.generation: fit for fit in fits}

    def of(self, book: Book) -> Calibration | None:
        return self.fits.get(book.generation)

    def keep(self, book_id: str, calibration: Calibration) -> None:
        self.fits[calibration.generation] = calibration


@dataclass
class FakeSupport:
    """Finds every claim as well supported as it is asked to."""

    probability: float = 0.9
    seen: list[str] = field(default_factory=list)

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        self.seen.append(claim)
        return self.probability


@dataclass
class FakeGenerator:
    """Proposes the drafts it was given."""

    drafts: Sequence[Draft] = ()

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        for draft in self.drafts:
            yield draft


class UntouchableEmbedder(FakeEmbedder):
    """An embedder that may not even be asked its name."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the embedder's {name} was used")


class UntouchableIndex(FakeIndex):
    """An index that may not be searched."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the index's {name} was used")


class UntouchableLibrary(FakeLibrary):
    """A library that may not be entered."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the library's {name} was used")


@dataclass
class FakeReader:
    """Reads the documents it was given, and counts how often."""

    documents: Sequence[Document]
    failure: Exception | None = None
    unreadable: Mapping[str, Exception] = field(default_factory=dict)
    read_ids: list[str] = field(default_factory=list)

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        if self.failure is not None:
            raise self.failure
        documents = tuple(
            SourceDocument(document.document_id, repr(document), partial(self._read, document))
            for document in self.documents
        )
        return SourceBook(title or "Robots", "Fake", base_url or "", documents)

    def _read(self, document: Document) -> Document:
        self.read_ids.append(document.document_id)
        if failure := self.unreadable.get(document.document_id):
            raise failure
        return document


@dataclass
class FakeCache:
    """Vectors in memory."""

    vectors: dict[tuple[str, str], Vector] = field(default_factory=dict)

    def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return {h: self.vectors[model_id, h] for h in hashes if (model_id, h) in self.vectors}

    def put(self, model_id: str, vectors: Mapping[str, Vector]) -> None:
        self.vectors |= {(model_id, name): vector for name, vector in vectors.items()}


@dataclass
class FakeGenerationDraft:
    """A generation in memory."""

    base: "FakeGenerationDraft | None" = None
    chunks: dict[str, Chunk] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    vectors: int = 0
    sound: bool = True
    published: Book | None = None
    documents: Sequence[CutDocument] = ()
    report: IngestReport | None = None

    def start_from_live(self) -> bool:
        assert self.base is not None
        self.chunks = dict(self.base.chunks) if self.base.sound else {}
        return self.base.sound

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        self.chunks |= {chunk.chunk_id: chunk for chunk in chunks}
        self.added.extend(chunk.text for chunk in chunks)
        self.vectors += len(vectors)

    def drop(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            del self.chunks[chunk.chunk_id]

    def publish(
        self,
        book: Book,
        documents: Sequence[CutDocument],
        report: IngestReport,
        load_picture: LoadPicture,
    ) -> None:
        assert book.chunks == len(self.chunks)
        self.published, self.documents, self.report = book, documents, report

    @property
    def texts(self) -> list[str]:
        placed = {cut.document.document_id: n for n, cut in enumerate(self.documents)}
        ordered = sorted(
            self.chunks.values(), key=lambda chunk: (placed[chunk.document_id], chunk.chunk_index)
        )
        return [chunk.text for chunk in ordered]


@dataclass
class FakeIndexWriter:
    """Keeps every draft it opened; the last published one is live."""

    drafts: list[FakeGenerationDraft] = field(default_factory=list)

    def require_id(self, book_id: str) -> None:
        assert book_id

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        base = self._live()
        if base is None or base.published is None:
            return LiveBook({}, frozenset())
        same = base.published.embedding_model == embedder.model_id
        documents = {cut.fingerprint: cut for cut in base.documents} if same else {}
        return LiveBook(documents, frozenset(base.chunks))

    @contextmanager
    def open_draft(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> Iterator[FakeGenerationDraft]:
        self.drafts.append(FakeGenerationDraft(self._live()))
        yield self.drafts[-1]

    def remove(self, book_id: str) -> None:
        self.drafts.clear()

    def _live(self) -> FakeGenerationDraft | None:
        return next((draft for draft in reversed(self.drafts) if draft.published), None)


@dataclass
class Clock:
    """Time that passes when a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def wide_queue() -> AnswerQueue:
    """Make a queue in which no question of a test has to wait."""
    return AnswerQueue(1000, 60.0, PrometheusMetrics())
