"""The days that figures cover."""

from datetime import date

from pydantic import BaseModel

from bythebook.operate.insight import Period


class PeriodModel(BaseModel):
    """Days in UTC, both included."""

    since: date
    until: date


def to_period(period: Period) -> PeriodModel:
    """Write a period."""
    return PeriodModel(since=period.first, until=period.last)
