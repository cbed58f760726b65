"""Turns failures of providers into our errors, with advice for the operator.

A provider's message is searched for known codes but never shown: it may contain the key, or a
reader's question.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from bythebook.adapters.providers.connection import AnswerTooLarge
from bythebook.errors import PartFailed

FailureKind = Literal[
    "key",
    "credit",
    "right",
    "model",
    "too_long",
    "request",
    "redirect",
    "rate",
    "late",
    "server",
    "away",
    "unreadable",
    "too_large",
]
_BY_STATUS: Mapping[int, FailureKind] = {
    401: "key",
    402: "credit",
    403: "right",
    404: "model",
    408: "late",
    409: "server",
    413: "too_long",
    425: "server",
    429: "rate",
    498: "key",
    504: "late",
    524: "late",
}
# Codes in the body override the status: OpenAI reports missing credit as 429, OpenRouter an
# unknown model as 400.
_BY_WORDS: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (re.compile(r"insufficient_(quota|credit)|billing_(hard_limit|not_active)"), "credit"),
    (
        re.compile(
            r"context_length_exceeded|too (many tokens|long)|exceed\w* .{0,60}(token|length)"
            r"|max(imum)? .{0,30}(tokens|length)|context (size|length|window)"
        ),
        "too_long",
    ),
    (re.compile(r"invalid_api_key|invalid api (key|token)"), "key"),
    (
        re.compile(r"model_not_found|not a valid model|unknown model|model .{0,80}not found"),
        "model",
    ),
)
_LASTING: frozenset[FailureKind] = frozenset(
    {"key", "credit", "right", "model", "too_long", "request", "redirect"}
)
# By name, since SDKs have their own HTTP clients with the same class names.
_OF_CONNECTIONS = frozenset({"OSError", "TransportError", "APIConnectionError"})
_READ_AT_MOST = 4000  # characters of a body


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider in messages: its name, and the settings that may be wrong."""

    name: str  # begins a sentence: "Cohere", "The language model"
    failed: type[PartFailed]
    key_setting: str = ""  # as BYTHEBOOK_EMBEDDER_API_KEY
    model_setting: str = ""
    url_setting: str = ""
    timed_out: type[PartFailed] | None = None


def error_from_status(
    vendor: Vendor, status: int, body: object = None, headers: Mapping[str, str] | None = None
) -> PartFailed:
    """Make the error of an HTTP status and its body."""
    kind = _classify(status, body)
    wait = retry_after(headers) if kind in {"rate", "server", "late"} else None
    return make_error(vendor, kind, status=status, wait=wait)


def error_from_exception(vendor: Vendor, error: Exception) -> PartFailed:
    """Make the error of an exception of a vendor's SDK or its HTTP client."""
    if isinstance(error, PartFailed):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return error_from_status(vendor, status, _body(error), _headers(error))
    kinds = _kinds(error)
    if any("Timeout" in kind for kind in kinds):
        return make_error(vendor, "late")
    if AnswerTooLarge.__name__ in kinds:
        return make_error(vendor, "too_large")
    return make_error(vendor, "away" if kinds & _OF_CONNECTIONS else "unreadable")


def is_too_long(error: Exception) -> bool:
    """Return True if a vendor rejected a text only because it is too long."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and _classify(status, _body(error)) == "too_long"


@contextmanager
def translate_errors(vendor: Vendor) -> Iterator[None]:
    """Turn all errors of an SDK into ours, without the SDK's text."""
    try:
        yield
    except Exception as error:
        ours = error_from_exception(vendor, error)
        if ours is error:
            raise
        raise ours from None  # the cause may contain the key or a reader's text


def make_error(
    vendor: Vendor, kind: FailureKind, *, status: int | None = None, wait: int | None = None
) -> PartFailed:
    """Make the error of a kind of failure, with advice."""
    what, to_do = _make_sentences(vendor, wait)[kind]
    suffix = f" (HTTP {status})" if status else ""
    error_class = vendor.timed_out if kind == "late" and vendor.timed_out else vendor.failed
    error = error_class(f"{vendor.name} {what}{suffix}.", to_do, retry_after=wait)
    if kind in _LASTING:
        error.retryable = False
    return error


def retry_after(headers: Mapping[str, str] | None) -> int | None:
    """Read the Retry-After header in seconds: a number, or a date."""
    value = next((v for k, v in (headers or {}).items() if k.lower() == "retry-after"), "").strip()
    if re.fullmatch(r"\d{1,6}(\.\d+)?", value):
        return math.ceil(float(value))
    try:
        left = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError):
        return None
    return max(0, math.ceil(left))


def _make_sentences(vendor: Vendor, wait: int | None) -> Mapping[FailureKind, tuple[str, str]]:
    key = vendor.key_setting or "the key"
    model = vendor.model_setting or "the request"
    url = vendor.url_setting or "its address"
    later = f"Try again in {wait} seconds." if wait else "Try again later."
    return {
        "key": ("does not know the key", f"Set {key} to a key that is valid there."),
        "credit": ("has no credit left for this key", "Add credit there, or set another key."),
        "right": (
            "does not let this key do that",
            f"Give the key the permission there, or set {key}.",
        ),
        "model": (
            f"does not know {'the model, or ' if vendor.model_setting else ''}the address",
            f"Check {model} and {url}.",
        ),
        "too_long": (
            "was given too much text",
            f"Set {model} to a model with a longer context.",
        ),
        "request": ("rejects the request", f"Check that {model} and {url} belong together."),
        "rate": ("accepts no more requests for now", f"{later} Its rate limit is used up."),
        "late": ("did not answer in time", later),
        "server": ("failed", f"{later} If the problem persists, see the provider's status page."),
        "away": (
            "cannot be reached, or the connection broke",
            f"Check {url} and the network; {later.lower()}",
        ),
        "unreadable": (
            "sent an unreadable response",
            f"Check that {url} is right; {later.lower()}",
        ),
        "too_large": ("sent a response that is too large", f"Check that {url} is right."),
        "redirect": ("redirects to another address", f"Set {url} to where it points."),
    }


def _classify(status: int, body: object) -> FailureKind:
    if status >= 500:
        return _BY_STATUS.get(status, "server")
    words = _read_words(body)
    for pattern, kind in _BY_WORDS:
        if pattern.search(words):
            return kind
    if status < 400:
        return "redirect" if status >= 300 else "server"
    return _BY_STATUS.get(status, "request")


def _read_words(body: object) -> str:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if not isinstance(body, str):
        body = json.dumps(body, default=str)
    return body[:_READ_AT_MOST].lower()


def _body(error: Any) -> object:
    """Return the body of an SDK's error."""
    return getattr(error, "body", None) or getattr(error, "content", None)


def _headers(error: Any) -> Mapping[str, str] | None:
    found = getattr(error, "headers", None)
    if found is None:
        found = getattr(getattr(error, "response", None), "headers", None)
    return found if isinstance(found, Mapping) else dict(found) if found else None


def _kinds(error: BaseException) -> frozenset[str]:
    """Return the class names of an exception and its causes: SDKs wrap errors of the HTTP client."""
    found, one = set[str](), error
    for _ in range(8):
        found.update(kind.__name__ for kind in type(one).__mro__)
        inner = getattr(one, "source", None) or one.__cause__ or one.__context__
        if not isinstance(inner, BaseException):
            break
        one = inner
    return frozenset(found)
