"""What showing an author the log of questions needs."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from bythebook.domain.insight import (
    Chosen,
    CitedTimes,
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    Opinion,
    ScoreBin,
    Tally,
    Wording,
)
from bythebook.domain.reports import IngestReport


class QuestionLog(Protocol):
    """The log of questions, read for authors."""

    async def tallies(self, chosen: Chosen) -> Sequence[Tally]:
        """Count questions by day and what became of them, by day."""
        ...

    async def opinions(self, chosen: Chosen) -> Sequence[Opinion]:
        """Count the questions that readers said a word on."""
        ...

    async def wordings(self, chosen: Chosen, most: int) -> Sequence[Wording]:
        """Give the ways in which questions were put, those asked most first."""
        ...

    async def cited(self, chosen: Chosen) -> Sequence[CitedTimes]:
        """Count answers by the sections that they quote."""
        ...

    async def scores(self, chosen: Chosen, bins: int) -> Sequence[ScoreBin]:
        """Count questions to the book by the score of their best passage, in equal parts of 0 to 1."""
        ...

    async def latency(self, chosen: Chosen) -> Sequence[DayLatency]:
        """Give the percentiles of each day's processing times, by day."""
        ...

    async def page(self, chosen: Chosen, *, most: int, skip: int = 0) -> LoggedPage:
        """Give questions, newest first."""
        ...

    async def question(self, query_id: UUID) -> LoggedQuestion | None:
        """Give one, if it is still kept."""
        ...


class Reports(Protocol):
    """How books were read."""

    def report(self, book_id: str) -> IngestReport:
        """Give the report of the run that made a book's live generation, or raise UnknownBook."""
        ...
