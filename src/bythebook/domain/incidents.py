"""Incidents: what an operator is alerted to."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """The time from the first failure of a part until it works again."""

    part: str
    message: str
    began_at: datetime
    ended_at: datetime | None = None
