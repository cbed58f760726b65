"""The Embedder port on Cohere."""

import logging
from collections.abc import Mapping, Sequence

import cohere
import httpx
from cohere.core.api_error import ApiError

from bythebook.adapters.providers.connection import Connection
from bythebook.adapters.providers.provider_embedder import (
    CallTiming,
    EmbeddingModel,
    ProviderEmbedder,
)
from bythebook.adapters.providers.vector_checks import normalize_vectors, require_echo
from bythebook.adapters.providers.vendor_errors import Vendor, is_too_long
from bythebook.errors import EmbedderFailed, InputError
from bythebook.ports import Vectors

DEFAULT_MODEL = "embed-multilingual-v3.0"
BASE_URL = "https://api.cohere.com"
_USD_PER_MILLION_TOKENS = 0.10  # of all models, as published
_DIMENSIONS: Mapping[str, int] = {
    "embed-multilingual-v3.0": 1024,
    "embed-english-v3.0": 1024,
    "embed-multilingual-light-v3.0": 384,
    "embed-english-light-v3.0": 384,
}
_MOST_TEXTS = 96  # in one request; Cohere accepts no more
_MOST_BYTES = 16 * 2**20  # of a response; a full one has about 2 MB
_log = logging.getLogger("bythebook.providers")


class CohereEmbedder(ProviderEmbedder):
    """Embeds with Cohere, questions as search_query and passages as search_document.

    Nothing is cut silently: a passage that is too long is an error. Of a question that is too
    long, only the beginning is embedded, with a warning in the log.
    """

    def __init__(
        self,
        api_key: str,
        model: str = "",
        base_url: str = "",
        *,
        timing: CallTiming | None = None,
    ) -> None:
        name = model or DEFAULT_MODEL
        if not api_key:
            raise InputError(
                "There is no key for Cohere.", "Set BYTHEBOOK_EMBEDDER_API_KEY to a key of Cohere."
            )
        if name not in _DIMENSIONS:
            raise InputError(
                "BYTHEBOOK_EMBEDDER_MODEL is not a known model of Cohere.",
                f"Set it to one of: {', '.join(_DIMENSIONS)}.",
            )
        known = EmbeddingModel(
            model_id=f"cohere/{name}",
            name=name,
            dimension=_DIMENSIONS[name],
            usd_per_million_tokens=_USD_PER_MILLION_TOKENS,
            most_texts=_MOST_TEXTS,
        )
        super().__init__(known, _VENDOR, timing or CallTiming())
        url = base_url or BASE_URL
        self._connection = Connection(
            url, lambda http: _make_client(api_key, url, http), _MOST_BYTES
        )

    async def _request(self, texts: Sequence[str], *, is_question: bool) -> Vectors:
        if not is_question:
            return await self._embed(texts, "search_document", "NONE")
        try:
            return await self._embed(texts, "search_query", "NONE")
        except ApiError as error:
            if not is_too_long(error):
                raise
            _log.warning("a question is too long for the embedder: only its beginning is embedded")
            return await self._embed(texts, "search_query", "END")

    async def _embed(self, texts: Sequence[str], kind: str, truncate: str) -> Vectors:
        client = await self._connection.client()
        sent = await client.embed(
            model=self._model.name,
            texts=list(texts),
            input_type=kind,
            embedding_types=["float"],
            truncate=truncate,
        )
        require_echo(self._vendor.name, texts, sent.texts)
        rows = getattr(sent.embeddings, "float_", None)
        return normalize_vectors(self._vendor.name, rows, len(texts), self._dimension)


_VENDOR = Vendor(
    "Cohere",
    EmbedderFailed,
    key_setting="BYTHEBOOK_EMBEDDER_API_KEY",
    model_setting="BYTHEBOOK_EMBEDDER_MODEL",
    url_setting="BYTHEBOOK_EMBEDDER_BASE_URL",
)


def _make_client(api_key: str, base_url: str, http: httpx.AsyncClient) -> cohere.AsyncClientV2:
    """Make the SDK's client, without its own retries and warnings."""
    return cohere.AsyncClientV2(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        httpx_client=http,
        log_warning_experimental_features=False,
    )
