"""Logged questions, and what the book has on one of them now."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from bythebook.domain.answers import RefusalType
from bythebook.domain.insight import LoggedPage, LoggedQuestion
from bythebook.domain.questions import Mode
from bythebook.domain.records import ContractName, QueryStatus
from bythebook.http.authors.models.period import PeriodModel, to_period
from bythebook.http.authors.models.sections import (
    CitedModelSection,
    NearModel,
    to_cited_section,
    to_near,
)
from bythebook.operate.insight import AskedAgain, FoundPassage, Period


class QuestionModel(BaseModel):
    """A logged question, without its answer and without who asked."""

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
    helpful: bool | None = Field(description="The reader's rating.")
    reason: str | None = Field(description="Why, in the reader's words.")


class QuestionsModel(BaseModel):
    """Questions, newest first."""

    period: PeriodModel
    total: int = Field(description="Their total.")
    questions: list[QuestionModel]


class PassageModel(BaseModel):
    """A passage found in the book as it is now."""

    book_id: str
    chapter: str
    section: str
    url: str = Field(description="Opens the book there.")
    text: str
    score: float


class PassagesModel(BaseModel):
    """Passages of the book, as it is now, for a logged question."""

    question: QuestionModel
    answered: bool = Field(description="Whether it would be answered now.")
    refusal_type: RefusalType | None = Field(description="Why not, otherwise.")
    boundary: float
    refuse_below: float
    passages: list[PassageModel] = Field(description="Nearest first.")


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
        cited=[to_cited_section(section) for section in question.cited],
        nearest=to_near(question.nearest),
        helpful=question.helpful,
        reason=question.reason,
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
