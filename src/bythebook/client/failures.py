"""The errors of calls.

ClientError
├── ConnectionFailed        no connection, a timeout, or a connection that broke
├── UnexpectedResponse      the response does not follow the contract
└── ApiError                the service rejected the request or failed
    ├── InvalidRequest      400, 413, 422: the request must change
    ├── Unauthorized        401: no key, or an invalid one
    ├── Forbidden           403: the key does not allow this
    ├── NotFound            404
    ├── RateLimited         429: wait for `retry_after` seconds
    ├── Unavailable         502, 503, 504: a part of the service does not work
    └── ServerFailed        500: a bug in the service
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any

import httpx
from pydantic import ValidationError


class ClientError(Exception):
    """A call without a result."""


class ConnectionFailed(ClientError):
    """The service could not be reached, or the connection broke."""


class UnexpectedResponse(ClientError):
    """The response does not follow the contract."""


class ApiError(ClientError):
    """The service rejected the request or failed, and gave a reason."""

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
        self.kind = kind  # as named in the contract
        self.request_id = request_id
        self.retry_after = retry_after  # seconds

    def __str__(self) -> str:
        return f"{self.status} {self.kind}: {self.message}"


class InvalidRequest(ApiError):
    """The request is invalid."""


class Unauthorized(ApiError):
    """The key is missing or invalid."""


class Forbidden(ApiError):
    """The key does not allow this, or not from this origin."""


class NotFound(ApiError):
    """It does not exist, or it belongs to someone else."""


class RateLimited(ApiError):
    """Too many requests in a minute."""


class Unavailable(ApiError):
    """A part that the answer needs does not work."""


class ServerFailed(ApiError):
    """The service has a bug."""


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
# An error event comes after the status was sent; this is the status for its kind.
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
    "overloaded": 503,
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn errors of httpx and pydantic into ours."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise ConnectionFailed("The service did not answer in time.") from error
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise ConnectionFailed(
            f"The connection failed: {str(error) or type(error).__name__}"
        ) from error
    except ValidationError as error:
        raise UnexpectedResponse(f"The response does not follow the contract: {error}") from error


def error_from_response(response: httpx.Response) -> ClientError:
    """Read an error in the shape of any contract."""
    try:
        value = response.json()
    except (JSONDecodeError, UnicodeDecodeError):
        value = None
    found = _read_error(value) if isinstance(value, dict) else None
    if found is None:
        return UnexpectedResponse(f"Status {response.status_code} without a known error.")
    return _CLASSES.get(response.status_code, ApiError)(
        found[1],
        status=response.status_code,
        kind=found[0],
        request_id=response.headers.get("X-Request-ID"),
        retry_after=retry_after(response),
    )


def error_from_event(kind: str, message: str, request_id: str | None) -> ApiError:
    """Make the error of a stream that failed after its start."""
    status = _STATUS_OF_KIND.get(kind, 500)
    return _CLASSES[status](message, status=status, kind=kind, request_id=request_id)


def retry_after(response: httpx.Response) -> int | None:
    """Return the seconds in the Retry-After header."""
    given = response.headers.get("Retry-After", "")
    return int(given) if given.isascii() and given.isdigit() else None


def _read_error(value: Mapping[str, Any]) -> tuple[str, str] | None:
    match value:
        case {"error": {"code": str(kind), "message": str(message)} as error}:  # A
            return kind, _join(message, error.get("details"))
        case {"error_type": str(kind), "error_message": str(message)}:  # B
            return kind, message
        case {"error": str(kind), "message": str(message)}:  # C, and routes outside the contracts
            return kind, _join(message, value.get("details"))
        case {"error": str(kind), "detail": str(message)}:  # D
            return kind, message
    return None


def _join(message: str, details: object) -> str:
    return f"{message} {details}" if isinstance(details, str) and details else message
