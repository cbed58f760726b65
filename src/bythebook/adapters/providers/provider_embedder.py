"""The common base of all embedders on the network."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bythebook.adapters.providers.connection import Connection
from bythebook.adapters.providers.query_cache import QueryCache
from bythebook.adapters.providers.resilience import EMBEDDER, Policy, Provider
from bythebook.adapters.providers.token_estimate import estimate_tokens
from bythebook.adapters.providers.vector_checks import choose_probes, require_own
from bythebook.adapters.providers.vendor_errors import Vendor, translate_errors
from bythebook.errors import EmbedderFailed
from bythebook.ports import Vector, Vectors

INGEST_LONGEST_WAIT = 60.0  # seconds that an ingest waits for a rate limit
TRUSTED_SECONDS = 300.0  # after an answer: no check needed


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The known facts about a model."""

    model_id: str  # with its vendor, as stored in every index
    name: str  # as the vendor calls it
    dimension: int | None = None
    usd_per_million_tokens: float = 0.0
    most_texts: int = 96  # in one request
    most_tokens: int = 100_000  # in one request, by our estimate


@dataclass(frozen=True, slots=True)
class CallTiming:
    """The time limits of calls, and the clock; tests use their own."""

    policy: Policy = EMBEDDER
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class ProviderEmbedder(ABC):
    """Embeds over the network in batches; a repeated question is embedded once an hour."""

    _connection: Connection[Any]  # set by each vendor's class

    def __init__(self, model: EmbeddingModel, vendor: Vendor, timing: CallTiming) -> None:
        self._model = model
        self._vendor = vendor
        self._dimension = model.dimension
        self._cache = QueryCache(clock=timing.clock)
        self._provider = Provider(
            vendor.name, EmbedderFailed, timing.policy, timing.clock, timing.sleep
        )

    @property
    def model_id(self) -> str:
        """Return vendor and model; vectors of different ids cannot be compared."""
        return self._model.model_id

    @property
    def dimension(self) -> int:
        """Return the length of every vector."""
        if self._dimension is None:
            raise EmbedderFailed(f"The vectors of {self.model_id} have no known length.")
        return self._dimension

    @property
    def usd_per_million_tokens(self) -> float:
        """Return the published price; 0 if unknown."""
        return self._model.usd_per_million_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the tokens of each text: the vendor's own count needs the network."""
        return estimate_tokens(texts)

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return await self._cache.get(self.model_id, text, lambda: self._embed_question(text))

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per passage, in the order given; all of them, or an error."""
        found = [await self._embed_batch(batch) for batch in self._batches(texts)]
        return np.concatenate(found) if found else np.empty((0, self.dimension), np.float32)

    async def check(self) -> None:
        """Raise EmbedderFailed if it does not work; sends a request unless one succeeded recently."""
        if not self._provider.has_worked_within(TRUSTED_SECONDS):
            await self._embed_question("ready?")

    async def stay_connected(self) -> None:
        """Keep connections open between calls of this event loop, until cancelled."""
        await self._connection.stay_connected()

    @abstractmethod
    async def _request(self, texts: Sequence[str], *, is_question: bool) -> Vectors:
        """Send one request to the vendor, and check its response."""

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed passages together, and some of them again on their own, to detect a mix-up."""
        vectors = await self._call("embed passages", texts, INGEST_LONGEST_WAIT)
        places = choose_probes(len(texts))
        alone = await asyncio.gather(
            *(
                self._call("embed a passage", [texts[place]], INGEST_LONGEST_WAIT)
                for place in places
            )
        )
        for place, (vector,) in zip(places, alone, strict=True):
            require_own(self._vendor.name, vectors, place, vector)
        return vectors

    async def _embed_question(self, text: str) -> Vector:
        vectors = await self._call("embed a question", [text])
        vector: Vector = vectors[0]
        return vector

    async def _call(
        self, what: str, texts: Sequence[str], longest_wait: float | None = None
    ) -> Vectors:
        is_question = longest_wait is None
        texts = [_replace_surrogates(text) for text in texts]

        async def attempt() -> Vectors:
            with translate_errors(self._vendor):
                return await self._request(texts, is_question=is_question)

        vectors = await self._provider.call(what, attempt, longest_wait=longest_wait)
        self._dimension = vectors.shape[1]
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        room = self._model.most_tokens
        for text, tokens in zip(texts, self.count_tokens(texts), strict=True):
            if batch and (len(batch) == self._model.most_texts or tokens > room):
                yield batch
                batch, room = [], self._model.most_tokens
            batch.append(text)
            room -= tokens
        if batch:
            yield batch


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be sent, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
