"""The Embedder port on OpenAI, and on every endpoint with its API."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
from openai import AsyncOpenAI, omit

from bythebook.adapters.providers.connection import NO_KEY, Connection
from bythebook.adapters.providers.provider_embedder import (
    CallTiming,
    EmbeddingModel,
    ProviderEmbedder,
)
from bythebook.adapters.providers.vector_checks import normalize_vectors, order_rows
from bythebook.adapters.providers.vendor_errors import Vendor, translate_errors
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
_SHORTENED = "text-embedding-3-"  # models that support shorter vectors
_MOST_TEXTS = 128  # in one request; OpenAI accepts 2,048, but responses should be quick
_MOST_BYTES = 32 * 2**20  # of a response; the largest valid one has about 10 MB


class OpenAiEmbedder(ProviderEmbedder):
    """Embeds with OpenAI's models, or with those of a server with the same API.

    The length of vectors is known, set, or learned from the first response.
    """

    def __init__(
        self,
        api_key: str = "",
        model: str = "",
        base_url: str = "",
        dimension: int | None = None,
        *,
        timing: CallTiming | None = None,
    ) -> None:
        name = model or DEFAULT_MODEL
        if not api_key and not base_url:
            raise InputError(
                "There is no key for OpenAI's embeddings.",
                "Set BYTHEBOOK_EMBEDDER_API_KEY, or BYTHEBOOK_EMBEDDER_BASE_URL of another server.",
            )
        self._requested_dimension = _choose_dimension(name, dimension)
        known = EmbeddingModel(
            model_id=f"openai/{name}" + (f"@{dimension}" if self._requested_dimension else ""),
            name=name,
            dimension=dimension or _DIMENSIONS.get(name),
            usd_per_million_tokens=_USD_PER_MILLION_TOKENS.get(name, 0.0),
            most_texts=_MOST_TEXTS,
        )
        super().__init__(known, _make_vendor(base_url), timing or CallTiming())
        url = base_url or BASE_URL
        self._new_connection: Callable[[], Connection[AsyncOpenAI]] = lambda: Connection(
            url, lambda http: _make_client(api_key or NO_KEY, url, http), _MOST_BYTES
        )
        self._connection = self._new_connection()

    @property
    def dimension(self) -> int:
        """Return the length of every vector; for an unknown model, one request finds it out."""
        if self._dimension is None:
            with ThreadPoolExecutor(1) as thread:  # with its own event loop
                thread.submit(asyncio.run, self._measure()).result()
        return super().dimension

    async def _request(self, texts: Sequence[str], *, is_question: bool) -> Vectors:  # noqa: ARG002
        return await self._embed(await self._connection.client(), texts)

    async def _embed(self, client: AsyncOpenAI, texts: Sequence[str]) -> Vectors:
        sent = await client.embeddings.create(
            model=self._model.name,
            input=list(texts),
            encoding_format="float",
            dimensions=self._requested_dimension or omit,
        )
        name = self._vendor.name
        items = getattr(sent, "data", None) or ()
        rows = order_rows(name, [(item.index, item.embedding) for item in items])
        return normalize_vectors(name, rows, len(texts), self._dimension)

    async def _measure(self) -> None:
        """Find out the length of vectors, over a connection of this event loop."""
        own = self._new_connection()

        async def attempt() -> Vectors:
            with translate_errors(self._vendor):
                return await self._embed(await own.client(), ["ready?"])

        vectors = await self._provider.call("embed a question", attempt)
        self._dimension = vectors.shape[1]


def _make_vendor(base_url: str) -> Vendor:
    return Vendor(
        "The embedding server" if base_url else "OpenAI",
        EmbedderFailed,
        key_setting="BYTHEBOOK_EMBEDDER_API_KEY",
        model_setting="BYTHEBOOK_EMBEDDER_MODEL",
        url_setting="BYTHEBOOK_EMBEDDER_BASE_URL",
    )


def _choose_dimension(model: str, dimension: int | None) -> int | None:
    """Return the length to request, if it is shorter than the model's own."""
    whole = _DIMENSIONS.get(model)
    if whole is None or dimension is None or dimension == whole:
        return None
    if model.startswith(_SHORTENED) and 0 < dimension < whole:
        return dimension
    raise InputError(
        f"BYTHEBOOK_EMBEDDER_DIMENSION does not match the model {model}.",
        f"Unset it: the vectors have {whole} numbers.",
    )


def _make_client(api_key: str, base_url: str, http: httpx.AsyncClient) -> AsyncOpenAI:
    """Make the SDK's client, without its own timeout and retries."""
    return AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=None,
        http_client=http,  # type: ignore[arg-type]  # it accepts clients of httpx and of httpx2
    )
