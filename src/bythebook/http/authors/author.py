"""The log of questions for one author, limited to the books that the key may read."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from bythebook.domain.insight import LoggedQuestion, QuestionFilter
from bythebook.errors import UnknownBook
from bythebook.http.authors.models.figures import (
    CitedModel,
    LatencyModel,
    ScoresModel,
    to_cited,
    to_latency,
    to_scores,
)
from bythebook.http.authors.models.ingests import IngestsModel, to_ingests
from bythebook.http.authors.models.overview import OverviewModel, to_overview
from bythebook.http.authors.models.queries import ExportQuery, PeriodQuery, QuestionsQuery
from bythebook.http.authors.models.questions import (
    PassagesModel,
    QuestionsModel,
    to_passages,
    to_questions,
)
from bythebook.http.authors.models.unanswered import UnansweredModel, to_unanswered
from bythebook.operate.insight import Insight, Period

_GONE = "There is no such question, or it was deleted."
_NO_BOOK = "The book of this question no longer exists."


class Author:
    """Answers one request, limited to the books that its key may read."""

    def __init__(self, insight: Insight, readable: tuple[str, ...] | None) -> None:
        self._insight = insight
        self._readable = readable

    async def overview(self, asked: PeriodQuery) -> OverviewModel:
        """Return questions by day and outcome."""
        found = await self._insight.overview(self._make_filter(asked), self._period(asked))
        return to_overview(found, await run_in_threadpool(self._insight.books, self._readable))

    async def group_unanswered(self, asked: PeriodQuery, most: int) -> UnansweredModel:
        """Return groups of questions that the book did not answer."""
        found = await self._insight.group_unanswered(self._make_filter(asked), most)
        return to_unanswered(found, self._period(asked))

    async def count_cited(self, asked: PeriodQuery) -> CitedModel:
        """Return how many answers cite each chapter and section."""
        return to_cited(
            await self._insight.count_cited(self._make_filter(asked)), self._period(asked)
        )

    async def scores(self, asked: PeriodQuery) -> ScoresModel:
        """Return the histogram of scores."""
        insight = self._insight
        found = await insight.scores(self._make_filter(asked))
        return to_scores(found, self._period(asked), insight.boundary, insight.refuse_below)

    async def latency(self, asked: PeriodQuery) -> LatencyModel:
        """Return percentiles of processing times."""
        return to_latency(
            await self._insight.latency(self._make_filter(asked)), self._period(asked)
        )

    async def ingests(self) -> IngestsModel:
        """Return the last ingest report of each book."""
        return to_ingests(await run_in_threadpool(self._insight.reports, self._readable))

    async def questions(self, asked: QuestionsQuery) -> QuestionsModel:
        """Return a page of the selected questions."""
        page = await self._insight.page(
            await self._narrow_filter(asked), most=asked.most, skip=asked.skip
        )
        return to_questions(page, self._period(asked))

    async def pages(
        self, asked: ExportQuery, size: int
    ) -> AsyncGenerator[Sequence[LoggedQuestion]]:
        """Yield all selected questions, page by page."""
        chosen = await self._narrow_filter(asked)
        # Questions asked from now on would shift the pages.
        chosen = replace(chosen, until=min(chosen.until, datetime.now(UTC)))
        skip = 0
        while found := (await self._insight.page(chosen, most=size, skip=skip)).questions:
            yield found
            skip += len(found)

    async def passages(self, query_id: UUID) -> PassagesModel:
        """Ask a logged question again."""
        try:
            again = await self._insight.ask_again(query_id, self._readable)
        except UnknownBook as error:
            raise HTTPException(404, _NO_BOOK) from error
        if again is None:
            raise HTTPException(404, _GONE)
        return to_passages(again, self._insight.boundary, self._insight.refuse_below)

    def _period(self, asked: PeriodQuery) -> Period:
        since, until = (day and date.fromisoformat(day) for day in (asked.since, asked.until))
        return self._insight.period(asked.days, since or None, until or None)

    def _make_filter(self, asked: PeriodQuery) -> QuestionFilter:
        period = self._period(asked)
        return QuestionFilter(period.since, period.until, self._books(asked.book))

    def _books(self, book: str | None) -> tuple[str, ...] | None:
        """Return the books to select; none for a book that the key may not read."""
        if book is None:
            return self._readable
        return (book,) if self._readable is None or book in self._readable else ()

    async def _narrow_filter(self, asked: ExportQuery) -> QuestionFilter:
        chosen = self._make_filter(asked)
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
