"""GET /admin/...: what an author sees of the questions, for keys of scope admin."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.requests import Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from bythebook.domain.insight import Chosen
from bythebook.errors import UnknownBook
from bythebook.http.access import AdminRoute
from bythebook.http.asking import caller_of
from bythebook.http.authors.csv_export import csv_lines
from bythebook.http.authors.models import (
    AdminError,
    CitedModel,
    ExportQuery,
    IngestsModel,
    LatencyModel,
    NamedBook,
    OverviewModel,
    PassagesModel,
    PeriodQuery,
    QuestionsModel,
    QuestionsQuery,
    ScoresModel,
    Table,
    UnansweredModel,
    UnansweredQuery,
    to_bin,
    to_cited,
    to_ingest,
    to_latency,
    to_overview,
    to_passages,
    to_period,
    to_question,
    to_questions,
    to_unanswered,
)
from bythebook.http.authors.tables import (
    QUESTION_HEAD,
    Row,
    cited_rows,
    day_rows,
    ingest_rows,
    latency_rows,
    question_row,
    score_rows,
    unanswered_rows,
)
from bythebook.http.problems import failures
from bythebook.operate.insight import BINS, Insight, Period

_GONE = "There is no such question, or it is no longer kept."
_NO_BOOK = "The book that this was asked of is no longer there."
_PRIVATE = {"Cache-Control": "no-store"}
_EXPORTED_GROUPS = 10_000
_PAGE = 2000  # questions that are written at a time


def admin_router(insight: Insight) -> APIRouter:
    """Make the routes; what each tells stands in `Author`."""
    router = APIRouter(tags=["authors"], route_class=AdminRoute)
    errors = failures(AdminError, 401, 403, 422, 429, 500, 503)
    plain = failures(AdminError, 401, 403, 429, 500, 503)
    sought = failures(AdminError, 401, 403, 404, 422, 429, 500, 503)

    @router.get("/admin/overview", responses=errors, summary="See this week against last")
    async def overview(
        request: Request, response: Response, asked: Annotated[PeriodQuery, Query()]
    ) -> OverviewModel:
        """Sum up questions by day and by what became of them."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).overview(asked)

    @router.get("/admin/unanswered", responses=errors, summary="See what the book did not answer")
    async def unanswered(
        request: Request, response: Response, asked: Annotated[UnansweredQuery, Query()]
    ) -> UnansweredModel:
        """Group refused questions by the words they share, those asked most first."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).unanswered(asked, asked.most)

    @router.get("/admin/cited", responses=errors, summary="See which chapters answers quote")
    async def cited(
        request: Request, response: Response, asked: Annotated[PeriodQuery, Query()]
    ) -> CitedModel:
        """Count answers by the chapters and sections that they quote."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).cited(asked)

    @router.get("/admin/scores", responses=errors, summary="See where scores lie")
    async def scores(
        request: Request, response: Response, asked: Annotated[PeriodQuery, Query()]
    ) -> ScoresModel:
        """Count questions by the score of their best passage, against the boundary."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).scores(asked)

    @router.get("/admin/latency", responses=errors, summary="See how long answers took")
    async def latency(
        request: Request, response: Response, asked: Annotated[PeriodQuery, Query()]
    ) -> LatencyModel:
        """Give the percentiles of processing times, by day."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).latency(asked)

    @router.get("/admin/ingests", responses=plain, summary="See how the books were read")
    async def ingests(request: Request, response: Response) -> IngestsModel:
        """Give the report of each book's last ingest, with how much of it is in the index."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).ingests()

    @router.get("/admin/questions", responses=errors, summary="List questions")
    async def questions(
        request: Request, response: Response, asked: Annotated[QuestionsQuery, Query()]
    ) -> QuestionsModel:
        """List the questions behind a number, newest first: how each went, not who asked."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).questions(asked)

    @router.get(
        "/admin/questions/{query_id}/passages",
        responses=sought,
        summary="Look a question up again",
    )
    async def passages(request: Request, response: Response, query_id: UUID) -> PassagesModel:
        """Give the passages that the book has on a logged question now; nothing of it is logged."""
        response.headers.update(_PRIVATE)
        return await _Author(insight, request).passages(query_id)

    @router.get(
        "/admin/export/{table}",
        response_class=Response,
        summary="Export a table as CSV",
        responses={
            200: {
                "description": "The table, headings first",
                "content": {"text/csv": {"schema": {"type": "string"}}},
            },
            **errors,
        },
    )
    async def export(
        request: Request, table: Table, asked: Annotated[ExportQuery, Query()]
    ) -> Response:
        """Write a table as CSV (RFC 4180) in UTF-8.

        Text that a spreadsheet would take for a formula is led by an apostrophe. What is asked for
        besides days and book narrows `questions` only.
        """
        name = f"bythebook-{table}-{datetime.now(UTC):%Y-%m-%d}.csv"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        lines = await _Author(insight, request).lines(table, asked)
        return StreamingResponse(lines, media_type="text/csv", headers=_PRIVATE | disposition)

    return router


class _Author:
    """Answers one request within what its key may read."""

    def __init__(self, insight: Insight, request: Request) -> None:
        self._insight = insight
        self._readable = caller_of(request).readable

    async def overview(self, asked: PeriodQuery) -> OverviewModel:
        found = await self._insight.overview(self._chosen(asked), self._period(asked))
        books = await run_in_threadpool(self._insight.books, self._readable)
        return to_overview(
            found, [NamedBook(book_id=book.book_id, title=book.title) for book in books]
        )

    async def unanswered(self, asked: PeriodQuery, most: int) -> UnansweredModel:
        found = await self._insight.unanswered(self._chosen(asked), most)
        return to_unanswered(found, self._period(asked))

    async def cited(self, asked: PeriodQuery) -> CitedModel:
        return to_cited(await self._insight.cited(self._chosen(asked)), self._period(asked))

    async def scores(self, asked: PeriodQuery) -> ScoresModel:
        found = await self._insight.scores(self._chosen(asked))
        return ScoresModel(
            period=to_period(self._period(asked)),
            boundary=self._insight.boundary,
            refuse_below=self._insight.refuse_below,
            bins=[to_bin(one, BINS) for one in found],
        )

    async def latency(self, asked: PeriodQuery) -> LatencyModel:
        found = await self._insight.latency(self._chosen(asked))
        return LatencyModel(
            period=to_period(self._period(asked)), days=[to_latency(day) for day in found]
        )

    async def ingests(self) -> IngestsModel:
        found = await run_in_threadpool(self._insight.reports, self._readable)
        return IngestsModel(books=[to_ingest(one) for one in found])

    async def questions(self, asked: QuestionsQuery) -> QuestionsModel:
        page = await self._insight.page(
            await self._narrowed(asked), most=asked.most, skip=asked.skip
        )
        return to_questions(page, self._period(asked))

    async def passages(self, query_id: UUID) -> PassagesModel:
        try:
            again = await self._insight.ask_again(query_id, self._readable)
        except UnknownBook as error:
            raise HTTPException(404, _NO_BOOK) from error
        if again is None:
            raise HTTPException(404, _GONE)
        return to_passages(again, self._insight.boundary, self._insight.refuse_below)

    async def lines(self, table: Table, asked: ExportQuery) -> AsyncIterator[str]:
        """Read the first rows now, so that a failure is told as one, and the others while writing."""
        if table == "questions":
            return await self._question_lines(asked)
        return _whole(csv_lines([row async for row in self._rows(table, asked)]))

    async def _rows(self, table: Table, asked: ExportQuery) -> AsyncIterator[Row]:
        match table:
            case "days":
                rows = day_rows(await self.overview(asked))
            case "unanswered":
                rows = unanswered_rows(await self.unanswered(asked, _EXPORTED_GROUPS))
            case "cited":
                rows = cited_rows(await self.cited(asked))
            case "scores":
                rows = score_rows((await self.scores(asked)).bins)
            case "latency":
                rows = latency_rows((await self.latency(asked)).days)
            case _:
                rows = ingest_rows((await self.ingests()).books)
        for row in rows:
            yield row

    async def _question_lines(self, asked: ExportQuery) -> AsyncIterator[str]:
        chosen = await self._narrowed(asked)
        # What is asked from now on would shift the pages.
        chosen = replace(chosen, until=min(chosen.until, datetime.now(UTC)))
        first = await self._insight.page(chosen, most=_PAGE)

        async def written() -> AsyncIterator[str]:
            yield csv_lines([QUESTION_HEAD])
            page, skip = first, 0
            while page.questions:
                yield csv_lines(question_row(to_question(one)) for one in page.questions)
                skip += len(page.questions)
                page = await self._insight.page(chosen, most=_PAGE, skip=skip)

        return written()

    def _period(self, asked: PeriodQuery) -> Period:
        since, until = (day and date.fromisoformat(day) for day in (asked.since, asked.until))
        return self._insight.period(asked.days, since or None, until or None)

    def _chosen(self, asked: PeriodQuery) -> Chosen:
        period = self._period(asked)
        return Chosen(period.since, period.until, self._books(asked.book))

    def _books(self, book: str | None) -> tuple[str, ...] | None:
        """Treat a book that the key may not read as one that nothing was asked of."""
        if book is None:
            return self._readable
        return (book,) if self._readable is None or book in self._readable else ()

    async def _narrowed(self, asked: ExportQuery) -> Chosen:
        chosen = self._chosen(asked)
        if asked.like is not None:
            chosen = await self._insight.like(chosen, asked.like)
        return replace(
            chosen,
            status=asked.status or chosen.status,
            refusal_type=asked.refusal_type,
            mode=asked.mode or chosen.mode,
            helpful=None if asked.helpful is None else asked.helpful == "yes",
            chapter=asked.chapter,
            section=asked.section,
            score_from=asked.score_from,
            score_to=asked.score_to,
            took_from=asked.took_from,
        )


async def _whole(text: str) -> AsyncIterator[str]:
    yield text
