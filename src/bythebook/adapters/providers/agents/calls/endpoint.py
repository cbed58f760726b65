"""The endpoint of language models: one address, one key, the models that readers may name."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

import httpx2

from bythebook.adapters.providers.agents.calls.size_limits import limit_sizes
from bythebook.adapters.providers.connection import is_this_machine
from bythebook.adapters.providers.vendor_errors import Vendor
from bythebook.errors import InputError, ModelFailed, ModelTimeout

MODEL_VENDOR = Vendor(
    "The language model",
    ModelFailed,
    key_setting="BYTHEBOOK_LLM_API_KEY",
    model_setting="BYTHEBOOK_LLM_MODEL",
    url_setting="BYTHEBOOK_LLM_BASE_URL",
    timed_out=ModelTimeout,
)
LONGEST_LINE = 3_000_000  # bytes; a decoder holds a line in memory
MOST_BYTES = 16_000_000  # of a response: the JSON around a token is many times its length
_QUIET = ("openai", "openai.agents", "httpx2", "httpcore2")  # their debug lines contain requests


@dataclass(frozen=True)
class ModelEndpoint:
    """An endpoint with OpenAI's chat completions; its key is never shown."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    # Names of models for readers -> names of the provider.
    names: Mapping[str, str] = field(default_factory=dict)
    # Parameters that a model has rejected.
    rejected: dict[str, set[str]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
            raise InputError(
                "BYTHEBOOK_LLM_BASE_URL is not a web address.",
                "Write it as https://openrouter.ai/api/v1, or unset it.",
            )
        for name in _QUIET:
            logging.getLogger(name).setLevel(logging.WARNING)

    def provider_model(self, name: str | None) -> str:
        """Return the provider's id of a model that a reader named; without a name, the configured model."""
        return self.model if name is None else self.names.get(name, name)

    @property
    def reports_price(self) -> bool:
        """Whether the provider reports the price of a call on request."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "openrouter.ai" or host.endswith(".openrouter.ai")

    @cached_property
    def http(self) -> httpx2.AsyncClient:
        """The client of all calls: it keeps no connections open and follows no redirects.

        It has no timeout: each request has a time limit as a whole. A proxy of the environment is
        used, but not for this machine.
        """
        return httpx2.AsyncClient(
            timeout=None,
            follow_redirects=False,
            trust_env=not is_this_machine(self.base_url),
            limits=httpx2.Limits(max_keepalive_connections=0),
            event_hooks={"response": [limit_sizes(MOST_BYTES, LONGEST_LINE)]},
        )
