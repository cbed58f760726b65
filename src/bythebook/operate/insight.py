"""What readers ask and what the book leaves unanswered, as its author is shown it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from bythebook.ask.judge import BOUNDARY, REFUSE_BELOW
from bythebook.ask.links import section_url
from bythebook.ask.pipeline import AskPorts, collect
from bythebook.ask.relevance import on_scale
from bythebook.domain.answers import Answered, Outcome, RefusalType
from bythebook.domain.books import Book
from bythebook.domain.insight import (
    Chosen,
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    ScoreBin,
    Wording,
)
from bythebook.domain.questions import Question, Scope
from bythebook.domain.records import CitedSection
from bythebook.domain.reports import IngestReport
from bythebook.errors import ByTheBookError
from bythebook.operate.grouping import Group, grouped
from bythebook.ports.insight import QuestionLog, Reports

WEEK = 7  # days
LONGEST = 366  # days of one period
BINS = 20  # of the histogram: both boundaries fall on an edge
MOST_WORDINGS = 3000  # that are grouped; beyond them are questions asked once, long ago
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Days in UTC, the first and the last among them."""

    first: date
    last: date

    @property
    def since(self) -> datetime:
        """Its first moment."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def until(self) -> datetime:
        """The first moment after it."""
        return datetime.combine(self.last, time(), UTC) + _DAY

    def days(self) -> list[date]:
        """Give its days in order."""
        return [self.first + number * _DAY for number in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class Sums:
    """What became of questions."""

    answered: int = 0
    refusals: Counter[RefusalType] = field(default_factory=Counter)
    failed: int = 0
    helpful: int = 0
    not_helpful: int = 0

    @property
    def refused(self) -> int:
        """How many were refused, of whatever type."""
        return self.refusals.total()

    @property
    def questions(self) -> int:
        """All of them."""
        return self.answered + self.refused + self.failed

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.answered + other.answered,
            self.refusals + other.refusals,
            self.failed + other.failed,
            self.helpful + other.helpful,
            self.not_helpful + other.not_helpful,
        )


@dataclass(frozen=True, slots=True)
class Overview:
    """The first look: this week against last, and each day of a period."""

    period: Period
    this_week: tuple[Period, Sums]
    last_week: tuple[Period, Sums]
    days: tuple[tuple[date, Sums], ...]

    @property
    def sums(self) -> Sums:
        """The whole period's."""
        return sum((sums for _, sums in self.days), Sums())


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What readers asked and the book did not answer, those asked most first."""

    groups: tuple[Group, ...]
    questions: int  # in all groups, those not given too
    group_count: int


@dataclass(frozen=True, slots=True)
class CitedChapter:
    """A chapter and how many answers quote it, and each of its sections."""

    book_id: str
    chapter: str
    answers: int
    sections: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that is found for a question now."""

    book_id: str
    chapter: str
    section: str
    url: str
    text: str
    score: float  # on the scale of the boundary


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A logged question, and what the book makes of it now."""

    question: LoggedQuestion
    answered: bool
    refusal_type: RefusalType | None
    passages: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class ReadBook:
    """A book and how it was last read; no report where it cannot be read any more."""

    book: Book
    report: IngestReport | None


class Insight:
    """Sums up the log of questions; conversations, answers and selections are not in it."""

    boundary = BOUNDARY
    refuse_below = REFUSE_BELOW

    def __init__(
        self,
        log: QuestionLog,
        ports: AskPorts,
        reports: Reports,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._log = log
        self._ports = ports
        self._reports = reports
        self._now = now

    def period(self, days: int, since: date | None = None, until: date | None = None) -> Period:
        """Give the days that are meant: so many up to `until`, else from `since` on."""
        last = until or self._now().date()
        first = since or last - (days - 1) * _DAY
        return Period(max(first, last - (LONGEST - 1) * _DAY), last)

    def books(self, readable: Sequence[str] | None) -> list[Book]:
        """Give the books that may be seen."""
        books = self._ports.library.books()
        return [book for book in books if readable is None or book.book_id in readable]

    async def overview(self, chosen: Chosen, period: Period) -> Overview:
        """Sum up by day; the two weeks end today, whatever the period."""
        today = self._now().date()
        this_week = Period(today - (WEEK - 1) * _DAY, today)
        last_week = Period(this_week.first - WEEK * _DAY, this_week.first - _DAY)
        known = await self._by_day(chosen, period)
        for week in (this_week, last_week):
            if not set(week.days()) <= set(period.days()):
                known |= await self._by_day(chosen, week)

        def summed(days: Iterable[date]) -> Sums:
            return sum((known.get(day, Sums()) for day in days), Sums())

        return Overview(
            period,
            (this_week, summed(this_week.days())),
            (last_week, summed(last_week.days())),
            tuple((day, known.get(day, Sums())) for day in period.days()),
        )

    async def unanswered(self, chosen: Chosen, most: int) -> Unanswered:
        """Group what was refused; what a selection does not say is no gap of the book."""
        wordings = await self._refused_wordings(chosen)
        groups = await asyncio.to_thread(grouped, wordings)
        asked = sum(group.times for group in groups)
        return Unanswered(tuple(groups[:most]), asked, len(groups))

    async def like(self, chosen: Chosen, query_id: UUID) -> Chosen:
        """Narrow to the group that a refused question is in."""
        known = await self._log.question(query_id)
        wordings = await self._refused_wordings(chosen)
        groups = await asyncio.to_thread(grouped, wordings)
        keys = [
            tuple(wording.key for wording in group.wordings)
            for group in groups
            if known and any(_holds(wording, known) for wording in group.wordings)
        ]
        return _gaps(replace(chosen, wordings=keys[0] if keys else ()))

    async def cited(self, chosen: Chosen) -> list[CitedChapter]:
        """Count answers by the chapters they quote, and within them by sections, most first."""
        chapters: Counter[tuple[str, str]] = Counter()
        sections: Counter[CitedSection] = Counter()
        for together in await self._log.cited(chosen):
            places = {(one.book_id, one.chapter) for one in together.sections}
            chapters.update(dict.fromkeys(places, together.answers))
            sections.update(dict.fromkeys(together.sections, together.answers))
        ordered = sorted(sections.items(), key=lambda item: (-item[1], item[0].section))
        return [
            CitedChapter(
                *place,
                answers,
                tuple(
                    (one.section, n) for one, n in ordered if (one.book_id, one.chapter) == place
                ),
            )
            for place, answers in sorted(chapters.items(), key=lambda item: (-item[1], item[0]))
        ]

    async def scores(self, chosen: Chosen) -> Sequence[ScoreBin]:
        """Tell where the scores of the best passages lie."""
        return await self._log.scores(chosen, BINS)

    async def latency(self, chosen: Chosen) -> Sequence[DayLatency]:
        """Tell how long answers took, by day."""
        return await self._log.latency(chosen)

    async def page(self, chosen: Chosen, *, most: int, skip: int = 0) -> LoggedPage:
        """Give the questions behind a number."""
        return await self._log.page(chosen, most=most, skip=skip)

    async def ask_again(
        self, query_id: UUID, readable: tuple[str, ...] | None
    ) -> AskedAgain | None:
        """Look a logged question up in the books as they are now; nothing of it is logged."""
        known = await self._log.question(query_id)
        if known is None or not (readable is None or known.book_id in readable):
            return None
        outcome = await collect(
            Question(known.text, Scope(known.book_id, None, readable)), self._ports
        )
        return AskedAgain(
            known,
            isinstance(outcome, Answered),
            None if isinstance(outcome, Answered) else outcome.refusal_type,
            self._passages(outcome),
        )

    def reports(self, readable: Sequence[str] | None) -> list[ReadBook]:
        """Tell how each book was last read; newest first."""
        books = sorted(self.books(readable), key=lambda one: one.published_at, reverse=True)
        return [ReadBook(book, self._report(book.book_id)) for book in books]

    def _report(self, book_id: str) -> IngestReport | None:
        try:
            return self._reports.report(book_id)
        except ByTheBookError:  # of one book; the others are wanted none the less
            return None

    def _passages(self, outcome: Outcome) -> tuple[FoundPassage, ...]:
        found = sorted(outcome.passages, key=lambda passage: -passage.relevance)
        return tuple(
            FoundPassage(
                one.chunk.book_id,
                one.chunk.chapter,
                one.chunk.section,
                section_url(one.chunk, self._ports.reader_url),
                one.chunk.text,
                on_scale(one.relevance, BOUNDARY),
            )
            for one in found
        )

    async def _refused_wordings(self, chosen: Chosen) -> Sequence[Wording]:
        return await self._log.wordings(_gaps(replace(chosen, wordings=None)), MOST_WORDINGS)

    async def _by_day(self, chosen: Chosen, period: Period) -> dict[date, Sums]:
        within = replace(chosen, since=period.since, until=period.until)
        days: dict[date, Sums] = {}
        for tally in await self._log.tallies(within):
            counted = Sums(
                answered=tally.questions if tally.status == "success" else 0,
                refusals=Counter(
                    {tally.refusal_type: tally.questions} if tally.refusal_type else {}
                ),
                failed=tally.questions if tally.status == "error" else 0,
            )
            days[tally.day] = days.get(tally.day, Sums()) + counted
        for said in await self._log.opinions(within):
            words = (said.questions, 0) if said.helpful else (0, said.questions)
            days[said.day] = days.get(said.day, Sums()) + Sums(
                helpful=words[0], not_helpful=words[1]
            )
        return days


def _gaps(chosen: Chosen) -> Chosen:
    return replace(chosen, status="refused", mode="standard_rag")


def _holds(wording: Wording, question: LoggedQuestion) -> bool:
    """Say whether a question was put in this wording; the database made the key, so spell it alike."""
    return wording.query_id == question.query_id or _folded(wording.text) == _folded(question.text)


def _folded(text: str) -> str:
    return text.lower().rstrip(" ?!.")
