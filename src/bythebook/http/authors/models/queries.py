"""Query parameters of the author's page."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from bythebook.domain.answers import RefusalType
from bythebook.domain.questions import Mode
from bythebook.domain.records import QueryStatus
from bythebook.http.contracts.fields import PLAIN, BookId

# An existing day of this century, so that the description alone says what is valid.
_DAY = (
    r"^(20[0-9]{2}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
    r"|20([02468][048]|[13579][26])-02-29)$"
)
Day = Annotated[str, Field(pattern=_DAY)]
Title = Annotated[str, Field(max_length=1000), *PLAIN]
Table = Literal["days", "unanswered", "cited", "scores", "latency", "ingests", "questions"]


class PeriodQuery(BaseModel):
    """Selects questions by time and book."""

    model_config = ConfigDict(extra="forbid")

    days: int = Field(30, ge=1, le=90, description="How many days (UTC), the last one included.")
    since: Day | None = Field(None, description="First day (UTC); instead of `days`.")
    until: Day | None = Field(None, description="Last day (UTC); without: today.")
    book: BookId | None = Field(
        None, description="Only questions to this book, or best found in it."
    )


class UnansweredQuery(PeriodQuery):
    """Selects unanswered questions."""

    most: int = Field(50, ge=1, le=500, description="How many groups.")


class ExportQuery(PeriodQuery):
    """Selects questions by any field of the log."""

    status: QueryStatus | None = Field(None, description="How they ended.")
    refusal_type: RefusalType | None = Field(None, description="Why they were refused.")
    mode: Mode | None = Field(None, description="Asked of the book, or of a selection.")
    helpful: Literal["yes", "no"] | None = Field(None, description="How the reader rated it.")
    chapter: Title | None = Field(None, description="Answers that cite this chapter.")
    section: Title | None = Field(None, description="Answers that cite this section.")
    score_from: float | None = Field(None, ge=0, le=1, description="Best passage's score: from.")
    score_to: float | None = Field(None, ge=0, le=1, description="Best passage's score: below.")
    took_from: int | None = Field(
        None, ge=0, le=2_000_000_000, description="Processing time in milliseconds: from."
    )
    like: UUID | None = Field(
        None, description="Unanswered questions of one group: that of the question of this id."
    )


class QuestionsQuery(ExportQuery):
    """Selects questions, and how many of them to return."""

    most: int = Field(50, ge=1, le=200, description="How many.")
    skip: int = Field(0, ge=0, le=1_000_000, description="How many of the newest to skip.")
