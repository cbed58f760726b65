"""GET /admin/...: what an author sees of the questions, for keys of scope admin."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.params import Depends as Dependency
from fastapi.requests import Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from bythebook.http.access import AdminRoute
from bythebook.http.asking import caller_of
from bythebook.http.authors.author import Author
from bythebook.http.authors.export import exported
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
from bythebook.http.problems import failures
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
    """Make the routes; what each tells stands in `Author`."""

    async def author(request: Request) -> Author:
        return Author(insight, caller_of(request).readable)

    router = APIRouter(tags=["authors"], route_class=AdminRoute)
    for add in (_add_outcomes, _add_figures, _add_ingests, _add_questions, _add_export):
        add(router, Depends(author))
    return router


def _add_outcomes(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/overview", responses=_ASKED, summary="See this week against last")
    async def overview(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> OverviewModel:
        """Sum up questions by day and by what became of them."""
        return await author.overview(asked)

    @router.get("/admin/unanswered", responses=_ASKED, summary="See what the book did not answer")
    async def unanswered(
        author: Annotated[Author, reading], asked: Annotated[UnansweredQuery, Query()]
    ) -> UnansweredModel:
        """Group refused questions by the words they share, those asked most first."""
        return await author.unanswered(asked, asked.most)


def _add_figures(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/cited", responses=_ASKED, summary="See which chapters answers quote")
    async def cited(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> CitedModel:
        """Count answers by the chapters and sections that they quote."""
        return await author.cited(asked)

    @router.get("/admin/scores", responses=_ASKED, summary="See where scores lie")
    async def scores(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> ScoresModel:
        """Count questions by the score of their best passage, against the boundary."""
        return await author.scores(asked)

    @router.get("/admin/latency", responses=_ASKED, summary="See how long answers took")
    async def latency(
        author: Annotated[Author, reading], asked: Annotated[PeriodQuery, Query()]
    ) -> LatencyModel:
        """Give the percentiles of processing times, by day."""
        return await author.latency(asked)


def _add_ingests(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/ingests", responses=_PLAIN, summary="See how the books were read")
    async def ingests(author: Annotated[Author, reading]) -> IngestsModel:
        """Give the report of each book's last ingest, with how much of it is in the index."""
        return await author.ingests()


def _add_questions(router: APIRouter, reading: Dependency) -> None:
    @router.get("/admin/questions", responses=_ASKED, summary="List questions")
    async def questions(
        author: Annotated[Author, reading], asked: Annotated[QuestionsQuery, Query()]
    ) -> QuestionsModel:
        """List the questions behind a number, newest first: how each went, not who asked."""
        return await author.questions(asked)

    @router.get(
        "/admin/questions/{query_id}/passages",
        responses=_SOUGHT,
        summary="Look a question up again",
    )
    async def passages(author: Annotated[Author, reading], query_id: UUID) -> PassagesModel:
        """Give the passages that the book has on a logged question now; nothing of it is logged."""
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

        Text that a spreadsheet would take for a formula is led by an apostrophe. What is asked for
        besides days and book narrows `questions` only.
        """
        name = f"bythebook-{table}-{datetime.now(UTC):%Y-%m-%d}.csv"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        lines = await exported(author, table, asked)
        return StreamingResponse(lines, media_type="text/csv", headers=disposition)
