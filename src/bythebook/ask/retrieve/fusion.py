"""Hits with two scores -> passages in one order, each with its relevance."""

from collections.abc import Mapping, Sequence

from bythebook.ask.retrieve.relevance import as_the_judge_knows_it, is_measured, relevance_map
from bythebook.domain.answers import Hit, Passage
from bythebook.domain.books import Chunk
from bythebook.domain.calibrations import RelevanceMap

# Weight of the word score relative to the cosine; docs/decisions/0003 has the measurements.
WORD_WEIGHT, WORD_POWER = 0.7, 1.5


def fuse(
    hits: Sequence[Hit], embedding_model: str, fitted: Mapping[str, RelevanceMap] = {}
) -> tuple[Passage, ...]:
    """Order hits by one signal, and read their relevance from the same signal, as fitted to each book."""
    default, known = relevance_map(embedding_model), is_measured(embedding_model)
    signals = [(signal(hit), hit) for hit in hits]
    signals.sort(key=lambda pair: (-pair[0], _place(pair[1].chunk)))
    first: dict[tuple[str, str], Passage] = {}
    for strength, hit in signals:
        to_relevance = fitted.get(hit.chunk.book_id, default)
        read = strength if known else as_the_judge_knows_it(strength, to_relevance)
        passage = Passage(hit.chunk, to_relevance(strength), hit.cosine, read)
        first.setdefault((hit.chunk.book_id, hit.chunk.content_hash), passage)
    return tuple(first.values())


def signal(hit: Hit) -> float:
    """Return the number that hits are ordered by, and that a relevance map reads."""
    return hit.cosine + WORD_WEIGHT * float(max(hit.words, 0.0) ** WORD_POWER)


def _place(chunk: Chunk) -> tuple[str, str, int, str]:
    return chunk.book_id, chunk.document_id, chunk.chunk_index, chunk.text
