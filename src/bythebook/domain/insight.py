"""What an author sees of the log of questions."""

import uuid
from dataclasses import dataclass
from datetime import date, datetime

from bythebook.domain.answers import NearestSection, RefusalType
from bythebook.domain.questions import Mode
from bythebook.domain.records import CitedSection, ContractName, QueryStatus

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """Which questions to select; None matches all."""

    since: datetime
    until: datetime  # the first moment after
    books: tuple[str, ...] | None = None
    status: QueryStatus | None = None
    refusal_type: RefusalType | None = None
    mode: Mode | None = None
    helpful: bool | None = None  # as the reader rated it
    chapter: str | None = None  # that the answer cites
    section: str | None = None
    score_from: float | None = None
    score_to: float | None = None  # the first score beyond
    took_from: int | None = None  # milliseconds
    wordings: tuple[str, ...] | None = None  # keys of wordings


@dataclass(frozen=True, slots=True)
class Tally:
    """How many questions of one kind were asked on a day (UTC)."""

    day: date
    status: QueryStatus
    refusal_type: RefusalType | None
    questions: int


@dataclass(frozen=True, slots=True)
class DayFeedback:
    """How many questions of a day readers rated helpful, or not helpful."""

    day: date
    helpful: bool
    questions: int


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a question, as last asked."""

    key: str  # the same for wordings that differ in case and final marks only
    text: str
    times: int
    last_asked: datetime
    query_id: uuid.UUID  # of the last
    book_id: str | None = None
    nearest: NearestSection | None = None


@dataclass(frozen=True, slots=True)
class CitedTimes:
    """Sections that were cited together, and in how many answers."""

    sections: tuple[CitedSection, ...]
    answers: int


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """How many questions have a best score within one bin of the scale."""

    number: int
    answered: int
    refused: int


@dataclass(frozen=True, slots=True)
class DayLatency:
    """Percentiles of the processing times of a day, in milliseconds."""

    day: date
    questions: int
    percentiles: tuple[int, ...]  # as PERCENTILES names them


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A question in the log, without its answer and without who asked."""

    query_id: uuid.UUID
    asked_at: datetime
    text: str
    contract: ContractName
    mode: Mode
    status: QueryStatus
    refusal_type: RefusalType | None
    book_id: str | None
    score: float | None
    took_ms: int
    cited: tuple[CitedSection, ...]
    nearest: NearestSection | None
    helpful: bool | None  # the reader's rating, if there is one
    reason: str | None


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """A page of the selected questions, newest first, and their total."""

    questions: tuple[LoggedQuestion, ...]
    total: int
