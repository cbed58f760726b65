"""Failures as HTTP: all status codes of the service are here; each contract gives the shape."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from bythebook.errors import (
    DamagedBook,
    EmbedderFailed,
    Forbidden,
    InputError,
    ModelFailed,
    ModelTimeout,
    NoBooks,
    NotAdmitted,
    Overloaded,
    RecordsFailed,
    Stopping,
    StoreFailed,
    TooManyRequests,
    UnknownBook,
)
from bythebook.http.wire.context import rate_headers

ProblemKind = Literal[
    "validation_failed",
    "not_found",
    "method_not_allowed",
    "payload_too_large",
    "store_unavailable",
    "embedder_unavailable",
    "database_unavailable",
    "model_timeout",
    "model_failed",
    "unauthorized",
    "forbidden",
    "rate_limited",
    "overloaded",
    "internal",
]
STATUS: Mapping[ProblemKind, int] = {
    "validation_failed": 422,
    "not_found": 404,
    "method_not_allowed": 405,
    "payload_too_large": 413,
    "store_unavailable": 503,
    "embedder_unavailable": 503,
    "database_unavailable": 503,
    "model_timeout": 504,
    "model_failed": 502,
    "unauthorized": 401,
    "forbidden": 403,
    "rate_limited": 429,
    "overloaded": 503,
    "internal": 500,
}
KIND_OF_STATUS: Mapping[int, ProblemKind] = {
    400: "validation_failed",  # a body that cannot even be decoded
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
}
FAILURES: Mapping[int, str] = {
    400: "A field is not valid; the message names it.",
    401: "No key was given, or it is unknown, revoked or expired.",
    403: "The key does not open this, or not from this origin; or there are no keys, and it comes through a proxy "
    "or from another site.",
    404: "It does not exist, or belongs to someone else.",
    413: "The body is larger than 256 KiB.",
    422: "A field is not valid; the message names it.",
    429: "Too many requests within a minute.",
    500: "An error in the service.",
    502: "The language model failed.",
    503: "A part that this needs cannot be reached, or there are too many questions at once.",
    504: "The language model did not answer in time.",
}
_RETRY_SECONDS = 5
_DAMAGED = "Files of it are missing or have changed; asking again does not help."
_log = logging.getLogger("bythebook.http")


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong with a request, before any contract's shape."""

    kind: ProblemKind
    message: str
    details: str | None = None
    retryable: bool = True
    is_lasting: bool = False  # trying again does not help; the message says what does
    wait: int | None = None  # seconds, where they are known
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.kind]

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait before trying again."""
        if self.wait is not None:
            return self.wait
        may_help = self.retryable and not self.is_lasting
        return _RETRY_SECONDS if self.status in {503, 504} and may_help else None


def failures(model: type[BaseModel], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the failures of a route, each in its contract's shape."""
    return {status: {"model": model, "description": FAILURES[status]} for status in statuses}


MESSAGES: Mapping[ProblemKind, str] = {
    "validation_failed": "The request body is not valid JSON in UTF-8.",
    "not_found": "There is nothing at this address.",
    "method_not_allowed": "This address does not take that method.",
    "payload_too_large": "The request body is larger than 256 KiB.",
    "store_unavailable": "The search service is temporarily unavailable. Please try again.",
    "embedder_unavailable": "Unable to process your query. Please try again.",
    "database_unavailable": "The records cannot be reached. Please try again.",
    "model_timeout": "The answer took too long. Please try again.",
    "model_failed": "Unable to generate an answer. Please try again.",
    "unauthorized": "This service needs a key.",
    "forbidden": "This key may not do that.",
    "rate_limited": "Too many requests. Please wait before trying again.",
    "overloaded": "Too many questions are being asked right now. Please try again in a moment.",
    "internal": "Something went wrong on our side. Please try again.",
}


def problem_of(error: Exception) -> Problem:
    """Turn one of our errors into a problem; its details hold no path and no secret."""
    if isinstance(error, StoreFailed):
        return _of_store(error)
    if isinstance(error, EmbedderFailed):
        _log.error("embedder failed: %s", error)
        return Problem(
            "embedder_unavailable",
            MESSAGES["embedder_unavailable"],
            "Embedding failed.",
            error.retryable,
            wait=error.retry_after,
        )
    if isinstance(error, ModelFailed):
        return _of_model(error)
    if isinstance(error, RecordsFailed):
        _log.error("records failed: %s", error)
        return Problem("database_unavailable", MESSAGES["database_unavailable"])
    if isinstance(error, NotAdmitted):
        return _not_admitted(error)
    if isinstance(error, Overloaded | Stopping):
        return _not_now(error)
    if isinstance(error, UnknownBook):
        return Problem("validation_failed", "book: There is no such book.")
    if isinstance(error, InputError):
        return Problem("validation_failed", error.what, error.help_message or None)
    _log.error("%s: %s", type(error).__name__, error)
    return Problem("internal", MESSAGES["internal"])


def _of_store(error: StoreFailed) -> Problem:
    """Tell of the library; of lasting damage with what to run, since trying again does not help."""
    kind: ProblemKind = "store_unavailable"
    if isinstance(error, NoBooks):
        return Problem(kind, MESSAGES[kind], error.what, retryable=False)
    if isinstance(error, DamagedBook):
        _log.error("store failed: %s %s", error, error.help_message)
        return Problem(kind, error.public, _DAMAGED, is_lasting=True)
    _log.error("store failed: %s", error)
    details = "The index could not be read."
    return Problem(kind, MESSAGES[kind], details, error.retryable, wait=error.retry_after)


def _of_model(error: ModelFailed) -> Problem:
    """Describe a failed language model, with the wait if its provider or a breaker gives one."""
    _log.error("model failed: %s", error)
    kind: ProblemKind = "model_timeout" if isinstance(error, ModelTimeout) else "model_failed"
    return Problem(kind, MESSAGES[kind], retryable=error.retryable, wait=error.retry_after)


def _not_now(error: Overloaded | Stopping) -> Problem:
    """Describe a service that works but is too busy for this question."""
    if isinstance(error, Overloaded):
        return Problem("overloaded", error.what, wait=error.retry_after)
    return Problem("store_unavailable", error.what)


def _not_admitted(error: NotAdmitted) -> Problem:
    if isinstance(error, TooManyRequests):
        headers = rate_headers(error.limit, error.remaining, error.retry_after)
        return Problem("rate_limited", error.what, wait=error.retry_after, headers=headers)
    if isinstance(error, Forbidden):
        return Problem("forbidden", error.what, retryable=False)
    challenge = {"WWW-Authenticate": "Bearer"}
    return Problem("unauthorized", error.what, retryable=False, headers=challenge)


def field_message(error: Mapping[str, Any]) -> str:
    """Name a field and what is wrong with it."""
    place = [str(part) for part in error["loc"] if part not in {"body", "path"}]
    if error["type"] == "json_invalid":
        return "The request body is not valid JSON."
    if not place:
        return "The request body must be a JSON object, sent as application/json."
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{'.'.join(place)[:60]}: {message}."[:200]
