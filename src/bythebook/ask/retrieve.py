"""Plan -> passages: hybrid search fused by weighted normalised scores, or the selection itself."""

from collections.abc import Sequence

from bythebook.ask.relevance import relevance_map
from bythebook.domain.answers import SELECTED_TEXT, Hit, Passage
from bythebook.domain.books import Book, Chunk
from bythebook.domain.questions import Plan
from bythebook.domain.units import selection_units
from bythebook.errors import NoBooks, WrongEmbedder
from bythebook.ports import ChunkIndex, Embedder, Library

READ_AT_MOST = 8  # passages that the judge reads, so that it may choose
CANDIDATES = 30  # by each way of searching, before fusion
# Of the words' share beside the cosine; docs/decisions/0003 has the measurements.
WORD_WEIGHT, WORD_POWER = 0.7, 1.5


async def retrieve(
    plan: Plan, *, library: Library, embedder: Embedder, index: ChunkIndex
) -> tuple[Passage, ...]:
    """Find the passages nearest to a question, best first: as many as asked for, or as are read."""
    if plan.selected_text is not None:
        return (selection_passage(plan.selected_text),)
    books = _books(plan, library, embedder)
    vector = await embedder.embed_query(plan.question)
    hits = await index.search(plan.question, vector, books, max(CANDIDATES, plan.top_k))
    return fuse(hits, embedder.model_id)[: max(plan.top_k, READ_AT_MOST)]


def fuse(hits: Sequence[Hit], embedding_model: str) -> tuple[Passage, ...]:
    """Order hits by one signal, and read their relevance from the same signal."""
    to_relevance = relevance_map(embedding_model)
    signals = [(hit.cosine + WORD_WEIGHT * max(hit.words, 0.0) ** WORD_POWER, hit) for hit in hits]
    signals.sort(key=lambda pair: (-pair[0], pair[1].chunk.chunk_id))
    folded: dict[tuple[str, str], Passage] = {}
    for signal, hit in signals:
        passage = Passage(hit.chunk, to_relevance(signal), hit.cosine)
        folded.setdefault((hit.chunk.book_id, hit.chunk.content_hash), passage)
    return tuple(folded.values())


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


def _books(plan: Plan, library: Library, embedder: Embedder) -> Sequence[Book]:
    books = library.books() if plan.book_id is None else [library.book(plan.book_id)]
    if not books:
        raise NoBooks("There is no book to ask yet.", "Ingest one: `bythebook ingest PATH`.")
    for book in books:
        if book.embedding_model != embedder.model_id:
            raise WrongEmbedder(
                f"The book {book.book_id!r} was indexed by {book.embedding_model}, "
                f"but questions are embedded by {embedder.model_id}.",
                f"Ingest {book.book_id!r} again, or set the embedder it was indexed by.",
            )
    return books
