"""GET /metrics: numbers for Prometheus."""

import logging

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel

from bythebook.domain.books import Book
from bythebook.errors import ByTheBookError
from bythebook.http.access import AdminRoute
from bythebook.http.problems import failures
from bythebook.ports import Library, Metrics

PATH = "/metrics"
_log = logging.getLogger("bythebook.http")


class NoNumbers(BaseModel):
    """Why there are none."""

    error: str
    message: str


def metrics_router(metrics: Metrics, library: Library) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["operators"], route_class=AdminRoute)
    errors = failures(NoNumbers, 401, 403, 429, 500, 503)

    @router.get(
        PATH,
        response_class=Response,
        summary="Read the numbers",
        responses={
            200: {
                "description": "The numbers",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **errors,
        },
    )
    async def numbers() -> Response:
        """Give all numbers in Prometheus's text format."""
        page, media_type = metrics.page(_books(library))
        return Response(page, headers={"Content-Type": media_type})

    return router


def _books(library: Library) -> list[Book]:
    """Give the books; while they cannot be read, the other numbers are wanted the more."""
    try:
        return list(library.books())
    except ByTheBookError as error:
        _log.warning("the size of the books is not known: %s", error.what)
        return []
