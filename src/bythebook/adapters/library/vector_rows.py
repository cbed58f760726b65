"""Vectors by chunk -> rows in the order of chunks that were found, of whichever books."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from bythebook.domain.books import Chunk
from bythebook.ports import Vector, Vectors


def ids_by_book(chunks: Sequence[Chunk]) -> Mapping[str, Sequence[str]]:
    """Give the ids of chunks by the book that each is of."""
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for chunk in chunks:
        ids[chunk.book_id].append(chunk.chunk_id)
    return ids


def in_order(chunks: Sequence[Chunk], found: Mapping[str, Vector]) -> Vectors:
    """Give a row a chunk; zeros for one that is no longer there."""
    dimension = len(next(iter(found.values()), ()))
    rows = np.zeros((len(chunks), dimension), np.float32)
    for row, chunk in zip(rows, chunks, strict=True):
        vector = found.get(chunk.chunk_id, ())
        if len(vector) == dimension:  # else a new generation by another model
            row[:] = vector
    return rows
