"""Questions that the book did not answer."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from bythebook.http.authors.models.period import PeriodModel, to_period
from bythebook.http.authors.models.sections import NearModel, to_near
from bythebook.operate.grouping import Group
from bythebook.operate.insight import Period, Unanswered

WORDINGS_SHOWN = 20


class GroupModel(BaseModel):
    """A question that the book did not answer, in all its wordings."""

    query_id: UUID = Field(description="Of the newest question in this wording.")
    question: str = Field(description="In the most frequent wording.")
    times: int = Field(description="How often it was asked.")
    last_asked: datetime
    wordings: list[str] = Field(description="Its wordings, most frequent first; at most 20.")
    nearest: NearModel | None


class UnansweredModel(BaseModel):
    """Questions that the book did not answer, those asked most first."""

    period: PeriodModel
    questions: int = Field(description="In all groups, including those not listed.")
    group_count: int = Field(description="Number of all groups.")
    groups: list[GroupModel]


def to_unanswered(found: Unanswered, period: Period) -> UnansweredModel:
    """Write unanswered questions."""
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
        nearest=to_near(leading.nearest),
    )
