"""Which language model is asked, where and with which key."""

from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from bythebook.bootstrap.model_access import OPENAI, OPENROUTER, ModelAccess, model_access
from bythebook.settings import Settings

BOTH = {"OPENROUTER_API_KEY": "sk-or-1", "OPENAI_API_KEY": "sk-oa-1"}
ONLY_OPENAI = {"OPENAI_API_KEY": "sk-oa-1"}
HERE = "http://127.0.0.1:11434/v1"
THIRD = "https://models.example.org/v1"


def access(environment: dict[str, str] | None = None, **given: Any) -> ModelAccess:
    found = model_access(Settings(**given), environment or {})
    assert found is not None
    return found


@pytest.mark.parametrize(
    "given", [{}, {"llm_validator": True}, {"llm_multi_hop": True}, {"allowed_models": "gpt-4"}]
)
def test_keys_of_the_environment_alone_switch_nothing_on(given: dict[str, Any]) -> None:
    assert model_access(Settings(**given), BOTH) is None


def test_openrouter_is_the_default_and_openai_where_only_its_key_is_there() -> None:
    default = access(BOTH, llm_model="meta/llama")
    assert (default.url, default.model, default.key) == (OPENROUTER, "meta/llama", "sk-or-1")
    other = access(ONLY_OPENAI, llm_model="gpt-4")
    assert (other.url, other.model, other.key) == (OPENAI, "gpt-4", "sk-oa-1")


def test_the_default_model_is_called_as_each_provider_calls_it() -> None:
    assert access(llm_api_key=SecretStr("sk-own")).model == "openai/gpt-3.5-turbo"
    assert access(llm_base_url=OPENAI).model == "gpt-3.5-turbo"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (OPENROUTER, "sk-or-1"),
        (OPENAI, "sk-oa-1"),
        ("https://eu.api.openai.com/v1", "sk-oa-1"),
        (HERE, "sk-or-1"),
        ("http://localhost:8080", "sk-or-1"),
        (THIRD, ""),
        ("https://notopenai.com/v1", ""),
        ("https://openai.com.example.org/v1", ""),
        ("http://10.0.0.7:8000/v1", ""),
    ],
)
def test_a_borrowed_key_goes_to_its_own_provider_or_this_machine_only(url: str, key: str) -> None:
    assert access(BOTH, llm_base_url=url).key == key


def test_the_own_key_goes_where_it_is_sent_and_is_shown_nowhere() -> None:
    own = access(BOTH, llm_base_url=THIRD, llm_api_key=SecretStr("sk-own"))
    assert own.key == "sk-own"
    assert "sk-own" not in repr(own)


def test_names_of_readers_become_ids_of_the_provider() -> None:
    mapped = access(llm_model="x", allowed_models="gpt-4, good=maker/good-1:free,plain/one")
    assert mapped.ids == {
        "gpt-4": "openai/gpt-4",
        "good": "maker/good-1:free",
        "plain/one": "plain/one",
    }
    assert mapped.ladder == ("openai/gpt-4", "maker/good-1:free", "plain/one")
    assert access(llm_base_url=HERE).ids["gpt-4"] == "gpt-4"


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "openrouter.ai", "https://me:secret@x.org/v1", "https://x/v1?key=1", "http://"],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        Settings(llm_base_url=url)
