"""What reading, indexing and finding books needs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk, CutDocument, Document, LiveBook, SourceBook
from bythebook.domain.calibrations import Calibration
from bythebook.domain.questions import SectionSpan
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


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """What is looked for, by words and by meaning, and where; `limit` is for each way."""

    question: str
    vector: Vector
    books: Sequence[Book]
    limit: int
    within: SectionSpan | None = None  # this section only


class ChunkIndex(Protocol):
    """Finds chunks of the live generations by meaning and by words."""

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        """Give the best by either way, each with both scores."""
        ...

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """Give the vectors of chunks that were found, in order; zeros for one no longer there."""
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


class Calibrations(Protocol):
    """What scores mean for each book, as fitted to its live generation."""

    def of(self, book: Book) -> Calibration | None:
        """Give the fit of just this generation; none where there is none."""
        ...

    def keep(self, book_id: str, calibration: Calibration) -> None:
        """Put a fit in the place of the last one, whole or not at all."""
        ...
