"""What showing an author the log of questions needs."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from bythebook.domain.insight import (
    CitedTimes,
    DayFeedback,
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    QuestionFilter,
    ScoreBin,
    Tally,
    Wording,
)
from bythebook.domain.reports import IngestReport


class AuthorLog(Protocol):
    """The log of questions as authors read it."""

    async def count_by_day(self, chosen: QuestionFilter) -> Sequence[Tally]:
        """Count questions by day and outcome, in order of days."""
        ...

    async def count_feedback(self, chosen: QuestionFilter) -> Sequence[DayFeedback]:
        """Count the questions with feedback by day and opinion."""
        ...

    async def list_wordings(self, chosen: QuestionFilter, most: int) -> Sequence[Wording]:
        """Return the wordings of questions, most frequent first."""
        ...

    async def count_citations(self, chosen: QuestionFilter) -> Sequence[CitedTimes]:
        """Count answers by the sections that they cite."""
        ...

    async def count_by_score(self, chosen: QuestionFilter, bins: int) -> Sequence[ScoreBin]:
        """Count questions to the book by the score of their best passage, in equal bins of 0 to 1."""
        ...

    async def measure_latency(self, chosen: QuestionFilter) -> Sequence[DayLatency]:
        """Return the percentiles of each day's processing times, in order of days."""
        ...

    async def list_questions(
        self, chosen: QuestionFilter, *, most: int, skip: int = 0
    ) -> LoggedPage:
        """Return a page of questions, newest first."""
        ...

    async def find_question(self, query_id: UUID) -> LoggedQuestion | None:
        """Return one question, or None if it is no longer stored."""
        ...


class Reports(Protocol):
    """The ingest reports of books."""

    def report(self, book_id: str) -> IngestReport:
        """Return the report of the run that made a book's live generation, or raise UnknownBook."""
        ...
