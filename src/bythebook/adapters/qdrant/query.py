"""One Qdrant collection, asked: by meaning and by words at once, of the whole book or of one section."""

from collections.abc import Iterable, Mapping, Sequence

from qdrant_client import models

from bythebook.adapters.book_json import chunk_from_payload
from bythebook.adapters.edge_shard import DENSE, WORDS
from bythebook.adapters.qdrant.collection import Collection
from bythebook.adapters.qdrant.payload import only, span_filter
from bythebook.domain.answers import Hit
from bythebook.ports import Lookup

Points = Mapping[models.ExtendedPointId, models.ScoredPoint]


async def search_collection(
    collection: Collection,
    wanted: Lookup,
    words: models.SparseVector,
    params: models.SearchParams | None,
) -> list[Hit]:
    """Search by meaning and by words in one request, then score each find by the other way too."""
    values: dict[str, list[float] | models.SparseVector] = {DENSE: wanted.vector.tolist()}
    if words.indices:  # a question of signs alone has no words
        values[WORDS] = words
    where = None if wanted.within is None else span_filter(wanted.within)
    first = await _found(
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
    second = await _found(
        collection,
        {name: _score(values[name], name, ids) for name, ids in missing.items() if ids},
    )
    cosines, shares = (_scores((first, second), name) for name in (DENSE, WORDS))
    return [
        Hit(chunk_from_payload(point.payload or {}), cosines.get(name, 0.0), shares.get(name, 0.0))
        for name, point in points.items()
    ]


def _score(
    value: list[float] | models.SparseVector, name: str, ids: Iterable[models.ExtendedPointId]
) -> models.QueryRequest:
    """Ask how certain points score; exactly, so that none of them is passed over."""
    wanted = sorted(map(str, ids))
    return models.QueryRequest(
        query=value,
        using=name,
        limit=len(wanted),
        filter=only(wanted),
        params=models.SearchParams(exact=True),
        with_payload=False,
    )


async def _found(
    collection: Collection, requests: Mapping[str, models.QueryRequest]
) -> dict[str, Points]:
    if not requests:
        return {}
    batch = list(requests.values())
    answers = await collection.line.ask(
        "search the book", lambda client: client.query_batch_points(collection.name, batch)
    )
    return {
        name: {point.id: point for point in answer.points}
        for name, answer in zip(requests, answers, strict=True)
    }


def _scores(
    answers: Sequence[Mapping[str, Points]], name: str
) -> dict[models.ExtendedPointId, float]:
    return {
        point.id: float(point.score) for found in answers for point in found.get(name, {}).values()
    }
