"""Chunks as points of a Qdrant collection, and the filters over what points carry."""

from collections.abc import Sequence

import numpy as np
import qdrant_edge as edge
from qdrant_client import models

from bythebook.adapters.book_json import chunk_to_payload
from bythebook.adapters.edge_shard import DENSE, WORDS
from bythebook.domain.books import Chunk
from bythebook.domain.questions import SectionSpan
from bythebook.ports import Vector


def point_of(
    chunk: Chunk, vector: Vector, words: edge.SparseVector, embedding_model: str
) -> models.PointStruct:
    """Make the point of a chunk: both vectors, and all that a hit must tell."""
    payload = chunk_to_payload(chunk, embedding_model)
    vectors: dict[str, models.Vector] = {DENSE: vector.tolist()}
    if words.indices:  # a chunk of signs alone has no words
        vectors[WORDS] = sparse(words)
    return models.PointStruct(id=payload["chunk_id"], vector=vectors, payload=payload)


def point_again(record: models.Record) -> models.PointStruct:
    """Make a point of one that was read, for another collection."""
    if not isinstance(record.vector, dict):
        raise TypeError("A point without its named vectors was read.")
    return models.PointStruct(id=record.id, vector=record.vector, payload=record.payload)


def sparse(words: edge.SparseVector) -> models.SparseVector:
    """Write a vector of words as the server takes it."""
    return models.SparseVector(indices=list(words.indices), values=list(words.values))


def dense_of(record: models.Record) -> Vector | None:
    """Read the vector of meaning that a point has."""
    if not isinstance(record.vector, dict) or DENSE not in record.vector:
        return None
    return np.asarray(record.vector[DENSE], np.float32)


def span_filter(span: SectionSpan) -> models.Filter:
    """Let pass the chunks that stand wholly in a section."""
    return models.Filter(
        must=[
            models.FieldCondition(
                key="document_id", match=models.MatchValue(value=span.document_id)
            ),
            models.FieldCondition(key="char_start", range=models.Range(gte=span.char_start)),
            models.FieldCondition(key="char_end", range=models.Range(lte=span.char_end)),
        ]
    )


def only(ids: Sequence[models.ExtendedPointId]) -> models.Filter:
    """Let pass certain points."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])
