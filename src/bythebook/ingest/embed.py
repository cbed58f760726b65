"""Computes the vectors of chunks, each once: cached vectors are not computed again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bythebook.domain.books import Chunk
from bythebook.errors import EmbedderFailed
from bythebook.ports import Embedder, Vector, VectorCache, Vectors

BATCH = 96  # chunks between two writes to the cache: about what a killed run may lose; a request to Cohere


@dataclass(frozen=True, slots=True)
class EmbeddedBatch:
    """The vectors of a batch, and the chunks whose vectors were computed."""

    vectors: Vectors
    computed: tuple[Chunk, ...]
    tokens: int


def find_missing_vectors(
    chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache
) -> list[Chunk]:
    """Return the chunks without a cached vector, one for each distinct content."""
    wanted = {chunk.embedding_hash: chunk for chunk in chunks}
    known = _get_valid_vectors(list(wanted), embedder, cache)
    return [chunk for name, chunk in wanted.items() if name not in known]


def count_embedded_tokens(chunks: Sequence[Chunk], embedder: Embedder) -> int:
    """Count the tokens that an embedder reads for chunks: their text and context."""
    return sum(embedder.count_tokens([chunk.search_text for chunk in chunks]))


async def embed_chunks(
    chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache
) -> EmbeddedBatch:
    """Return the vectors of a batch; computed ones are in the cache when this returns."""
    names = [chunk.embedding_hash for chunk in chunks]
    known = await asyncio.to_thread(_get_valid_vectors, names, embedder, cache)
    wanted = {chunk.embedding_hash: chunk for chunk in chunks}
    missing = {name: chunk for name, chunk in wanted.items() if name not in known}
    if missing:
        vectors = await embedder.embed_passages([chunk.search_text for chunk in missing.values()])
        _check_vectors(vectors, len(missing), embedder)
        computed = dict(zip(missing, vectors, strict=True))
        await asyncio.to_thread(cache.put, embedder.model_id, computed)
        known |= computed
    found = np.stack([known[name] for name in names])
    new = tuple(missing.values())
    return EmbeddedBatch(found, new, count_embedded_tokens(new, embedder))


def _get_valid_vectors(
    names: Sequence[str], embedder: Embedder, cache: VectorCache
) -> dict[str, Vector]:
    """Return the usable vectors in the cache; damaged ones count as missing."""
    return {
        name: vector
        for name, vector in cache.get(embedder.model_id, names).items()
        if vector.shape == (embedder.dimension,) and np.isfinite(vector).all()
    }


def _check_vectors(vectors: Vectors, count: int, embedder: Embedder) -> None:
    if vectors.shape != (count, embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbedderFailed(
            f"The embedder {embedder.model_id} returned {vectors.shape} instead of "
            f"({count}, {embedder.dimension}) finite numbers.",
            "Nothing was stored; check the embedder's settings.",
        )
