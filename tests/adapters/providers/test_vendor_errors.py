"""What providers answer instead of what was asked, as errors that say what to do."""

import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from bythebook.adapters.providers.connection import AnswerTooLarge
from bythebook.adapters.providers.vendor_errors import (
    Vendor,
    error_from_exception,
    error_from_status,
    is_too_long,
    retry_after,
    translate_errors,
)
from bythebook.errors import EmbedderFailed, ModelFailed, ModelTimeout, PartFailed

KEY = "sk-secret-0123456789"
VENDOR = Vendor(
    "The language model",
    ModelFailed,
    key_setting="BYTHEBOOK_LLM_API_KEY",
    model_setting="BYTHEBOOK_LLM_MODEL",
    url_setting="BYTHEBOOK_LLM_BASE_URL",
    timed_out=ModelTimeout,
)
OPENAI_NO_CREDIT = {"error": {"code": "insufficient_quota", "message": f"quota of {KEY}"}}
OPENROUTER_NO_MODEL = {"error": {"code": 400, "message": "x/y is not a valid model ID"}}
OLLAMA_NO_MODEL = {"error": {"message": 'model "x" not found, try pulling it first'}}
TOO_LONG = {"error": {"code": "context_length_exceeded", "message": "maximum context length"}}
HTML = b"<html><h1>502 Bad Gateway</h1></html>"


class SdkError(Exception):
    """Shaped like those of the SDKs."""

    def __init__(self, status_code: int, body: object, headers: dict[str, str]) -> None:
        super().__init__(f"Incorrect API key provided: {KEY}")
        self.status_code = status_code
        self.body = body
        self.headers = headers


@pytest.mark.parametrize(
    ("status", "body", "says", "to_do"),
    [
        (401, {"message": f"invalid api token {KEY}"}, "does not know the key", "_API_KEY"),
        (402, None, "no credit", "Add credit"),
        (429, OPENAI_NO_CREDIT, "no credit", "Add credit"),
        (403, None, "does not let this key", "_API_KEY"),
        (404, None, "does not know the model", "_MODEL"),
        (400, OPENROUTER_NO_MODEL, "does not know the model", "_MODEL"),
        (404, OLLAMA_NO_MODEL, "does not know the model", "_MODEL"),
        (400, TOO_LONG, "too much text", "_MODEL"),
        (413, None, "too much text", "_MODEL"),
        (400, f"bad request by {KEY}", "rejects the request", "_BASE_URL"),
        (422, None, "rejects the request", "_BASE_URL"),
        (307, None, "another address", "_BASE_URL"),
    ],
)
def test_what_a_person_must_put_right_is_said_and_not_tried_again(
    status: int, body: object, says: str, to_do: str
) -> None:
    failure = error_from_status(VENDOR, status, body, {"Retry-After": "9"})
    assert isinstance(failure, ModelFailed)
    assert says in failure.what
    assert to_do in failure.help_message
    assert not failure.retryable
    assert failure.retry_after is None


@pytest.mark.parametrize(
    ("status", "body", "says", "kind"),
    [
        (429, {"message": "slow down"}, "no more requests for now", ModelFailed),
        (500, None, "failed (HTTP 500)", ModelFailed),
        (502, HTML, "failed (HTTP 502)", ModelFailed),
        (503, {"error": {"code": "model_not_found"}}, "failed (HTTP 503)", ModelFailed),
        (529, None, "failed (HTTP 529)", ModelFailed),
        (408, None, "did not answer in time", ModelTimeout),
        (504, None, "did not answer in time", ModelTimeout),
        (200, HTML, "failed (HTTP 200)", ModelFailed),
    ],
)
def test_what_passes_by_itself_may_be_tried_again(
    status: int, body: object, says: str, kind: type[PartFailed]
) -> None:
    failure = error_from_status(VENDOR, status, body, {"retry-after": "9"})
    assert type(failure) is kind
    assert says in failure.what
    assert failure.retryable
    assert failure.retry_after == 9
    assert "9 seconds" in failure.help_message


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7),
        (" 1.2 ", 2),
        ("0", 0),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("9" * 400, None),
        ("", None),
    ],
)
def test_reads_the_seconds_of_a_retry_after(said: str, seconds: int | None) -> None:
    assert retry_after({"Retry-After": said}) == seconds


def test_reads_the_date_of_a_retry_after() -> None:
    def make_headers(seconds: int) -> dict[str, str]:
        moment = datetime.now(UTC) + timedelta(seconds=seconds)
        return {"Retry-After": format_datetime(moment, usegmt=True)}

    assert retry_after(make_headers(400)) in range(380, 401)
    assert retry_after(make_headers(-400)) == 0


def test_no_header_is_no_retry_after() -> None:
    assert retry_after(None) is None
    assert retry_after({"X-Other": "7"}) is None


def test_neither_the_key_nor_the_sdks_words_are_passed_on() -> None:
    with (
        pytest.raises(EmbedderFailed) as caught,
        translate_errors(Vendor("Cohere", EmbedderFailed)),
    ):
        raise SdkError(401, {"message": KEY}, {"Retry-After": "1"})
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    assert KEY not in shown + error.what + error.help_message + error.public + repr(error)


def test_our_own_errors_pass_unchanged() -> None:
    mine = EmbedderFailed("two vectors for three texts")
    with pytest.raises(EmbedderFailed) as caught, translate_errors(VENDOR):
        raise mine
    assert caught.value is mine


def make_error(error: Exception, cause: Exception | None = None) -> Exception:
    """Give an exception as an SDK raises it: from another."""
    error.__cause__ = cause
    return error


REQUEST = httpx.Request("POST", "http://127.0.0.1/")


@pytest.mark.parametrize(
    ("error", "says", "kind"),
    [
        (
            make_error(Exception("sdk"), httpx.ConnectError("no", request=REQUEST)),
            "reached",
            ModelFailed,
        ),
        (make_error(ConnectionResetError()), "cannot be reached", ModelFailed),
        (
            make_error(Exception("sdk"), httpx.ReadTimeout("no", request=REQUEST)),
            "in time",
            ModelTimeout,
        ),
        (make_error(TimeoutError()), "did not answer in time", ModelTimeout),
        (
            make_error(Exception("sdk"), AnswerTooLarge("no", request=REQUEST)),
            "too large",
            ModelFailed,
        ),
        (make_error(ValueError("line 1 column 1")), "an unreadable response", ModelFailed),
    ],
)
def test_what_has_no_status_is_told_by_its_cause(
    error: Exception, says: str, kind: type[PartFailed]
) -> None:
    failure = error_from_exception(VENDOR, error)
    assert type(failure) is kind
    assert says in failure.what
    assert failure.retryable


def test_knows_a_refusal_of_length_from_other_refusals() -> None:
    assert is_too_long(SdkError(400, {"message": "too many tokens: 600"}, {}))
    assert not is_too_long(SdkError(400, {"message": "input_type is not valid"}, {}))
    assert not is_too_long(SdkError(500, {"message": "too many tokens"}, {}))
    assert not is_too_long(ValueError("too long"))


@pytest.mark.parametrize("status", range(300, 600))
def test_every_status_has_its_sentence_with_and_without_settings(status: int) -> None:
    for vendor in (VENDOR, Vendor("Qdrant", EmbedderFailed)):
        failure = error_from_status(vendor, status)
        assert failure.what.endswith(f"(HTTP {status}).")
        assert failure.help_message.endswith(".")
