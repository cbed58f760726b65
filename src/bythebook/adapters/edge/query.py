"""One Qdrant Edge shard, asked: by meaning and by words, of the whole book or of one section."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import qdrant_edge as edge

from bythebook.adapters.edge.shard import DENSE, WORDS
from bythebook.adapters.library.book_json import chunk_from_payload
from bythebook.domain.answers import Hit
from bythebook.domain.questions import SectionSpan
from bythebook.ports import Lookup, Vector


def _span_filter(span: SectionSpan) -> edge.Filter:
    """Let pass the chunks that stand wholly in a section."""
    return edge.Filter(
        must=[
            edge.FieldCondition("document_id", match=edge.MatchValue(span.document_id)),
            edge.FieldCondition("char_start", range=edge.RangeFloat(gte=span.char_start)),
            edge.FieldCondition("char_end", range=edge.RangeFloat(lte=span.char_end)),
        ]
    )


def search_shard(shard: edge.EdgeShard, wanted: Lookup, words: edge.SparseVector) -> Iterator[Hit]:
    """Search by meaning and by words, then score each find by the other way too."""
    queries: tuple[tuple[list[float] | edge.SparseVector, str], ...] = (
        (wanted.vector.tolist(), DENSE),
        (words, WORDS),
    )
    where = None if wanted.within is None else _span_filter(wanted.within)
    first = [_request(value, name, wanted.limit, where) for value, name in queries]
    dense, sparse = _scores(shard, first)
    missing = (sparse.keys() - dense.keys(), dense.keys() - sparse.keys())
    second = [
        _request(value, name, max(1, len(ids)), edge.Filter(must=[edge.HasIdCondition(ids)]))
        for (value, name), ids in zip(queries, missing, strict=True)
    ]
    more_dense, more_sparse = _scores(shard, second)
    cosines, shares = dense | more_dense, sparse | more_sparse
    found = list(dense.keys() | sparse.keys())
    for record in shard.retrieve(found, with_payload=True, with_vector=False):
        chunk = chunk_from_payload(record.payload or {})
        yield Hit(chunk, float(cosines.get(record.id, 0.0)), float(shares.get(record.id, 0.0)))


def read_vectors(shard: edge.EdgeShard, ids: Sequence[str]) -> dict[str, Vector]:
    """Give the dense vectors of those chunks that the shard holds."""
    records = shard.retrieve(list(ids), with_payload=False, with_vector=[DENSE])
    return {
        str(record.id): np.asarray(record.vector[DENSE], np.float32)
        for record in records
        if isinstance(record.vector, dict)
    }


def _request(
    value: list[float] | edge.SparseVector, name: str, limit: int, where: edge.Filter | None
) -> edge.QueryRequest:
    query = edge.Query.Nearest(value, using=name)
    return edge.QueryRequest(limit=limit, query=query, filter=where)


def _scores(shard: edge.EdgeShard, requests: Sequence[edge.QueryRequest]) -> list[dict[Any, float]]:
    found = shard.query_batch(edge.QueryBatchRequest(list(requests)))
    return [{point.id: point.score for point in points} for points in found]
