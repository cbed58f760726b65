"""GET /admin/...: what an author sees of the questions, for keys of scope admin."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.params import Depends as Dependency
from fastapi.requests import Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from bythebook.http.access.gate_routes import AdminRoute
from bythebook.http.authors.author import Author
from bythebook.http.authors.export import export_table
from bythebook.http.authors.models.figures import CitedModel, LatencyModel, ScoresModel
from bythebook.http.authors.models.ingests import IngestsModel
from bythebook.http.authors.models.overview import OverviewModel
from bythebook.http.authors.models.queries import (
    ExportQuery,
    PeriodQuery,
    QuestionsQuery,
    Table,
    UnansweredQuery,
)
from bythebook.http.authors.models.questions import PassagesModel, QuestionsModel
from bythebook.http.authors.models.unanswered import UnansweredModel
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import failures
from bythebook.operate.insight import Insight


class AdminError(BaseModel):
    """Why there is nothing to show."""

    error: str
    message: str


_PLAIN = failures(AdminError, 401, 403, 429, 500, 503)
_ASKED = failures(AdminError, 401, 403, 422, 429, 500, 503)
_SOUGHT = failures(AdminError, 401, 403, 404, 422, 429, 500, 503)
_CSV = {
    "description": "The table, headings first",
    "content": {"text/csv": {"schema": {"type": "string"}}},
}


def admin_router(insight: Insight) -> APIRouter:
    """Make the routes; `Author` answers them."""

    async def author(request: Request) -> Author:
        return Author(insight, context_of(request).caller.readable)

    router = APIRouter(tags=["authors"], route_class=AdminRoute)
    for add in (_add_outcomes, _add_figures, _add_ingests, _add_questions, _add_export):
        add(router, Depends(author))
    return router


def _add_outcomes(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/overview", responses=_ASKED, summary="Compare this week with last week")
    async def overview(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> OverviewModel:
        """Count questions by day and outcome."""
        return await author.overview(asked)

    @router.get(
        "/admin/unanswered",
        name="unanswered",
        responses=_ASKED,
        summary="See what the book did not answer",
    )
    async def group_unanswered(
        author: Annotated[Author, reading], asked: Annotated[UnansweredQuery, Query()]
    ) -> UnansweredModel:
        """Group refused questions by the words they share, those asked most first."""
        return await author.group_unanswered(asked, asked.most)


def _add_figures(router: APIRouter, reading: Dependency) -> None:
    @router.get(
        "/admin/cited", name="cited", responses=_ASKED, summary="See which chapters answers cite"
    )
    async def count_cited(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> CitedModel:
        """Count answers by the chapters and sections that they cite."""
        return await author.count_cited(asked)

    @router.get("/admin/scores", responses=_ASKED, summary="See the distribution of scores")
    async def scores(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> ScoresModel:
        """Count questions by the score of their best passage, with the boundary."""
        return await author.scores(asked)

    @router.get("/admin/latency", responses=_ASKED, summary="See how long answers took")
    async def latency(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> LatencyModel:
        """Return the percentiles of processing times, by day."""
        return await author.latency(asked)


def _add_ingests(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/ingests", responses=_PLAIN, summary="See how the books were ingested")
    async def ingests(author: Annotated[Author, reading]) -> IngestsModel:
        """Return the report of each book's last ingest, with how much of it is in the index."""
        return await author.ingests()


def _add_questions(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/questions", responses=_ASKED, summary="List questions")
    async def questions(
        author: Annotated[Author, reading], asked: Annotated[QuestionsQuery, Query()]
    ) -> QuestionsModel:
        """List the selected questions, newest first: how each ended, not who asked."""
        return await author.questions(asked)

    @router.get(
        "/admin/questions/{query_id}/passages",
        responses=_SOUGHT,
        summary="Ask a question again",
    )
    async def passages(author: Annotated[Author, reading], query_id: UUID) -> PassagesModel:
        """Return the passages that the book now has for a logged question; this is not logged."""
        return await author.passages(query_id)


def _add_export(router: APIRouter, reading: Dependency) -> None:
    @router.get(
        "/admin/export/{table}",
        response_class=Response,
        summary="Export a table as CSV",
        responses={200: _CSV, **_ASKED},
    )
    async def export(
        author: Annotated[Author, reading], table: Table, asked: Annotated[ExportQuery, Query()]
    ) -> Response:
        """Write a table as CSV (RFC 4180) in UTF-8.

        Text that a spreadsheet would read as a formula starts with an apostrophe. Parameters other
        than days and book apply to `questions` only.
        """
        name = f"bythebook-{table}-{datetime.now(UTC):%Y-%m-%d}.csv"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        lines = await export_table(author, table, asked)
        return StreamingResponse(lines, media_type="text/csv", headers=disposition)
