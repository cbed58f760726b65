"""Plan -> passages: a search by meaning and by words, or the selection itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from bythebook.ask.conversation.context import recall_context
from bythebook.ask.retrieve.fusion import fuse, fuse_in_context, stands_alone
from bythebook.domain.answers import SELECTED_TEXT, Hit, Passage
from bythebook.domain.books import Book, Chunk
from bythebook.domain.questions import Plan
from bythebook.domain.text.notation import spell_notation
from bythebook.domain.text.units import selection_units
from bythebook.errors import NoBooks, UnknownBook, WrongEmbedder
from bythebook.ports import Calibrations, ChunkIndex, Embedder, Library, Lookup

READ_AT_MOST = 8  # passages that the judge reads, so that it may choose
CANDIDATES = 30  # by each way of searching, before fusion


class SearchPorts(Protocol):
    """The parts that finding passages needs."""

    @property
    def library(self) -> Library:
        """The books."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The embedder of the books."""
        ...

    @property
    def index(self) -> ChunkIndex:
        """The index that finds their chunks."""
        ...

    @property
    def calibrations(self) -> Calibrations:
        """The calibrations of the books."""
        ...


async def find_passages(plan: Plan, ports: SearchPorts) -> tuple[Passage, ...]:
    """Find the passages nearest to a question, best first: as many as requested, or as the judge reads."""
    if plan.selected_text is not None:
        if plan.book_id is not None:
            readable_books(ports.library, plan.book_id, plan.readable)
        return (selection_passage(plan.selected_text),)
    books = _books(plan, ports.library, ports.embedder)
    hits = await find_hits(plan, books, ports)
    fitted = {book.book_id: fit.relevance for book in books if (fit := ports.calibrations.of(book))}
    passages = fuse(hits, ports.embedder.model_id, fitted)
    if plan.turns and not stands_alone(passages):
        joined = replace(plan, question=f"{recall_context(plan.turns)} {plan.question}")
        more = await find_hits(joined, books, ports)
        passages = fuse_in_context(hits, more, ports.embedder.model_id, fitted)
    if plan.overview:  # of a section: in reading order
        passages = tuple(sorted(passages, key=lambda passage: passage.chunk.char_start))
    return passages[: max(plan.top_k, READ_AT_MOST)]


async def find_hits(plan: Plan, books: Sequence[Book], ports: SearchPorts) -> Sequence[Hit]:
    """Search books by meaning and by words; hits have two scores each and are not ordered yet."""
    question = spell_notation(plan.question)
    vector = await ports.embedder.embed_query(question)
    limit = max(CANDIDATES, plan.top_k)
    return await ports.index.search(Lookup(question, vector, books, limit, plan.section))


def selection_passage(text: str) -> Passage:
    """Make the reader's selection the only passage; it was not retrieved, so it is fully relevant."""
    chunk = Chunk(
        book_id="",
        document_id=SELECTED_TEXT,
        chunk_index=0,
        text=text,
        chapter="",
        section="Selected text",
        heading_path=(),
        anchor="",
        source_url="",
        char_start=0,
        char_end=len(text),
        token_count=0,
        units=selection_units(text),
    )
    return Passage(chunk, relevance=1.0)


def readable_books(
    library: Library, book_id: str | None, readable: Sequence[str] | None
) -> Sequence[Book]:
    """Return the named book, or all books, of those that the caller may read."""
    _require_readable(book_id, readable)
    books = library.books() if book_id is None else [library.book(book_id)]
    if not books:
        raise NoBooks("There is no book to ask yet.", "Ingest one: `bythebook ingest PATH`.")
    open_to = [book for book in books if readable is None or book.book_id in readable]
    if not open_to:
        raise UnknownBook("None of the books that this key may read exists.")
    return open_to


def _require_readable(book_id: str | None, readable: Sequence[str] | None) -> None:
    """Raise UnknownBook for a book that the caller may not read, as if it did not exist."""
    if book_id is not None and readable is not None and book_id not in readable:
        raise UnknownBook(f"There is no book {book_id!r}.")


def _books(plan: Plan, library: Library, embedder: Embedder) -> Sequence[Book]:
    named = plan.section.book_id if plan.section else plan.book_id
    books = readable_books(library, named, plan.readable)
    for book in books:
        require_embedder(book, embedder)
    return books


def require_embedder(book: Book, embedder: Embedder) -> None:
    """Raise an error for a book that was indexed by another embedder."""
    if book.embedding_model != embedder.model_id:
        raise WrongEmbedder(
            f"The book {book.book_id!r} was indexed by {book.embedding_model}, "
            f"but questions are embedded by {embedder.model_id}.",
            f"Ingest {book.book_id!r} again, or set the embedder it was indexed by.",
        )
