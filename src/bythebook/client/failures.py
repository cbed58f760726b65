"""What can go wrong with a call.

ClientError
├── ConnectionFailed        no connection, a timeout, or one that broke off
├── UnexpectedResponse      what answers there does not speak this contract
└── ApiError                the service said no
    ├── InvalidRequest      400, 413, 422: the request must change
    ├── Unauthorized        401: no key, or one that opens nothing
    ├── Forbidden           403: the key does not open this
    ├── NotFound            404
    ├── RateLimited         429: wait for `retry_after` seconds
    ├── Unavailable         502, 503, 504: a part of the service does not work now
    └── ServerFailed        500: a defect of the service
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any

import httpx
from pydantic import ValidationError


class ClientError(Exception):
    """A call that brought no result."""


class ConnectionFailed(ClientError):
    """The service was not reached, or not to the end."""


class UnexpectedResponse(ClientError):
    """The response is none that this contract has."""


class ApiError(ClientError):
    """The service refused or failed, and said why."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind  # as the contract that was called names it
        self.request_id = request_id
        self.retry_after = retry_after  # seconds

    def __str__(self) -> str:
        return f"{self.status} {self.kind}: {self.message}"


class InvalidRequest(ApiError):
    """The request must change before it can be answered."""


class Unauthorized(ApiError):
    """No key was given, or it opens nothing."""


class Forbidden(ApiError):
    """The key does not open this, or not from there."""


class NotFound(ApiError):
    """There is no such thing, or it is not yours."""


class RateLimited(ApiError):
    """Too many requests in a minute."""


class Unavailable(ApiError):
    """A part that the answer needs does not work now."""


class ServerFailed(ApiError):
    """A defect of the service."""


_CLASSES: Mapping[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
    500: ServerFailed,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
# An error event comes after the status was sent; this is the status it would have had.
_STATUS_OF_KIND: Mapping[str, int] = {
    "validation_failed": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "payload_too_large": 413,
    "rate_limited": 429,
    "store_unavailable": 503,
    "embedder_unavailable": 503,
    "model_timeout": 503,
    "model_failed": 502,
    "database_unavailable": 503,
}


@contextmanager
def failures_told() -> Iterator[None]:
    """Tell what fails below a call in our own words."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise ConnectionFailed("The service did not answer in time.") from error
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise ConnectionFailed(
            f"The connection failed: {str(error) or type(error).__name__}"
        ) from error
    except ValidationError as error:
        raise UnexpectedResponse(f"This is no response of the contract: {error}") from error


def error_of(response: httpx.Response) -> ClientError:
    """Read a failure in whichever contract's shape it comes."""
    try:
        value = response.json()
    except (JSONDecodeError, UnicodeDecodeError):
        value = None
    found = _kind_and_message(value) if isinstance(value, dict) else None
    if found is None:
        return UnexpectedResponse(f"Status {response.status_code} without a known error.")
    return _CLASSES.get(response.status_code, ApiError)(
        found[1],
        status=response.status_code,
        kind=found[0],
        request_id=response.headers.get("X-Request-ID"),
        retry_after=retry_after(response),
    )


def error_event(kind: str, message: str, request_id: str | None) -> ApiError:
    """Make the error of a stream that failed after it had begun."""
    status = _STATUS_OF_KIND.get(kind, 500)
    return _CLASSES[status](message, status=status, kind=kind, request_id=request_id)


def retry_after(response: httpx.Response) -> int | None:
    """Give the seconds after which the service wants to be asked again."""
    given = response.headers.get("Retry-After", "")
    return int(given) if given.isascii() and given.isdigit() else None


def _kind_and_message(value: Mapping[str, Any]) -> tuple[str, str] | None:
    match value:
        case {"error": {"code": str(kind), "message": str(message)} as error}:  # A
            return kind, _joined(message, error.get("details"))
        case {"error_type": str(kind), "error_message": str(message)}:  # B
            return kind, message
        case {"error": str(kind), "message": str(message)}:  # C, and routes of no contract
            return kind, _joined(message, value.get("details"))
        case {"error": str(kind), "detail": str(message)}:  # D
            return kind, message
    return None


def _joined(message: str, details: object) -> str:
    return f"{message} {details}" if isinstance(details, str) and details else message
