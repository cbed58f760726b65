"""Counts over a period: citations, scores, processing times."""

from collections.abc import Sequence
from datetime import date

from pydantic import BaseModel, Field

from bythebook.domain.insight import DayLatency, ScoreBin
from bythebook.http.authors.models.period import PeriodModel, to_period
from bythebook.operate.insight import BINS, ChapterCitations, Period


class SectionTimes(BaseModel):
    """A section and how many answers quote it."""

    section: str
    answers: int


class ChapterTimes(BaseModel):
    """A chapter and how many answers quote it."""

    book_id: str
    chapter: str
    answers: int
    sections: list[SectionTimes] = Field(description="Most quoted first.")


class CitedModel(BaseModel):
    """What answers quote, most quoted first."""

    period: PeriodModel
    chapters: list[ChapterTimes]


class BinModel(BaseModel):
    """A part of the scale."""

    score_from: float
    score_to: float
    answered: int
    refused: int


class ScoresModel(BaseModel):
    """Histogram of the best passages' scores; questions about a selection have none."""

    period: PeriodModel
    boundary: float = Field(
        description="Below it the judge must be surer, and the answer is cautious."
    )
    refuse_below: float = Field(description="Below it a question is refused without reading.")
    bins: list[BinModel] = Field(description="From 0 to 1, in equal parts; the last includes 1.")


class LatencyDay(BaseModel):
    """How long a day's questions took, in milliseconds."""

    day: date
    questions: int
    p50: int
    p90: int
    p99: int


class LatencyModel(BaseModel):
    """How long questions took, by day; days without any are left out."""

    period: PeriodModel
    days: list[LatencyDay]


def to_cited(chapters: Sequence[ChapterCitations], period: Period) -> CitedModel:
    """Write citation counts."""
    return CitedModel(
        period=to_period(period),
        chapters=[
            ChapterTimes(
                book_id=one.book_id,
                chapter=one.chapter,
                answers=one.answers,
                sections=[SectionTimes(section=name, answers=n) for name, n in one.sections],
            )
            for one in chapters
        ],
    )


def to_scores(
    bins: Sequence[ScoreBin], period: Period, boundary: float, refuse_below: float
) -> ScoresModel:
    """Write the histogram of scores."""
    return ScoresModel(
        period=to_period(period),
        boundary=boundary,
        refuse_below=refuse_below,
        bins=[_bin(one) for one in bins],
    )


def _bin(found: ScoreBin) -> BinModel:
    return BinModel(
        score_from=found.number / BINS,
        score_to=(found.number + 1) / BINS,
        answered=found.answered,
        refused=found.refused,
    )


def to_latency(days: Sequence[DayLatency], period: Period) -> LatencyModel:
    """Write processing times."""
    return LatencyModel(period=to_period(period), days=[_latency(day) for day in days])


def _latency(day: DayLatency) -> LatencyDay:
    p50, p90, p99 = day.percentiles
    return LatencyDay(day=day.day, questions=day.questions, p50=p50, p90=p90, p99=p99)
