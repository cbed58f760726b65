"""What an author reads off the log of questions."""

import uuid
from dataclasses import dataclass
from datetime import date, datetime

from bythebook.domain.answers import NearestSection, RefusalType
from bythebook.domain.questions import Mode
from bythebook.domain.records import CitedSection, ContractName, QueryStatus

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which questions are meant; None where it does not matter."""

    since: datetime
    until: datetime  # the first moment after
    books: tuple[str, ...] | None = None
    status: QueryStatus | None = None
    refusal_type: RefusalType | None = None
    mode: Mode | None = None
    helpful: bool | None = None  # by the reader's word
    chapter: str | None = None  # that the answer quotes
    section: str | None = None
    score_from: float | None = None
    score_to: float | None = None  # the first score beyond
    took_from: int | None = None  # milliseconds
    wordings: tuple[str, ...] | None = None  # keys of wordings


@dataclass(frozen=True, slots=True)
class Tally:
    """How many questions of one kind a day (UTC) brought."""

    day: date
    status: QueryStatus
    refusal_type: RefusalType | None
    questions: int


@dataclass(frozen=True, slots=True)
class Opinion:
    """On how many questions of a day readers said that the answer helped, or did not."""

    day: date
    helpful: bool
    questions: int


@dataclass(frozen=True, slots=True)
class Wording:
    """One way in which a question was put, as last asked."""

    key: str  # the same for wordings that differ in case and final marks only
    text: str
    times: int
    last_asked: datetime
    query_id: uuid.UUID  # of the last
    book_id: str | None = None
    nearest: NearestSection | None = None


@dataclass(frozen=True, slots=True)
class CitedTimes:
    """Sections that were quoted together, and in how many answers."""

    sections: tuple[CitedSection, ...]
    answers: int


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """How many questions have their best passage's score in one part of the scale."""

    number: int
    answered: int
    refused: int


@dataclass(frozen=True, slots=True)
class DayLatency:
    """How long a day's questions took, in milliseconds: a percentile each."""

    day: date
    questions: int
    percentiles: tuple[int, ...]  # as PERCENTILES names them


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A question as the log has it: neither its answer nor who asked."""

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
    helpful: bool | None  # the reader's word, if there is one
    reason: str | None


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """Some of the questions that are meant, newest first, and how many there are."""

    questions: tuple[LoggedQuestion, ...]
    total: int
