"""What reading, indexing and searching books needs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bythebook.domain.answers import Hit
from bythebook.domain.books import (
    Book,
    Chunk,
    CutDocument,
    Document,
    LiveBook,
    OlderGeneration,
    SourceBook,
)
from bythebook.domain.calibrations import Calibration
from bythebook.domain.questions import SectionSpan
from bythebook.domain.reports import IngestReport
from bythebook.domain.suggestions import Suggestion
from bythebook.errors import DamagedBook

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
LoadPicture = Callable[[str], bytes | None]


class BookReader(Protocol):
    """Reads a source into documents."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out from a path or an address, or raise UnreadableBook with what to do."""
        ...


@runtime_checkable
class PluginReader(BookReader, Protocol):
    """A reader that another package adds: it also says which sources it reads."""

    def accepts(self, source: str) -> bool:
        """Return True for a path or an address that this reader reads, rather than any other."""
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
        """The price of embedding; 0 if it runs on this machine."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens that the model would read of each text."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of a book, in the order given."""
        ...


class VectorCache(Protocol):
    """Vectors by model and content, so that nothing unchanged is embedded again."""

    def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are stored."""
        ...

    def put(self, model_id: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors; they are durable on return."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """What to search for, by words and by meaning, and where; `limit` is for each way."""

    question: str
    vector: Vector
    books: Sequence[Book]
    limit: int
    within: SectionSpan | None = None  # this section only


class ChunkIndex(Protocol):
    """Finds chunks of the live generations by meaning and by words."""

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        """Return the best chunks by either way, each with both scores."""
        ...

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """Return the vectors of chunks in order; zeros for a chunk that is gone."""
        ...


class Library(Protocol):
    """The published books and their texts."""

    def books(self) -> Sequence[Book]:
        """Return every published book, by id."""
        ...

    def book(self, book_id: str) -> Book:
        """Return a book, or raise UnknownBook."""
        ...

    def documents(self, book_id: str) -> Sequence[Document]:
        """Return the documents of the live generation in reading order."""
        ...

    def document(self, book_id: str, document_id: str) -> Document:
        """Return a document, or raise UnknownDocument."""
        ...

    def picture(self, book_id: str, file: str) -> bytes:
        """Return a picture of the live generation, or raise UnknownDocument."""
        ...

    def older_generations(self, book_id: str) -> Sequence[str]:
        """Return the older generations of which text is kept, newest first."""
        ...

    def older_text(self, book_id: str, generation: str) -> OlderGeneration | None:
        """Return what is kept of one; None if nothing is."""
        ...


class BookFiles(Protocol):
    """The files that the library keeps of each book, which may get damaged."""

    def book_ids(self) -> Sequence[str]:
        """Return the ids of all books, sound or not."""
        ...

    def damage(self, book_id: str, *, deep: bool) -> DamagedBook | None:
        """Check for damage: by sizes, which takes no time, or by every byte."""
        ...


class GenerationDraft(Protocol):
    """A generation that is being written; readers cannot see it until it is published."""

    def start_from_live(self) -> bool:
        """Start with everything in the live generation; return False, and start empty, if it is damaged."""
        ...

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Add chunks with their vectors; a chunk with the same id is replaced."""
        ...

    def drop(self, chunks: Sequence[Chunk]) -> None:
        """Remove chunks that came from the live generation."""
        ...

    def publish(
        self,
        book: Book,
        documents: Sequence[CutDocument],
        report: IngestReport,
        load_picture: LoadPicture,
    ) -> None:
        """Check the count, save texts and pictures, switch the pointer, remove older generations."""
        ...


class IndexWriter(Protocol):
    """Writes new generations of books."""

    def require_id(self, book_id: str) -> None:
        """Raise UnknownBook if this cannot be a book's id."""
        ...

    def live(self, book_id: str, embedder: Embedder) -> LiveBook:
        """Return the contents of the live generation; empty for a new book or another embedder."""
        ...

    def open_draft(
        self, book_id: str, generation: str, embedder: Embedder
    ) -> AbstractContextManager[GenerationDraft]:
        """Lock the book for one run; leaving without publishing changes nothing."""
        ...

    def remove(self, book_id: str) -> None:
        """Remove a book and all its generations."""
        ...


class Suggestions(Protocol):
    """Questions that each book is known to answer."""

    def of(self, book: Book, /) -> Sequence[Suggestion]:
        """Return the suggestions of exactly this generation, in reading order."""
        ...

    def keep(self, book: Book, suggestions: Sequence[Suggestion], /) -> None:
        """Replace the suggestions of a book at once."""
        ...


class Calibrations(Protocol):
    """What scores mean for each book, as fitted to its live generation."""

    def of(self, book: Book) -> Calibration | None:
        """Return the fit of exactly this generation, or None."""
        ...

    def keep(self, book_id: str, calibration: Calibration) -> None:
        """Replace the fit of a book atomically."""
        ...
