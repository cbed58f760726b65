"""What the author's page asks for and is told."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from bythebook.domain.answers import NearestSection, RefusalType
from bythebook.domain.insight import DayLatency, LoggedPage, LoggedQuestion, ScoreBin
from bythebook.domain.questions import Mode
from bythebook.domain.records import CitedSection, ContractName, QueryStatus
from bythebook.http.fields import PLAIN, BookId
from bythebook.operate.grouping import Group
from bythebook.operate.insight import (
    AskedAgain,
    CitedChapter,
    FoundPassage,
    Overview,
    Period,
    ReadBook,
    Sums,
    Unanswered,
)

# A day of this century that there is, so that the description alone tells what is taken.
_DAY = (
    r"^(20[0-9]{2}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
    r"|20([02468][048]|[13579][26])-02-29)$"
)
Day = Annotated[str, Field(pattern=_DAY)]
Title = Annotated[str, Field(max_length=1000), *PLAIN]
Table = Literal["days", "unanswered", "cited", "scores", "latency", "ingests", "questions"]
WORDINGS_SHOWN = 20


class PeriodQuery(BaseModel):
    """Which questions are meant, by time and book."""

    model_config = ConfigDict(extra="forbid")

    days: int = Field(30, ge=1, le=90, description="How many days (UTC), the last one included.")
    since: Day | None = Field(None, description="First day (UTC); instead of `days`.")
    until: Day | None = Field(None, description="Last day (UTC); without: today.")
    book: BookId | None = Field(
        None, description="Only questions to this book, or best found in it."
    )


class UnansweredQuery(PeriodQuery):
    """Which unanswered questions are meant."""

    most: int = Field(50, ge=1, le=500, description="How many groups.")


class ExportQuery(PeriodQuery):
    """Which questions are meant, by whatever the log has of them."""

    status: QueryStatus | None = Field(None, description="What became of them.")
    refusal_type: RefusalType | None = Field(None, description="Why they were refused.")
    mode: Mode | None = Field(None, description="Asked of the book, or of a selection.")
    helpful: Literal["yes", "no"] | None = Field(None, description="What the reader said of it.")
    chapter: Title | None = Field(None, description="Answers that quote this chapter.")
    section: Title | None = Field(None, description="Answers that quote this section.")
    score_from: float | None = Field(None, ge=0, le=1, description="Best passage's score: from.")
    score_to: float | None = Field(None, ge=0, le=1, description="Best passage's score: below.")
    took_from: int | None = Field(
        None, ge=0, le=2_000_000_000, description="Processing time in milliseconds: from."
    )
    like: UUID | None = Field(
        None, description="Unanswered questions of one group: that of the question of this id."
    )


class QuestionsQuery(ExportQuery):
    """Which questions are meant, and how many of them."""

    most: int = Field(50, ge=1, le=200, description="How many.")
    skip: int = Field(0, ge=0, le=1_000_000, description="How many of the newest to leave out.")


class AdminError(BaseModel):
    """Why there is nothing to show."""

    error: str
    message: str


class PeriodModel(BaseModel):
    """Days in UTC, both included."""

    since: date
    until: date


class RefusalsModel(BaseModel):
    """Refused questions by type."""

    empty_retrieval: int = Field(description="Nothing was found at all.")
    low_relevance: int = Field(description="Nothing found was near the question.")
    insufficient_grounding: int = Field(description="What was near does not answer.")
    selected_text_missing: int = Field(description="The reader's selection does not answer.")


class SumsModel(BaseModel):
    """What became of questions."""

    questions: int = Field(description="All of them.")
    answered: int = Field(description="Answered from the book.")
    refused: int = Field(description="Refused, of whatever type.")
    refusals: RefusalsModel
    failed: int = Field(description="Neither: a part failed, or the reader left.")
    helpful: int = Field(description="Readers said that it helped.")
    not_helpful: int = Field(description="Readers said that it did not.")


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
    """This week against last, and each day of the period."""

    zone: Literal["UTC"] = "UTC"
    period: PeriodModel
    this_week: WeekModel = Field(description="Seven days, today among them.")
    last_week: WeekModel = Field(description="The seven days before.")
    sums: SumsModel = Field(description="Of the whole period.")
    days: list[DayModel] = Field(description="Every day of the period, in order.")
    books: list[NamedBook] = Field(description="The books there are.")


class NearModel(BaseModel):
    """The section nearest to a question, when it was asked."""

    book_id: str
    chapter: str
    section: str
    url: str = Field(description="Opens the book there.")


class GroupModel(BaseModel):
    """A question that the book did not answer, in all its wordings."""

    query_id: UUID = Field(description="Of the newest question in the wording given.")
    question: str = Field(description="In the wording used most.")
    times: int = Field(description="How often it was asked.")
    last_asked: datetime
    wordings: list[str] = Field(description="How it was put, most often first; at most 20.")
    nearest: NearModel | None


class UnansweredModel(BaseModel):
    """What readers asked and the book did not answer, those asked most first."""

    period: PeriodModel
    questions: int = Field(description="In all groups, those not listed too.")
    group_count: int = Field(description="Groups there are.")
    groups: list[GroupModel]


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
    """Where the scores of the best passages lie; questions about a selection have none."""

    period: PeriodModel
    boundary: float = Field(description="Below it an answer needs a surer judge, and is cautious.")
    refuse_below: float = Field(description="Below it a question is refused unread.")
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


class SkippedModel(BaseModel):
    """A part of the source that was not read."""

    name: str
    reason: str


class LeftOutModel(BaseModel):
    """Characters that are not in the index, and why."""

    reason: str
    characters: int


class PageCoverage(BaseModel):
    """A page of the book and how much of it is in the index."""

    document_id: str
    title: str
    characters: int
    coverage: float
    chunks: int


class IngestModel(BaseModel):
    """How a book was last read."""

    book_id: str
    title: str
    published_at: str
    documents: int
    chunks: int
    reader: str | None = Field(description="What read it; none if the report is gone.")
    characters: int | None = Field(description="That a person sees, without white space.")
    coverage: float | None = Field(description="Share of them that is in the index.")
    added: int | None = Field(description="Chunks that were new.")
    kept: int | None = Field(description="Chunks that were kept.")
    removed: int | None = Field(description="Chunks that were removed.")
    seconds: float | None = Field(description="How long it took.")
    left_out: list[LeftOutModel]
    skipped: list[SkippedModel]
    broken_links: int
    warnings: list[str]
    least_covered: list[PageCoverage] = Field(description="The ten pages that lack most.")


class IngestsModel(BaseModel):
    """How the books were last read, newest first."""

    books: list[IngestModel]


class CitedModelSection(BaseModel):
    """A section that an answer quotes."""

    book_id: str
    chapter: str
    section: str


class QuestionModel(BaseModel):
    """A question as the log has it: neither its answer nor who asked."""

    query_id: UUID
    asked_at: datetime
    question: str
    book_id: str | None
    contract: ContractName
    mode: Mode
    status: QueryStatus
    refusal_type: RefusalType | None
    score: float | None = Field(description="Of the best passage.")
    took_ms: int
    cited: list[CitedModelSection]
    nearest: NearModel | None
    helpful: bool | None = Field(description="The reader's word on it.")
    reason: str | None = Field(description="Why, in the reader's words.")


class QuestionsModel(BaseModel):
    """Questions, newest first."""

    period: PeriodModel
    total: int = Field(description="How many there are.")
    questions: list[QuestionModel]


class PassageModel(BaseModel):
    """A passage that is found now."""

    book_id: str
    chapter: str
    section: str
    url: str = Field(description="Opens the book there.")
    text: str
    score: float


class PassagesModel(BaseModel):
    """What the book, as it is now, has on a logged question."""

    question: QuestionModel
    answered: bool = Field(description="Whether it would be answered now.")
    refusal_type: RefusalType | None = Field(description="Why not, if it would not.")
    boundary: float
    refuse_below: float
    passages: list[PassageModel] = Field(description="Nearest first.")


def to_period(period: Period) -> PeriodModel:
    """Write a period."""
    return PeriodModel(since=period.first, until=period.last)


def to_overview(overview: Overview, books: list[NamedBook]) -> OverviewModel:
    """Write the first look."""
    return OverviewModel(
        period=to_period(overview.period),
        this_week=_week(*overview.this_week),
        last_week=_week(*overview.last_week),
        sums=to_sums(overview.sums),
        days=[DayModel(day=day, **to_sums(sums).model_dump()) for day, sums in overview.days],
        books=books,
    )


def _week(period: Period, sums: Sums) -> WeekModel:
    return WeekModel(since=period.first, until=period.last, **to_sums(sums).model_dump())


def to_sums(sums: Sums) -> SumsModel:
    """Write what became of questions."""
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


_REFUSAL_TYPES: tuple[RefusalType, ...] = (
    "empty_retrieval",
    "low_relevance",
    "insufficient_grounding",
    "selected_text_missing",
)


def to_unanswered(found: Unanswered, period: Period) -> UnansweredModel:
    """Write what was not answered."""
    return UnansweredModel(
        period=to_period(period),
        questions=found.questions,
        group_count=found.group_count,
        groups=[_group(group) for group in found.groups],
    )


def _group(group: Group) -> GroupModel:
    leading = group.wordings[0]
    return GroupModel(
        query_id=leading.query_id,
        question=leading.text,
        times=group.times,
        last_asked=group.last_asked,
        wordings=[wording.text for wording in group.wordings[:WORDINGS_SHOWN]],
        nearest=_near(leading.nearest),
    )


def _near(nearest: NearestSection | None) -> NearModel | None:
    if nearest is None:
        return None
    return NearModel(
        book_id=nearest.book_id, chapter=nearest.chapter, section=nearest.section, url=nearest.url
    )


def to_cited(chapters: list[CitedChapter], period: Period) -> CitedModel:
    """Write what is quoted."""
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


def to_bin(found: ScoreBin, bins: int) -> BinModel:
    """Write a part of the scale."""
    return BinModel(
        score_from=found.number / bins,
        score_to=(found.number + 1) / bins,
        answered=found.answered,
        refused=found.refused,
    )


def to_latency(day: DayLatency) -> LatencyDay:
    """Write a day's percentiles."""
    p50, p90, p99 = day.percentiles
    return LatencyDay(day=day.day, questions=day.questions, p50=p50, p90=p90, p99=p99)


def to_ingest(read: ReadBook) -> IngestModel:
    """Write how a book was read."""
    book, report = read.book, read.report
    lacking = sorted(report.documents if report else (), key=lambda one: one.coverage)
    return IngestModel(
        book_id=book.book_id,
        title=book.title,
        published_at=book.published_at,
        documents=book.documents,
        chunks=book.chunks,
        reader=report and report.reader,
        characters=report and report.characters,
        coverage=report and report.coverage,
        added=report and report.added,
        kept=report and report.kept,
        removed=report and report.removed,
        seconds=report and report.seconds,
        left_out=[
            LeftOutModel(reason=reason, characters=count)
            for reason, count in (report.left_out if report else {}).items()
        ],
        skipped=[
            SkippedModel(name=one.name, reason=one.reason)
            for one in (report.skipped if report else ())
        ],
        broken_links=len(report.broken_links) if report else 0,
        warnings=list(report.warnings) if report else [],
        least_covered=[
            PageCoverage(
                document_id=one.document_id,
                title=one.title,
                characters=one.characters,
                coverage=one.coverage,
                chunks=one.chunks,
            )
            for one in lacking[:10]
            if one.coverage < 1
        ],
    )


def to_questions(page: LoggedPage, period: Period) -> QuestionsModel:
    """Write questions."""
    return QuestionsModel(
        period=to_period(period),
        total=page.total,
        questions=[to_question(question) for question in page.questions],
    )


def to_question(question: LoggedQuestion) -> QuestionModel:
    """Write a question."""
    return QuestionModel(
        query_id=question.query_id,
        asked_at=question.asked_at,
        question=question.text,
        book_id=question.book_id,
        contract=question.contract,
        mode=question.mode,
        status=question.status,
        refusal_type=question.refusal_type,
        score=question.score,
        took_ms=question.took_ms,
        cited=[_cited(section) for section in question.cited],
        nearest=_near(question.nearest),
        helpful=question.helpful,
        reason=question.reason,
    )


def _cited(section: CitedSection) -> CitedModelSection:
    return CitedModelSection(
        book_id=section.book_id, chapter=section.chapter, section=section.section
    )


def to_passages(again: AskedAgain, boundary: float, refuse_below: float) -> PassagesModel:
    """Write what the book has on a question now."""
    return PassagesModel(
        question=to_question(again.question),
        answered=again.answered,
        refusal_type=again.refusal_type,
        boundary=boundary,
        refuse_below=refuse_below,
        passages=[_passage(one) for one in again.passages],
    )


def _passage(found: FoundPassage) -> PassageModel:
    return PassageModel(
        book_id=found.book_id,
        chapter=found.chapter,
        section=found.section,
        url=found.url,
        text=found.text,
        score=found.score,
    )
