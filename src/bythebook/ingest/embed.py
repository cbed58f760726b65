"""Chunks -> vectors, each computed once: what the cache knows is not embedded again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bythebook.domain.books import Chunk
from bythebook.errors import EmbedderFailed
from bythebook.ports import Embedder, Vector, VectorCache, Vectors

BATCH = 96  # chunks between two writes to the cache: about what a killed run may lose; a request to Cohere


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a batch, and what had to be computed for them."""

    vectors: Vectors
    computed: tuple[Chunk, ...]
    tokens: int


def missing_vectors(chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache) -> list[Chunk]:
    """Give the chunks whose vector is not known, one for each distinct content."""
    wanted = {chunk.embedding_hash: chunk for chunk in chunks}
    known = _sound_vectors(list(wanted), embedder, cache)
    return [chunk for name, chunk in wanted.items() if name not in known]


def count_read(chunks: Sequence[Chunk], embedder: Embedder) -> int:
    """Count the tokens that an embedder reads of chunks: their text with its context."""
    return sum(embedder.count_tokens([chunk.context for chunk in chunks]))


async def embed_chunks(chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache) -> Embedded:
    """Give the vectors of a batch; those computed are safe in the cache on return."""
    names = [chunk.embedding_hash for chunk in chunks]
    known = await asyncio.to_thread(_sound_vectors, names, embedder, cache)
    wanted = {chunk.embedding_hash: chunk for chunk in chunks}
    missing = {name: chunk for name, chunk in wanted.items() if name not in known}
    if missing:
        vectors = await embedder.embed_passages([chunk.context for chunk in missing.values()])
        _check(vectors, len(missing), embedder)
        computed = dict(zip(missing, vectors, strict=True))
        await asyncio.to_thread(cache.put, embedder.model_id, computed)
        known |= computed
    found = np.stack([known[name] for name in names])
    new = tuple(missing.values())
    return Embedded(found, new, count_read(new, embedder))


def _sound_vectors(
    names: Sequence[str], embedder: Embedder, cache: VectorCache
) -> dict[str, Vector]:
    """Give what the cache knows and can be used; what is damaged is not known."""
    return {
        name: vector
        for name, vector in cache.get(embedder.model_id, names).items()
        if vector.shape == (embedder.dimension,) and np.isfinite(vector).all()
    }


def _check(vectors: Vectors, count: int, embedder: Embedder) -> None:
    if vectors.shape != (count, embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbedderFailed(
            f"The embedder {embedder.model_id} gave {vectors.shape} where "
            f"({count}, {embedder.dimension}) finite numbers were due.",
            "Nothing was stored; check the embedder's settings.",
        )
