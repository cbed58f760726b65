"""One collection on a Qdrant server: made, filled, counted, read and deleted by requests of its line."""

from collections.abc import AsyncIterator, Sequence

from qdrant_client import AsyncQdrantClient, models

from bythebook.adapters.edge_shard import DENSE
from bythebook.adapters.qdrant.layout import QdrantLayout, alias_of
from bythebook.adapters.qdrant.line import MissingCollection, QdrantLine
from bythebook.adapters.qdrant.payload import dense_of
from bythebook.ports import Vector

BATCH = 64  # points in one request: some megabytes at most


class Collection:
    """The points of one generation."""

    def __init__(self, line: QdrantLine, name: str) -> None:
        self.line = line
        self.name = name

    async def create(self, dimension: int, layout: QdrantLayout) -> None:
        """Make it, empty, and its payload indexes before the points, so that each is built once."""
        settings = layout.collection(dimension)

        async def create(client: AsyncQdrantClient) -> None:
            if await client.collection_exists(self.name):  # of an attempt that was cut off
                await client.delete_collection(self.name)
            await client.create_collection(self.name, **settings)

        await self.line.ask("make a collection", create)
        for field, kind in layout.payload_indexes().items():
            await self._index(field, kind)

    async def put(self, points: Sequence[models.PointStruct]) -> None:
        """Put points in, durably on return; one of the same id is replaced."""
        for start in range(0, len(points), BATCH):
            batch = list(points[start : start + BATCH])
            await self._upsert(batch)

    async def take_out(self, ids: Sequence[str]) -> None:
        """Remove points."""
        selector = models.PointIdsList(points=list(ids))
        await self.line.ask(
            "remove chunks", lambda client: client.delete(self.name, selector, wait=True)
        )

    async def count(self) -> int:
        """Count the points, exactly."""
        counted = await self.line.ask(
            "count chunks", lambda client: client.count(self.name, exact=True)
        )
        return counted.count

    async def dimension(self) -> int:
        """Say how long its vectors are; 0 if it has none of ours."""
        info = await self.line.ask(
            "describe a collection", lambda client: client.get_collection(self.name)
        )
        vectors = info.config.params.vectors
        if not isinstance(vectors, dict) or DENSE not in vectors:
            return 0
        return vectors[DENSE].size

    async def pages(self) -> AsyncIterator[list[models.Record]]:
        """Read all points with their vectors, some at a time."""
        offset: models.ExtendedPointId | None = None
        while True:
            page, offset = await self._page(offset)
            yield page
            if offset is None:
                return

    async def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Give the dense vectors of those chunks that it holds."""
        records = await self.line.ask(
            "read vectors",
            lambda client: client.retrieve(
                self.name, list(ids), with_payload=False, with_vectors=[DENSE]
            ),
        )
        found = ((str(record.id), dense_of(record)) for record in records)
        return {name: vector for name, vector in found if vector is not None}

    async def delete(self) -> None:
        """Remove it, if it is there."""
        try:
            await self.line.ask(
                "remove a collection", lambda client: client.delete_collection(self.name)
            )
        except MissingCollection:  # as some versions say of one that is gone already
            return

    async def publish_as(self, book_id: str) -> None:
        """Have the book's alias lead here, from wherever it led, in one request."""
        alias = alias_of(book_id)
        switch: list[models.AliasOperations] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=self.name, alias_name=alias)
            ),
        ]
        await self.line.ask(
            "switch an alias", lambda client: client.update_collection_aliases(switch)
        )

    async def _index(self, field: str, kind: models.PayloadSchemaParams) -> None:
        await self.line.ask(
            "index a field",
            lambda client: client.create_payload_index(self.name, field, kind, wait=True),
        )

    async def _upsert(self, batch: list[models.PointStruct]) -> None:
        await self.line.ask(
            "store chunks", lambda client: client.upsert(self.name, batch, wait=True)
        )

    async def _page(
        self, offset: models.ExtendedPointId | None
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return await self.line.ask(
            "read chunks",
            lambda client: client.scroll(
                self.name, limit=BATCH, offset=offset, with_payload=True, with_vectors=True
            ),
        )
