"""GET /metrics: metrics for Prometheus."""

import logging

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel

from bythebook.domain.books import Book
from bythebook.errors import ByTheBookError
from bythebook.http.access.gate_routes import AdminRoute
from bythebook.http.wire.problems import failures
from bythebook.ports import Library, Metrics

PATH = "/metrics"
_log = logging.getLogger("bythebook.http")


class NoNumbers(BaseModel):
    """Why there are no metrics."""

    error: str
    message: str


def metrics_router(metrics: Metrics, library: Library) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["operators"], route_class=AdminRoute)
    errors = failures(NoNumbers, 401, 403, 429, 500, 503)

    @router.get(
        PATH,
        response_class=Response,
        summary="Read the metrics",
        responses={
            200: {
                "description": "The numbers",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **errors,
        },
    )
    async def numbers() -> Response:
        """Return all metrics in Prometheus's text format."""
        page, media_type = metrics.write_page(_books(library))
        return Response(page, headers={"Content-Type": media_type})

    return router


def _books(library: Library) -> list[Book]:
    """Return the books; none if they cannot be read, so that the other metrics are still served."""
    try:
        return list(library.books())
    except ByTheBookError as error:
        _log.warning("the size of the books is not known: %s", error.what)
        return []
