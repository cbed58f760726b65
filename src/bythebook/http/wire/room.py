"""Room for requests: beyond the usual number of connections only health checks are served."""

from fastapi.requests import Request

from bythebook.http.wire.context import context_of
from bythebook.operate.answer_queue import make_overload

_RETRY_SECONDS = 5


async def require_room(request: Request) -> None:
    """Refuse a request on a connection that is kept for health checks."""
    if context_of(request).over_capacity:
        raise make_overload(_RETRY_SECONDS)
