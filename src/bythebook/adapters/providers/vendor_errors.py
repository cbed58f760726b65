"""What providers answer instead of what was asked, as one error of ours that says what to do.

What a provider wrote is looked at for codes that are known, and never passed on: it may quote the
key, or what a reader asked.
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

Fault = Literal[
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
_BY_STATUS: Mapping[int, Fault] = {
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
# What providers call it in the body, whatever the status: OpenAI has no credit left under 429,
# OpenRouter does not know a model under 400.
_BY_WORDS: tuple[tuple[re.Pattern[str], Fault], ...] = (
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
_LASTING: frozenset[Fault] = frozenset(
    {"key", "credit", "right", "model", "too_long", "request", "redirect"}
)
# By name, since SDKs bring HTTP clients of their own, with the same names for the same things.
_OF_CONNECTIONS = frozenset({"OSError", "TransportError", "APIConnectionError"})
_READ_AT_MOST = 4000  # characters of a body


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider as its failures speak of it: its name, and the settings that may be wrong."""

    name: str  # begins a sentence: "Cohere", "The language model"
    failed: type[PartFailed]
    key_setting: str = ""  # as BYTHEBOOK_EMBEDDER_API_KEY
    model_setting: str = ""
    url_setting: str = ""
    timed_out: type[PartFailed] | None = None


def failure_of_status(
    vendor: Vendor, status: int, body: object = None, headers: Mapping[str, str] | None = None
) -> PartFailed:
    """Say what an HTTP status and its body mean."""
    fault = _fault(status, body)
    wait = retry_after(headers) if fault in {"rate", "server", "late"} else None
    return failure(vendor, fault, status=status, wait=wait)


def failure_of(vendor: Vendor, error: Exception) -> PartFailed:
    """Say what an exception of a vendor's SDK, or of the HTTP client under it, means."""
    if isinstance(error, PartFailed):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return failure_of_status(vendor, status, _body(error), _headers(error))
    kinds = _kinds(error)
    if any("Timeout" in kind for kind in kinds):
        return failure(vendor, "late")
    if AnswerTooLarge.__name__ in kinds:
        return failure(vendor, "too_large")
    return failure(vendor, "away" if kinds & _OF_CONNECTIONS else "unreadable")


def says_too_long(error: Exception) -> bool:
    """Whether a vendor refused a text only because it is longer than the model reads."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and _fault(status, _body(error)) == "too_long"


@contextmanager
def told_as_ours(vendor: Vendor) -> Iterator[None]:
    """Turn whatever an SDK raises into an error of ours, without the SDK's own words."""
    try:
        yield
    except Exception as error:
        told = failure_of(vendor, error)
        if told is error:
            raise
        raise told from None  # the cause may quote the key or what a reader wrote


def failure(
    vendor: Vendor, fault: Fault, *, status: int | None = None, wait: int | None = None
) -> PartFailed:
    """Make the error of a fault, with what a person can do about it."""
    what, to_do = _sentences(vendor, wait)[fault]
    shown = f" (HTTP {status})" if status else ""
    kind = vendor.timed_out if fault == "late" and vendor.timed_out else vendor.failed
    told = kind(f"{vendor.name} {what}{shown}.", to_do, retry_after=wait)
    if fault in _LASTING:
        told.retryable = False
    return told


def retry_after(headers: Mapping[str, str] | None) -> int | None:
    """Read the seconds that a provider wants to be left alone: a number, or a date."""
    said = next((v for k, v in (headers or {}).items() if k.lower() == "retry-after"), "").strip()
    if re.fullmatch(r"\d{1,6}(\.\d+)?", said):
        return math.ceil(float(said))
    try:
        left = (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError):
        return None
    return max(0, math.ceil(left))


def _sentences(vendor: Vendor, wait: int | None) -> Mapping[Fault, tuple[str, str]]:
    key = _named(vendor.key_setting, "the key")
    model = _named(vendor.model_setting, "what it is asked for")
    url = _named(vendor.url_setting, "its address")
    later = f"Try again in {wait} seconds." if wait else "Try again later."
    return {
        "key": ("does not know the key", f"Set {key} to a key that is valid there."),
        "credit": ("has no credit left for this key", "Add credit there, or set another key."),
        "right": ("does not let this key do that", f"Give the key the right there, or set {key}."),
        "model": (
            f"does not know {'the model, or ' if vendor.model_setting else ''}the address",
            f"Check {model} and {url}.",
        ),
        "too_long": (
            "was given more text than it takes",
            f"Set {model} to a model that reads more.",
        ),
        "request": ("does not take the request", f"Check that {model} and {url} belong together."),
        "rate": ("takes no more requests for now", f"{later} Its rate limit is used up."),
        "late": ("did not answer in time", later),
        "server": ("failed", f"{later} If it stays so, see the provider's status page."),
        "away": (
            "cannot be reached, or broke off",
            f"Check {url} and the network; {later.lower()}",
        ),
        "unreadable": (
            "gave an answer that is none",
            f"Check that {url} is right; {later.lower()}",
        ),
        "too_large": ("gave an answer that is too large", f"Check that {url} is right."),
        "redirect": ("answers from another address", f"Set {url} to where it points."),
    }


def _fault(status: int, body: object) -> Fault:
    if status >= 500:
        return _BY_STATUS.get(status, "server")
    words = _words(body)
    for pattern, fault in _BY_WORDS:
        if pattern.search(words):
            return fault
    if status < 400:
        return "redirect" if status >= 300 else "server"
    return _BY_STATUS.get(status, "request")


def _words(body: object) -> str:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if not isinstance(body, str):
        body = json.dumps(body, default=str)
    return body[:_READ_AT_MOST].lower()


def _body(error: Any) -> object:
    """Find the body where SDKs keep it."""
    return getattr(error, "body", None) or getattr(error, "content", None)


def _headers(error: Any) -> Mapping[str, str] | None:
    found = getattr(error, "headers", None)
    if found is None:
        found = getattr(getattr(error, "response", None), "headers", None)
    return found if isinstance(found, Mapping) else dict(found) if found else None


def _kinds(error: BaseException) -> frozenset[str]:
    """Name what an exception is, and what it was raised from: SDKs wrap those of the HTTP client."""
    found, one = set[str](), error
    for _ in range(8):
        found.update(kind.__name__ for kind in type(one).__mro__)
        inner = getattr(one, "source", None) or one.__cause__ or one.__context__
        if not isinstance(inner, BaseException):
            break
        one = inner
    return frozenset(found)


def _named(setting: str, otherwise: str) -> str:
    return setting or otherwise
