"""Plan -> passages: hybrid search fused by weighted normalised scores, or the selection itself."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bythebook.ask.relevance import as_the_judge_knows_it, is_measured, relevance_map
from bythebook.domain.answers import SELECTED_TEXT, Hit, Passage
from bythebook.domain.books import Book, Chunk
from bythebook.domain.calibrations import RelevanceMap
from bythebook.domain.questions import Plan
from bythebook.domain.units import selection_units
from bythebook.errors import NoBooks, UnknownBook, WrongEmbedder
from bythebook.ports import Calibrations, ChunkIndex, Embedder, Library, Lookup

READ_AT_MOST = 8  # passages that the judge reads, so that it may choose
CANDIDATES = 30  # by each way of searching, before fusion
# Of the words' share beside the cosine; docs/decisions/0003 has the measurements.
WORD_WEIGHT, WORD_POWER = 0.7, 1.5


class SearchPorts(Protocol):
    """The parts that finding passages needs."""

    @property
    def library(self) -> Library:
        """The books."""
        ...

    @property
    def embedder(self) -> Embedder:
        """What the books were embedded by."""
        ...

    @property
    def index(self) -> ChunkIndex:
        """What finds their chunks."""
        ...

    @property
    def calibrations(self) -> Calibrations:
        """What was fitted to them."""
        ...


async def retrieve(plan: Plan, ports: SearchPorts) -> tuple[Passage, ...]:
    """Find the passages nearest to a question, best first: as many as asked for, or as are read."""
    if plan.selected_text is not None:
        if plan.book_id is not None:
            readable_books(ports.library, plan.book_id, plan.readable)
        return (selection_passage(plan.selected_text),)
    books = _books(plan, ports.library, ports.embedder)
    vector = await ports.embedder.embed_query(plan.question)
    limit = max(CANDIDATES, plan.top_k)
    hits = await ports.index.search(Lookup(plan.question, vector, books, limit, plan.section))
    fitted = {book.book_id: fit.relevance for book in books if (fit := ports.calibrations.of(book))}
    passages = fuse(hits, ports.embedder.model_id, fitted)
    if plan.overview:  # of a section: what it says first comes first
        passages = tuple(sorted(passages, key=lambda passage: passage.chunk.char_start))
    return passages[: max(plan.top_k, READ_AT_MOST)]


def fuse(
    hits: Sequence[Hit], embedding_model: str, fitted: Mapping[str, RelevanceMap] = {}
) -> tuple[Passage, ...]:
    """Order hits by one signal, and read their relevance from the same signal, as fitted to each book."""
    default, known = relevance_map(embedding_model), is_measured(embedding_model)
    signals = [(signal(hit), hit) for hit in hits]
    signals.sort(key=lambda pair: (-pair[0], _place(pair[1].chunk)))
    folded: dict[tuple[str, str], Passage] = {}
    for strength, hit in signals:
        to_relevance = fitted.get(hit.chunk.book_id, default)
        read = strength if known else as_the_judge_knows_it(strength, to_relevance)
        passage = Passage(hit.chunk, to_relevance(strength), hit.cosine, read)
        folded.setdefault((hit.chunk.book_id, hit.chunk.content_hash), passage)
    return tuple(folded.values())


def signal(hit: Hit) -> float:
    """Give the one figure that hits are ordered by, and that a relevance map reads."""
    return hit.cosine + WORD_WEIGHT * float(max(hit.words, 0.0) ** WORD_POWER)


def _place(chunk: Chunk) -> tuple[str, str, int, str]:
    return chunk.book_id, chunk.document_id, chunk.chunk_index, chunk.text


def selection_passage(text: str) -> Passage:
    """Make the reader's selection the one passage; nothing retrieved it, so it is fully relevant."""
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
    """Give the book that is named, or all, of those that the asker may read."""
    _require_readable(book_id, readable)
    books = library.books() if book_id is None else [library.book(book_id)]
    if not books:
        raise NoBooks("There is no book to ask yet.", "Ingest one: `bythebook ingest PATH`.")
    open_to = [book for book in books if readable is None or book.book_id in readable]
    if not open_to:
        raise UnknownBook("None of the books that this key may read is there.")
    return open_to


def _require_readable(book_id: str | None, readable: Sequence[str] | None) -> None:
    """Treat a book that the asker may not read as one that does not exist."""
    if book_id is not None and readable is not None and book_id not in readable:
        raise UnknownBook(f"There is no book {book_id!r}.")


def _books(plan: Plan, library: Library, embedder: Embedder) -> Sequence[Book]:
    named = plan.section.book_id if plan.section else plan.book_id
    books = readable_books(library, named, plan.readable)
    for book in books:
        require_embedder(book, embedder)
    return books


def require_embedder(book: Book, embedder: Embedder) -> None:
    """Refuse to search a book by other vectors than its own."""
    if book.embedding_model != embedder.model_id:
        raise WrongEmbedder(
            f"The book {book.book_id!r} was indexed by {book.embedding_model}, "
            f"but questions are embedded by {embedder.model_id}.",
            f"Ingest {book.book_id!r} again, or set the embedder it was indexed by.",
        )
