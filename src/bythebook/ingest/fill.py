"""Chunks -> a generation in the making: batches are embedded while others are written."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from bythebook.domain.books import Chunk
from bythebook.ingest.embed import BATCH, embed_chunks
from bythebook.ingest.report import OnProgress, Progress
from bythebook.ports import Edition, Embedder, VectorCache

WORKERS = 2  # one embeds a batch while the other puts its own into cache and index


@dataclass(frozen=True, slots=True)
class Work:
    """What embedding took, or would take."""

    computed: int
    tokens: int
    seconds: Mapping[str, float] = field(default_factory=dict)  # by document


class Filling:
    """Takes chunks as they are cut, and puts them with their vectors into an edition."""

    def __init__(
        self, edition: Edition, embedder: Embedder, cache: VectorCache, on_progress: OnProgress
    ) -> None:
        self._edition, self._embedder, self._cache = edition, embedder, cache
        self._on_progress = on_progress
        self._waiting: list[Chunk] = []
        self._batches: asyncio.Queue[Sequence[Chunk]] = asyncio.Queue()
        self._writer = asyncio.Lock()
        self._workers: list[asyncio.Task[None]] = []
        self._taken = self._done = self._computed = self._tokens = 0
        self._tokens_of: Counter[str] = Counter()
        self._started = 0.0

    async def __aenter__(self) -> Self:
        self._started = time.perf_counter()
        self._workers = [asyncio.create_task(self._work()) for _ in range(WORKERS)]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave off; a batch that is under way ends first, so that its vectors are not lost."""
        while not self._batches.empty():
            self._batches.get_nowait()
        self._dismiss()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def take(self, chunks: Sequence[Chunk]) -> None:
        """Take chunks on, or raise what kept earlier ones from going in."""
        for worker in self._workers:
            if worker.done():
                worker.result()
        self._waiting.extend(chunks)
        self._taken += len(chunks)
        while len(self._waiting) >= BATCH:
            self._batches.put_nowait(self._waiting[:BATCH])
            del self._waiting[:BATCH]

    async def finish(self) -> Work:
        """Wait until all that was taken on is in, and say what it took."""
        if self._waiting:
            self._batches.put_nowait(self._waiting)
        self._dismiss()
        await asyncio.gather(*self._workers)
        elapsed = time.perf_counter() - self._started
        seconds = {
            name: elapsed * tokens / self._tokens_of.total()
            for name, tokens in self._tokens_of.items()
        }
        return Work(self._computed, self._tokens, seconds)

    def _dismiss(self) -> None:
        for _ in self._workers:
            self._batches.put_nowait(())

    async def _work(self) -> None:
        while batch := await self._batches.get():
            embedded = await embed_chunks(batch, self._embedder, self._cache)
            async with self._writer:
                await asyncio.to_thread(self._edition.add, batch, embedded.vectors)
            self._done += len(batch)
            self._computed += len(embedded.computed)
            self._tokens += embedded.tokens
            for chunk in embedded.computed:
                self._tokens_of[chunk.document_id] += chunk.token_count
            self._on_progress(Progress("embedding", self._done, self._taken, self._tokens))
