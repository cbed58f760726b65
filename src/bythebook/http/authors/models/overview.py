"""Questions by outcome, by day and by week."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from bythebook.domain.answers import RefusalType
from bythebook.domain.books import Book
from bythebook.http.authors.models.period import PeriodModel, to_period
from bythebook.operate.insight import Overview, Period, Sums

_REFUSAL_TYPES: tuple[RefusalType, ...] = (
    "empty_retrieval",
    "low_relevance",
    "insufficient_grounding",
    "selected_text_missing",
)


class RefusalsModel(BaseModel):
    """Refused questions by type."""

    empty_retrieval: int = Field(description="Nothing was found at all.")
    low_relevance: int = Field(description="Nothing relevant was found.")
    insufficient_grounding: int = Field(description="The relevant passages do not answer.")
    selected_text_missing: int = Field(description="The reader's selection does not answer.")


class SumsModel(BaseModel):
    """Questions by outcome."""

    questions: int = Field(description="All questions.")
    answered: int = Field(description="Answered from the book.")
    refused: int = Field(description="Refused, of any type.")
    refusals: RefusalsModel
    failed: int = Field(description="A part failed, or the reader left.")
    helpful: int = Field(description="Rated helpful by the reader.")
    not_helpful: int = Field(description="Rated not helpful by the reader.")


class WeekModel(PeriodModel, SumsModel):
    """Seven days."""


class DayModel(SumsModel):
    """One day."""

    day: date


class NamedBook(BaseModel):
    """A book that questions can be asked of."""

    book_id: str
    title: str


class OverviewModel(BaseModel):
    """This week compared with last week, and each day of the period."""

    zone: Literal["UTC"] = "UTC"
    period: PeriodModel
    this_week: WeekModel = Field(description="Seven days, including today.")
    last_week: WeekModel = Field(description="The seven days before.")
    sums: SumsModel = Field(description="Of the whole period.")
    days: list[DayModel] = Field(description="Every day of the period, in order.")
    books: list[NamedBook] = Field(description="All books.")


def to_overview(overview: Overview, books: Sequence[Book]) -> OverviewModel:
    """Write the overview."""
    return OverviewModel(
        period=to_period(overview.period),
        this_week=_week(*overview.this_week),
        last_week=_week(*overview.last_week),
        sums=_sums(overview.sums),
        days=[DayModel(day=day, **_sums(sums).model_dump()) for day, sums in overview.days],
        books=[NamedBook(book_id=book.book_id, title=book.title) for book in books],
    )


def _week(period: Period, sums: Sums) -> WeekModel:
    return WeekModel(since=period.first, until=period.last, **_sums(sums).model_dump())


def _sums(sums: Sums) -> SumsModel:
    kinds = {name: sums.refusals[name] for name in _REFUSAL_TYPES}
    return SumsModel(
        questions=sums.questions,
        answered=sums.answered,
        refused=sums.refused,
        refusals=RefusalsModel(**kinds),
        failed=sums.failed,
        helpful=sums.helpful,
        not_helpful=sums.not_helpful,
    )
