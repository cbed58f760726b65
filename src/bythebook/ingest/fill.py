"""Embeds chunks and writes them into a new generation, several batches at once."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from bythebook.domain.books import Chunk
from bythebook.ingest.embed import BATCH, embed_chunks
from bythebook.ingest.report import OnProgress, Progress
from bythebook.ports import Embedder, GenerationDraft, VectorCache

WORKERS = 2  # one embeds a batch while the other writes its batch to the cache and the index


@dataclass(frozen=True, slots=True)
class EmbeddingWork:
    """The work that embedding took, or would take."""

    computed: int
    tokens: int
    seconds: Mapping[str, float] = field(default_factory=dict)  # by document


class GenerationFiller:
    """Takes chunks as they are cut, and adds them with their vectors to a generation draft."""

    def __init__(
        self,
        draft: GenerationDraft,
        embedder: Embedder,
        cache: VectorCache,
        on_progress: OnProgress,
    ) -> None:
        self._draft, self._embedder, self._cache = draft, embedder, cache
        self._on_progress = on_progress
        self._waiting: list[Chunk] = []
        self._batches: asyncio.Queue[Sequence[Chunk]] = asyncio.Queue()
        self._writer = asyncio.Lock()
        self._workers: list[asyncio.Task[None]] = []
        self._accepted = self._done = self._computed = self._tokens = 0
        self._tokens_of: Counter[str] = Counter()
        self._started = 0.0

    async def __aenter__(self) -> Self:
        self._started = time.perf_counter()
        self._workers = [asyncio.create_task(self._embed_and_write()) for _ in range(WORKERS)]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop; a running batch is finished first, so that its vectors are not lost."""
        while not self._batches.empty():
            self._batches.get_nowait()
        self._stop_workers()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Accept chunks, or raise the error that stopped earlier ones."""
        for worker in self._workers:
            if worker.done():
                worker.result()
        self._waiting.extend(chunks)
        self._accepted += len(chunks)
        while len(self._waiting) >= BATCH:
            self._batches.put_nowait(self._waiting[:BATCH])
            del self._waiting[:BATCH]

    async def finish(self) -> EmbeddingWork:
        """Wait until all accepted chunks are written, and return the work it took."""
        if self._waiting:
            self._batches.put_nowait(self._waiting)
        self._stop_workers()
        await asyncio.gather(*self._workers)
        elapsed = time.perf_counter() - self._started
        seconds = {
            name: elapsed * tokens / self._tokens_of.total()
            for name, tokens in self._tokens_of.items()
        }
        return EmbeddingWork(self._computed, self._tokens, seconds)

    def _stop_workers(self) -> None:
        for _ in self._workers:
            self._batches.put_nowait(())

    async def _embed_and_write(self) -> None:
        while batch := await self._batches.get():
            embedded = await embed_chunks(batch, self._embedder, self._cache)
            async with self._writer:
                await asyncio.to_thread(self._draft.add, batch, embedded.vectors)
            self._done += len(batch)
            self._computed += len(embedded.computed)
            self._tokens += embedded.tokens
            for chunk in embedded.computed:
                self._tokens_of[chunk.document_id] += chunk.token_count
            self._on_progress(Progress("embedding", self._done, self._accepted, self._tokens))
