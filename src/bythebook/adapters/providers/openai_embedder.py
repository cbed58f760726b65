"""The Embedder port on OpenAI, and on every endpoint that speaks its language."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
from openai import AsyncOpenAI, omit

from bythebook.adapters.providers.checked_vectors import checked_vectors, in_order
from bythebook.adapters.providers.connection import Connection
from bythebook.adapters.providers.provider_embedder import (
    EmbeddingModel,
    Patience,
    ProviderEmbedder,
)
from bythebook.adapters.providers.vendor_errors import Vendor, told_as_ours
from bythebook.errors import EmbedderFailed, InputError
from bythebook.ports import Vectors

DEFAULT_MODEL = "text-embedding-3-small"
BASE_URL = "https://api.openai.com/v1"
_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_USD_PER_MILLION_TOKENS: Mapping[str, float] = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}
_SHORTENED = "text-embedding-3-"  # models that can be asked for shorter vectors
_MOST_TEXTS = 128  # in one request; OpenAI takes 2,048, but an answer shall not take long
_MOST_BYTES = 32 * 2**20  # of an answer; the largest good one takes about 10 MB
_NO_KEY = "none"  # servers on one's own machine need none, the SDK does


class OpenAiEmbedder(ProviderEmbedder):
    """Embeds with OpenAI's models, or with those of a server with the same interface.

    The length of vectors is known, set, or learned from the first answer.
    """

    def __init__(
        self,
        api_key: str = "",
        model: str = "",
        base_url: str = "",
        dimension: int | None = None,
        *,
        patience: Patience | None = None,
    ) -> None:
        name = model or DEFAULT_MODEL
        if not api_key and not base_url:
            raise InputError(
                "There is no key for OpenAI's embeddings.",
                "Set BYTHEBOOK_EMBEDDER_API_KEY, or BYTHEBOOK_EMBEDDER_BASE_URL of another server.",
            )
        self._shortened_to = _shortened_to(name, dimension)
        known = EmbeddingModel(
            model_id=f"openai/{name}" + (f"@{dimension}" if self._shortened_to else ""),
            name=name,
            dimension=dimension or _DIMENSIONS.get(name),
            usd_per_million_tokens=_USD_PER_MILLION_TOKENS.get(name, 0.0),
            most_texts=_MOST_TEXTS,
        )
        super().__init__(known, _vendor(base_url), patience or Patience())
        place = base_url or BASE_URL
        self._new_connection: Callable[[], Connection[AsyncOpenAI]] = lambda: Connection(
            place, lambda http: _client(api_key or _NO_KEY, place, http), _MOST_BYTES
        )
        self._connection = self._new_connection()

    @property
    def dimension(self) -> int:
        """Return the length of every vector; of an unknown model, one is asked for to see it."""
        if self._dimension is None:
            with ThreadPoolExecutor(1) as thread:  # whose event loop is not the one that asks
                thread.submit(asyncio.run, self._measure()).result()
        return super().dimension

    async def stay_connected(self) -> None:
        """Keep connections between calls of this event loop, until cancelled."""
        await self._connection.stay_connected()

    async def _request(self, texts: Sequence[str], *, is_question: bool) -> Vectors:  # noqa: ARG002
        return await self._embed(await self._connection.client(), texts)

    async def _embed(self, client: AsyncOpenAI, texts: Sequence[str]) -> Vectors:
        sent = await client.embeddings.create(
            model=self._model.name,
            input=list(texts),
            encoding_format="float",
            dimensions=self._shortened_to or omit,
        )
        name = self._vendor.name
        items = getattr(sent, "data", None) or ()
        rows = in_order(name, [(item.index, item.embedding) for item in items])
        return checked_vectors(name, rows, len(texts), self._dimension)

    async def _measure(self) -> None:
        """Learn the length of vectors, over a connection of this event loop's own."""
        own = self._new_connection()

        async def attempt() -> Vectors:
            with told_as_ours(self._vendor):
                return await self._embed(await own.client(), ["ready?"])

        vectors = await self._provider.call("embed a question", attempt)
        self._dimension = vectors.shape[1]


def _vendor(base_url: str) -> Vendor:
    return Vendor(
        "The embedding server" if base_url else "OpenAI",
        EmbedderFailed,
        key_setting="BYTHEBOOK_EMBEDDER_API_KEY",
        model_setting="BYTHEBOOK_EMBEDDER_MODEL",
        url_setting="BYTHEBOOK_EMBEDDER_BASE_URL",
    )


def _shortened_to(model: str, dimension: int | None) -> int | None:
    """Give the length to ask for, where a model can give shorter vectors than it makes."""
    whole = _DIMENSIONS.get(model)
    if whole is None or dimension is None or dimension == whole:
        return None
    if model.startswith(_SHORTENED) and 0 < dimension < whole:
        return dimension
    raise InputError(
        f"BYTHEBOOK_EMBEDDER_DIMENSION does not fit the model {model}.",
        f"Unset it: the vectors have {whole} numbers.",
    )


def _client(api_key: str, base_url: str, http: httpx.AsyncClient) -> AsyncOpenAI:
    """Make the SDK's client; it neither waits nor retries by itself."""
    return AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=None,
        http_client=http,  # type: ignore[arg-type]  # it takes clients of httpx as well as of httpx2
    )
