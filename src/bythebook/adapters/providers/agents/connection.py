"""How language models are reached: one address, one key, the models that may be asked for."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

import httpx2

from bythebook.adapters.providers.agents.bounded import bounding
from bythebook.adapters.providers.connection import is_here
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
NO_KEY = "none"  # what is sent where a server on this machine needs no key
LONGEST_LINE = 3_000_000  # bytes, which a decoder holds at once
MOST_BYTES = 16_000_000  # of a response as sent: the frame of a token is many times its length
_QUIET = ("openai", "openai.agents", "httpx2", "httpcore2")  # their debug lines quote requests


@dataclass(frozen=True)
class Connection:
    """An endpoint that speaks OpenAI's chat completions; its key is shown to nobody."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    # Models as readers name them -> as the provider does.
    names: Mapping[str, str] = field(default_factory=dict)
    # Parameters that a model does not take, as it told us.
    refused: dict[str, set[str]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
            raise InputError(
                "BYTHEBOOK_LLM_BASE_URL is no web address.",
                "Write it as https://openrouter.ai/api/v1, or unset it.",
            )
        for name in _QUIET:
            logging.getLogger(name).setLevel(logging.WARNING)

    def provider_model(self, name: str | None) -> str:
        """Give the provider's id of a model that a reader may name; without one, the configured."""
        return self.model if name is None else self.names.get(name, name)

    @property
    def tells_price(self) -> bool:
        """Whether the provider tells what a call cost, if it is asked to."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "openrouter.ai" or host.endswith(".openrouter.ai")

    @cached_property
    def http(self) -> httpx2.AsyncClient:
        """The client under all calls: nothing is kept open between them, no redirect is followed.

        Times are not its matter: what a model may take is bounded as a whole. A proxy of the
        environment is used, but not to reach this very machine.
        """
        return httpx2.AsyncClient(
            timeout=None,
            follow_redirects=False,
            trust_env=not is_here(self.base_url),
            limits=httpx2.Limits(max_keepalive_connections=0),
            event_hooks={"response": [bounding(MOST_BYTES, LONGEST_LINE)]},
        )
