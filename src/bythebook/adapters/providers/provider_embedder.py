"""What all embedders on the network have in common."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bythebook.adapters.providers.checked_vectors import probed_places, require_own
from bythebook.adapters.providers.query_cache import QueryCache
from bythebook.adapters.providers.resilience import EMBEDDER, Policy, Provider
from bythebook.adapters.providers.token_estimate import estimated_tokens
from bythebook.adapters.providers.vendor_errors import Vendor, told_as_ours
from bythebook.errors import EmbedderFailed
from bythebook.ports import Vector, Vectors

# Ingesting has time: a rate limit of so many seconds is waited for.
INGEST_PATIENCE = 60.0
# What answered so lately is not asked again just to see whether it works.
TRUSTED_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """What is known of a model before it is asked."""

    model_id: str  # with its vendor, as stored with every index
    name: str  # as the vendor calls it
    dimension: int | None = None
    usd_per_million_tokens: float = 0.0
    most_texts: int = 96  # in one request
    most_tokens: int = 100_000  # in one request, by our estimate


@dataclass(frozen=True, slots=True)
class Patience:
    """How a provider is waited for; a test brings its own time."""

    policy: Policy = EMBEDDER
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class ProviderEmbedder(ABC):
    """Embeds over the network: in batches, by the policy of embedders, each question once an hour."""

    def __init__(self, model: EmbeddingModel, vendor: Vendor, patience: Patience) -> None:
        self._model = model
        self._vendor = vendor
        self._dimension = model.dimension
        self._cache = QueryCache(clock=patience.clock)
        self._provider = Provider(
            vendor.name, EmbedderFailed, patience.policy, patience.clock, patience.sleep
        )

    @property
    def model_id(self) -> str:
        """Name vendor and model; vectors of another id do not compare."""
        return self._model.model_id

    @property
    def dimension(self) -> int:
        """Return the length of every vector."""
        if self._dimension is None:
            raise EmbedderFailed(f"The vectors of {self.model_id} have no known length.")
        return self._dimension

    @property
    def usd_per_million_tokens(self) -> float:
        """What embedding costs, as its vendor publishes it; 0 where that is not known."""
        return self._model.usd_per_million_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate what the model reads of each text: its vendor counts only over the network."""
        return estimated_tokens(texts)

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return await self._cache.get(self.model_id, text, lambda: self._embed_question(text))

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per passage, in the order given; all of them, or an error."""
        found = [await self._embed_batch(batch) for batch in self._batches(texts)]
        return np.concatenate(found) if found else np.empty((0, self.dimension), np.float32)

    async def check(self) -> None:
        """Raise EmbedderFailed if it does not work; asks for a vector unless it just gave one."""
        if not self._provider.worked_within(TRUSTED_SECONDS):
            await self._embed_question("ready?")

    @abstractmethod
    async def stay_connected(self) -> None:
        """Keep connections between calls of this event loop, until cancelled."""

    @abstractmethod
    async def _request(self, texts: Sequence[str], *, is_question: bool) -> Vectors:
        """Ask the vendor once, and check what it sends."""

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed passages together, and some of them once more alone: only so is a mix-up seen."""
        vectors = await self._call("embed passages", texts, INGEST_PATIENCE)
        places = probed_places(len(texts))
        alone = await asyncio.gather(
            *(self._call("embed a passage", [texts[place]], INGEST_PATIENCE) for place in places)
        )
        for place, (vector,) in zip(places, alone, strict=True):
            require_own(self._vendor.name, vectors, place, vector)
        return vectors

    async def _embed_question(self, text: str) -> Vector:
        vectors = await self._call("embed a question", [text])
        vector: Vector = vectors[0]
        return vector

    async def _call(
        self, what: str, texts: Sequence[str], patience: float | None = None
    ) -> Vectors:
        is_question = patience is None
        texts = [_sendable(text) for text in texts]

        async def attempt() -> Vectors:
            with told_as_ours(self._vendor):
                return await self._request(texts, is_question=is_question)

        vectors = await self._provider.call(what, attempt, patience=patience)
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


def _sendable(text: str) -> str:
    """Replace lone surrogates, which no request can hold, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
