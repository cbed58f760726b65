"""Chunks as points of a Qdrant collection, and filters over their payload."""

from collections.abc import Sequence

import numpy as np
import qdrant_edge as edge
from qdrant_client import models

from bythebook.adapters.edge.shard import DENSE, WORDS
from bythebook.adapters.library.book_json import chunk_to_payload
from bythebook.domain.books import Chunk
from bythebook.domain.questions import SectionSpan
from bythebook.ports import Vector


def make_point(
    chunk: Chunk, vector: Vector, words: edge.SparseVector, embedding_model: str
) -> models.PointStruct:
    """Make the point of a chunk: both vectors, and all the payload that a hit needs."""
    payload = chunk_to_payload(chunk, embedding_model)
    vectors: dict[str, models.Vector] = {DENSE: vector.tolist()}
    if words.indices:  # a chunk of punctuation only has no words
        vectors[WORDS] = to_sparse_vector(words)
    return models.PointStruct(id=payload["chunk_id"], vector=vectors, payload=payload)


def copy_point(record: models.Record) -> models.PointStruct:
    """Make a point for another collection from one that was read."""
    if not isinstance(record.vector, dict):
        raise TypeError("The point has no named vectors.")
    return models.PointStruct(id=record.id, vector=record.vector, payload=record.payload)


def to_sparse_vector(words: edge.SparseVector) -> models.SparseVector:
    """Convert a vector of words to the client's type."""
    return models.SparseVector(indices=list(words.indices), values=list(words.values))


def read_dense_vector(record: models.Record) -> Vector | None:
    """Return the dense vector of a point, if it has one."""
    if not isinstance(record.vector, dict) or DENSE not in record.vector:
        return None
    return np.asarray(record.vector[DENSE], np.float32)


def filter_by_span(span: SectionSpan) -> models.Filter:
    """Keep the chunks that are entirely within a section."""
    return models.Filter(
        must=[
            models.FieldCondition(
                key="document_id", match=models.MatchValue(value=span.document_id)
            ),
            models.FieldCondition(key="char_start", range=models.Range(gte=span.char_start)),
            models.FieldCondition(key="char_end", range=models.Range(lte=span.char_end)),
        ]
    )


def filter_by_ids(ids: Sequence[models.ExtendedPointId]) -> models.Filter:
    """Keep the points with these ids."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])
