"""Searches one Qdrant collection by meaning and by words, in the whole book or in one section."""

from collections.abc import Iterable, Mapping, Sequence

from qdrant_client import models

from bythebook.adapters.edge.shard import DENSE, WORDS
from bythebook.adapters.library.book_json import chunk_from_payload
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.payload import filter_by_ids, filter_by_span
from bythebook.domain.answers import Hit
from bythebook.ports import Lookup

Points = Mapping[models.ExtendedPointId, models.ScoredPoint]


async def search_collection(
    collection: Collection,
    wanted: Lookup,
    words: models.SparseVector,
    params: models.SearchParams | None,
) -> list[Hit]:
    """Search by meaning and by words in one request, then add the other score to each hit."""
    values: dict[str, list[float] | models.SparseVector] = {DENSE: wanted.vector.tolist()}
    if words.indices:  # a question of punctuation only has no words
        values[WORDS] = words
    where = None if wanted.within is None else filter_by_span(wanted.within)
    first = await _query_batch(
        collection,
        {
            name: models.QueryRequest(
                query=value,
                using=name,
                limit=wanted.limit,
                filter=where,
                params=params if name == DENSE else None,
                with_payload=True,
            )
            for name, value in values.items()
        },
    )
    points = {name: point for found in first.values() for name, point in found.items()}
    missing = {name: points.keys() - first[name].keys() for name in values}
    second = await _query_batch(
        collection,
        {name: _score_request(values[name], name, ids) for name, ids in missing.items() if ids},
    )
    cosines, shares = (_collect_scores((first, second), name) for name in (DENSE, WORDS))
    return [
        Hit(chunk_from_payload(point.payload or {}), cosines.get(name, 0.0), shares.get(name, 0.0))
        for name, point in points.items()
    ]


def _score_request(
    value: list[float] | models.SparseVector, name: str, ids: Iterable[models.ExtendedPointId]
) -> models.QueryRequest:
    """Make a request for the scores of these points; exact, so that none is missed."""
    wanted = sorted(map(str, ids))
    return models.QueryRequest(
        query=value,
        using=name,
        limit=len(wanted),
        filter=filter_by_ids(wanted),
        params=models.SearchParams(exact=True),
        with_payload=False,
    )


async def _query_batch(
    collection: Collection, requests: Mapping[str, models.QueryRequest]
) -> dict[str, Points]:
    if not requests:
        return {}
    batch = list(requests.values())
    answers = await collection.client.request(
        "search the book", lambda client: client.query_batch_points(collection.name, batch)
    )
    return {
        name: {point.id: point for point in answer.points}
        for name, answer in zip(requests, answers, strict=True)
    }


def _collect_scores(
    answers: Sequence[Mapping[str, Points]], name: str
) -> dict[models.ExtendedPointId, float]:
    return {
        point.id: float(point.score) for found in answers for point in found.get(name, {}).values()
    }
