"""What an operator is called for."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """A part that failed, from the first failure until it works again."""

    part: str
    message: str
    began_at: datetime
    ended_at: datetime | None = None
