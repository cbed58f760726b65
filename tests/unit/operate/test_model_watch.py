"""Models that make things up are warned of once, with the next better one."""

import pytest

from bythebook.operate.model_watch import ModelWatch

LADDER = ("gpt-3.5-turbo", "gpt-4", "gpt-4-turbo-preview")


def propose(watch: ModelWatch, model: str, *, dropped: int, kept: int) -> None:
    for number in range(dropped + kept):
        watch.sentence(model, dropped=number < dropped)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_warns_once_and_names_the_model_and_the_next_better(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = ModelWatch(LADDER)
    propose(watch, "openai/gpt-3.5-turbo", dropped=11, kept=189)
    propose(watch, "openai/gpt-3.5-turbo", dropped=20, kept=0)
    (told,) = warnings(caplog)
    assert told == (
        "5.5 % of the last 200 sentences of openai/gpt-3.5-turbo were not supported by the book "
        "and were dropped: set BYTHEBOOK_LLM_MODEL to gpt-4"
    )


def test_five_percent_is_not_yet_too_much(caplog: pytest.LogCaptureFixture) -> None:
    watch = ModelWatch(LADDER)
    propose(watch, "gpt-4", dropped=10, kept=190)
    assert warnings(caplog) == []
    assert watch.shares() == {"gpt-4": 0.05}


def test_few_sentences_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    watch = ModelWatch(LADDER)
    propose(watch, "gpt-4", dropped=199, kept=0)
    assert warnings(caplog) == []


def test_only_the_last_sentences_count_and_a_relapse_is_told_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = ModelWatch(LADDER, last=10, most=0.2)
    propose(watch, "gpt-4", dropped=3, kept=7)
    assert len(warnings(caplog)) == 1
    propose(watch, "gpt-4", dropped=0, kept=10)
    assert watch.shares() == {"gpt-4": 0.0}
    propose(watch, "gpt-4", dropped=3, kept=0)
    assert len(warnings(caplog)) == 2


def test_models_are_watched_apart(caplog: pytest.LogCaptureFixture) -> None:
    watch = ModelWatch(LADDER, last=10)
    propose(watch, "gpt-4", dropped=0, kept=10)
    propose(watch, "some/other", dropped=10, kept=0)
    (told,) = warnings(caplog)
    assert "some/other" in told
    assert told.endswith("set a more capable model")


@pytest.mark.parametrize(
    ("model", "better"),
    [
        ("gpt-3.5-turbo", "gpt-4"),
        ("OpenAI/GPT-4", "gpt-4-turbo-preview"),
        ("gpt-4-turbo-preview", None),
        ("llama", None),
    ],
)
def test_the_next_better_model_is_the_next_of_those_allowed(model: str, better: str | None) -> None:
    assert ModelWatch(LADDER).next_better(model) == better
