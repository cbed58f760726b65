"""One collection on a Qdrant server: create, fill, count, read and delete it."""

from collections.abc import AsyncIterator, Sequence

from qdrant_client import AsyncQdrantClient, models

from bythebook.adapters.edge.shard import DENSE
from bythebook.adapters.qdrant.client import MissingCollection, SharedQdrantClient
from bythebook.adapters.qdrant.layout import QdrantLayout, alias_name
from bythebook.adapters.qdrant.payload import read_dense_vector
from bythebook.ports import Vector

BATCH = 64  # points in one request: some megabytes at most


class Collection:
    """The points of one generation."""

    def __init__(self, client: SharedQdrantClient, name: str) -> None:
        self.client = client
        self.name = name

    async def create(self, dimension: int, layout: QdrantLayout) -> None:
        """Create it empty; payload indexes come before the points, so that each is built once."""
        settings = layout.collection(dimension)

        async def create(client: AsyncQdrantClient) -> None:
            if await client.collection_exists(self.name):  # left by an interrupted attempt
                await client.delete_collection(self.name)
            await client.create_collection(self.name, **settings)

        await self.client.request("create a collection", create)
        for field, kind in layout.payload_indexes().items():
            await self._index(field, kind)

    async def upsert(self, points: Sequence[models.PointStruct]) -> None:
        """Add points, durable on return; a point with the same id is replaced."""
        for start in range(0, len(points), BATCH):
            await self._upsert_batch(list(points[start : start + BATCH]))

    async def remove(self, ids: Sequence[str]) -> None:
        """Remove points."""
        selector = models.PointIdsList(points=list(ids))
        await self.client.request(
            "remove chunks", lambda client: client.delete(self.name, selector, wait=True)
        )

    async def count(self) -> int:
        """Return the exact number of points."""
        counted = await self.client.request(
            "count chunks", lambda client: client.count(self.name, exact=True)
        )
        return counted.count

    async def dimension(self) -> int:
        """Return the length of its vectors; 0 if it has none of ours."""
        info = await self.client.request(
            "describe a collection", lambda client: client.get_collection(self.name)
        )
        vectors = info.config.params.vectors
        if not isinstance(vectors, dict) or DENSE not in vectors:
            return 0
        return vectors[DENSE].size

    async def pages(self) -> AsyncIterator[list[models.Record]]:
        """Yield all points with their vectors, one page at a time."""
        offset: models.ExtendedPointId | None = None
        while True:
            page, offset = await self._page(offset)
            yield page
            if offset is None:
                return

    async def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the dense vectors of the chunks that it holds."""
        records = await self.client.request(
            "read vectors",
            lambda client: client.retrieve(
                self.name, list(ids), with_payload=False, with_vectors=[DENSE]
            ),
        )
        found = ((str(record.id), read_dense_vector(record)) for record in records)
        return {name: vector for name, vector in found if vector is not None}

    async def delete(self) -> None:
        """Delete it if it exists."""
        try:
            await self.client.request(
                "remove a collection", lambda client: client.delete_collection(self.name)
            )
        except MissingCollection:  # some versions raise this if it is already gone
            return

    async def point_alias(self, book_id: str) -> None:
        """Switch the book's alias to this collection, in one request."""
        alias = alias_name(book_id)
        switch: list[models.AliasOperations] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=self.name, alias_name=alias)
            ),
        ]
        await self.client.request(
            "switch an alias", lambda client: client.update_collection_aliases(switch)
        )

    async def _index(self, field: str, kind: models.PayloadSchemaParams) -> None:
        await self.client.request(
            "index a field",
            lambda client: client.create_payload_index(self.name, field, kind, wait=True),
        )

    async def _upsert_batch(self, batch: list[models.PointStruct]) -> None:
        await self.client.request(
            "store chunks", lambda client: client.upsert(self.name, batch, wait=True)
        )

    async def _page(
        self, offset: models.ExtendedPointId | None
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return await self.client.request(
            "read chunks",
            lambda client: client.scroll(
                self.name, limit=BATCH, offset=offset, with_payload=True, with_vectors=True
            ),
        )
