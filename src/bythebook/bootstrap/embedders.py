"""Settings -> the embedder; the SDKs of providers take long to load, so only where one is set."""

from typing import TYPE_CHECKING

from bythebook.adapters.models.minilm import MiniLm
from bythebook.adapters.models.onnx_embedder import OnnxEmbedder
from bythebook.settings import Settings

if TYPE_CHECKING:
    from bythebook.adapters.providers.provider_embedder import ProviderEmbedder


def make_provider_embedder(settings: Settings) -> "ProviderEmbedder | None":
    """Make the embedder of a provider, if one is set."""
    key = settings.embedder_api_key.get_secret_value()
    if settings.embedder == "cohere":
        from bythebook.adapters.providers.cohere_embedder import CohereEmbedder

        return CohereEmbedder(key, settings.embedder_model, settings.embedder_base_url)
    if settings.embedder == "openai":
        from bythebook.adapters.providers.openai_embedder import OpenAiEmbedder

        return OpenAiEmbedder(
            key, settings.embedder_model, settings.embedder_base_url, settings.embedder_dimension
        )
    return None


def make_bundled_embedder(encoder: MiniLm) -> OnnxEmbedder:
    """Make the embedder that needs no provider."""
    return OnnxEmbedder(encoder)
