"""Chunks -> vectors, each computed once: what the cache knows is not embedded again."""

from collections.abc import AsyncIterator, Sequence

import numpy as np

from bythebook.domain.books import Chunk
from bythebook.errors import EmbedderFailed
from bythebook.ports import Embedder, Vector, VectorCache, Vectors

BATCH = 64  # chunks between two writes to the cache: what a killed run may lose


def missing_vectors(chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache) -> list[Chunk]:
    """Give the chunks whose vector is not known, one for each distinct content."""
    known = cache.get(embedder.model_id, [chunk.embedding_hash for chunk in chunks])
    wanted = {chunk.embedding_hash: chunk for chunk in chunks}
    return [chunk for name, chunk in wanted.items() if name not in known]


async def embed_missing(
    chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache
) -> AsyncIterator[Sequence[Chunk]]:
    """Embed chunks batch by batch into the cache; gives each batch once it is safe."""
    # Longest first: batches of like length, and an honest estimate of the time left.
    ordered = sorted(chunks, key=lambda chunk: -chunk.token_count)
    for start in range(0, len(ordered), BATCH):
        batch = ordered[start : start + BATCH]
        vectors = await embedder.embed_passages([chunk.context for chunk in batch])
        _check(vectors, len(batch), embedder)
        cache.put(
            embedder.model_id,
            {chunk.embedding_hash: vector for chunk, vector in zip(batch, vectors, strict=True)},
        )
        yield batch


def cached_vectors(chunks: Sequence[Chunk], embedder: Embedder, cache: VectorCache) -> Vectors:
    """Give the vectors of chunks that are all in the cache."""
    names = [chunk.embedding_hash for chunk in chunks]
    known = cache.get(embedder.model_id, names)
    found: list[Vector] = [known[name] for name in names]
    return np.stack(found) if found else np.empty((0, embedder.dimension), np.float32)


def _check(vectors: Vectors, count: int, embedder: Embedder) -> None:
    if vectors.shape != (count, embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbedderFailed(
            f"The embedder {embedder.model_id} gave {vectors.shape} where "
            f"({count}, {embedder.dimension}) finite numbers were due.",
            "Nothing was stored; check the embedder's settings.",
        )
