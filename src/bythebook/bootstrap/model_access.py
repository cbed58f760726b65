"""Settings -> which language model is asked, where, and with which key."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bythebook.settings import Settings, is_this_machine

OPENROUTER = "https://openrouter.ai/api/v1"
OPENAI = "https://api.openai.com/v1"
# Keys that people have in their environment, by the domain that each belongs to.
_BORROWED = {"openrouter.ai": "OPENROUTER_API_KEY", "openai.com": "OPENAI_API_KEY"}


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How to reach a language model."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    ids: Mapping[str, str] = field(default_factory=dict)  # by the names that readers know

    @property
    def ladder(self) -> tuple[str, ...]:
        """The models that may be set, as the provider calls them, each better than those before."""
        return tuple(self.ids.values())


def model_access(
    settings: Settings, environment: Mapping[str, str] = os.environ
) -> ModelAccess | None:
    """Return how to reach a language model; None unless one of our settings names one."""
    own = settings.llm_api_key.get_secret_value()
    if not (settings.llm_base_url or settings.llm_model or own):
        return None
    url = settings.llm_base_url or _provider(own, environment)
    key = own or _find_environment_key(url, environment)
    model = settings.llm_model or _as_known_at(url, "gpt-3.5-turbo")
    return ModelAccess(url, model, key, _ids(settings, url))


def _provider(own_key: str, environment: Mapping[str, str]) -> str:
    """Choose OpenAI if only its key is set; else OpenRouter, which has models of all makers."""
    names = (name for name in _BORROWED.values() if environment.get(name))
    only_openai = not own_key and list(names) == [_BORROWED["openai.com"]]
    return OPENAI if only_openai else OPENROUTER


def _find_environment_key(url: str, environment: Mapping[str, str]) -> str:
    """Return a key of the environment, only for its own provider or for this machine."""
    here = is_this_machine(urlsplit(url).hostname or "")
    fitting = (name for domain, name in _BORROWED.items() if here or _is_of(url, domain))
    return next(filter(None, (environment.get(name) for name in fitting)), "")


def _ids(settings: Settings, url: str) -> dict[str, str]:
    """Return the provider's id of each model that a reader may name."""
    return {
        name: settings.model_ids.get(name) or _as_known_at(url, name)
        for name in settings.model_names
    }


def _as_known_at(url: str, model: str) -> str:
    """Return an OpenAI model's name as the provider has it; at OpenRouter it starts with the maker."""
    prefixed = _is_of(url, "openrouter.ai") and model.startswith("gpt-")
    return f"openai/{model}" if prefixed else model


def _is_of(url: str, domain: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == domain or host.endswith(f".{domain}")
