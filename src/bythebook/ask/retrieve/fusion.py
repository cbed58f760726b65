"""Hits with two scores -> passages in one order, each with its relevance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bythebook.ask.retrieve.relevance import as_the_judge_knows_it, is_measured, relevance_map
from bythebook.domain.answers import Hit, Passage
from bythebook.domain.books import Chunk
from bythebook.domain.calibrations import RelevanceMap

# Weight of the word score relative to the cosine; docs/decisions/0003 has the measurements.
WORD_WEIGHT, WORD_POWER = 0.7, 1.5
# Chosen on the dev dialogues; docs/decisions/0021 has the measurements.
CONTEXT_WEIGHT = (
    2 / 3
)  # of the search with the turns before, relative to that with the question alone
STANDS_ALONE = (
    0.75  # signal on the judge's scale; questions that lean rarely reach it by themselves
)


def fuse(
    hits: Sequence[Hit], embedding_model: str, fitted: Mapping[str, RelevanceMap] = {}
) -> tuple[Passage, ...]:
    """Order hits by one signal, and read their relevance from the same signal, as fitted to each book."""
    return _rank([(signal(hit), hit) for hit in hits], embedding_model, fitted)


def stands_alone(passages: Sequence[Passage]) -> bool:
    """Return True if a question finds by itself what it is about, and so leans on no earlier turn."""
    return any(passage.signal >= STANDS_ALONE for passage in passages[:1])


def fuse_in_context(
    alone: Sequence[Hit],
    in_context: Sequence[Hit],
    embedding_model: str,
    fitted: Mapping[str, RelevanceMap] = {},
) -> tuple[Passage, ...]:
    """Order the hits of a question by itself and together with the turns before it.

    What only one of the searches found counts in the other as its last.
    """
    hits = {hit.chunk.chunk_id: hit for hit in (*alone, *in_context)}
    searches = ((alone, 1 - CONTEXT_WEIGHT), (in_context, CONTEXT_WEIGHT))
    totals = dict.fromkeys(hits, 0.0)
    for found, weight in searches:
        signals = {hit.chunk.chunk_id: signal(hit) for hit in found}
        last = min(signals.values(), default=0.0)
        for name in hits:
            totals[name] += weight * signals.get(name, last)
    ranked = _rank([(totals[name], hit) for name, hit in hits.items()], embedding_model, fitted)
    return tuple(replace(passage, in_context=True) for passage in ranked)


def _rank(
    signals: list[tuple[float, Hit]], embedding_model: str, fitted: Mapping[str, RelevanceMap]
) -> tuple[Passage, ...]:
    default, known = relevance_map(embedding_model), is_measured(embedding_model)
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
