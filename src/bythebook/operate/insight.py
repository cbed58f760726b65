"""What readers ask and what the book leaves unanswered, for its author."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from bythebook.ask import AskPorts, collect
from bythebook.ask.show import QUERY_BOUNDARY, REFUSE_BELOW, on_scale, section_url
from bythebook.domain.answers import Answered, Outcome, RefusalType
from bythebook.domain.books import Book
from bythebook.domain.insight import (
    DayLatency,
    LoggedPage,
    LoggedQuestion,
    QuestionFilter,
    ScoreBin,
    Wording,
)
from bythebook.domain.questions import Question, Scope
from bythebook.domain.records import CitedSection
from bythebook.domain.reports import IngestReport
from bythebook.errors import ByTheBookError
from bythebook.operate.grouping import Group, group_wordings
from bythebook.ports.insight import AuthorLog, Reports

WEEK = 7  # days
LONGEST = 366  # days of one period
BINS = 20  # of the histogram: both boundaries fall on an edge
MOST_WORDINGS = 3000  # that are grouped; the rest are old questions asked once
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Days in UTC, including the first and the last."""

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
        """Yield its days in order."""
        return [self.first + number * _DAY for number in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class Sums:
    """Questions by how they ended."""

    answered: int = 0
    refusals: Counter[RefusalType] = field(default_factory=Counter)
    failed: int = 0
    helpful: int = 0
    not_helpful: int = 0

    @property
    def refused(self) -> int:
        """The number of refused questions of any type."""
        return self.refusals.total()

    @property
    def questions(self) -> int:
        """The number of all questions."""
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
    """This week compared with last week, and each day of a period."""

    period: Period
    this_week: tuple[Period, Sums]
    last_week: tuple[Period, Sums]
    days: tuple[tuple[date, Sums], ...]

    @property
    def sums(self) -> Sums:
        """The sums of the whole period."""
        return sum((sums for _, sums in self.days), Sums())


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Groups of questions that the book did not answer, those asked most first."""

    groups: tuple[Group, ...]
    questions: int  # in all groups, including those not returned
    group_count: int


@dataclass(frozen=True, slots=True)
class ChapterCitations:
    """How many answers cite a chapter, and each of its sections."""

    book_id: str
    chapter: str
    answers: int
    sections: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage found for a question that is asked again."""

    book_id: str
    chapter: str
    section: str
    url: str
    text: str
    score: float  # on the scale of the boundary


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A logged question and its outcome in the book as it is now."""

    question: LoggedQuestion
    answered: bool
    refusal_type: RefusalType | None
    passages: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class ReadBook:
    """A book and its last ingest report; None if the report cannot be read."""

    book: Book
    report: IngestReport | None


class Insight:
    """Sums up the log of questions, which has no conversations, answers or selections."""

    boundary = QUERY_BOUNDARY
    refuse_below = REFUSE_BELOW

    def __init__(
        self,
        log: AuthorLog,
        ports: AskPorts,
        reports: Reports,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._log = log
        self._ports = ports
        self._reports = reports
        self._now = now

    def period(self, days: int, since: date | None = None, until: date | None = None) -> Period:
        """Return the period that ends with `until` and starts with `since`, or has so many days."""
        last = until or self._now().date()
        first = since or last - (days - 1) * _DAY
        return Period(max(first, last - (LONGEST - 1) * _DAY), last)

    def books(self, readable: Sequence[str] | None) -> list[Book]:
        """Return the books that the caller may read."""
        books = self._ports.library.books()
        return [book for book in books if readable is None or book.book_id in readable]

    async def overview(self, chosen: QuestionFilter, period: Period) -> Overview:
        """Sum up by day; the two weeks always end today."""
        today = self._now().date()
        this_week = Period(today - (WEEK - 1) * _DAY, today)
        last_week = Period(this_week.first - WEEK * _DAY, this_week.first - _DAY)
        known = await self._by_day(chosen, period)
        for week in (this_week, last_week):
            if not set(week.days()) <= set(period.days()):
                known |= await self._by_day(chosen, week)

        def sum_days(days: Iterable[date]) -> Sums:
            return sum((known.get(day, Sums()) for day in days), Sums())

        return Overview(
            period,
            (this_week, sum_days(this_week.days())),
            (last_week, sum_days(last_week.days())),
            tuple((day, known.get(day, Sums())) for day in period.days()),
        )

    async def group_unanswered(self, chosen: QuestionFilter, most: int) -> Unanswered:
        """Group refused questions; refusals about a selection are not a gap of the book."""
        wordings = await self._list_refused_wordings(chosen)
        groups = await asyncio.to_thread(group_wordings, wordings)
        asked = sum(group.times for group in groups)
        return Unanswered(tuple(groups[:most]), asked, len(groups))

    async def like(self, chosen: QuestionFilter, query_id: UUID) -> QuestionFilter:
        """Narrow a filter to the group that a refused question is in."""
        known = await self._log.find_question(query_id)
        wordings = await self._list_refused_wordings(chosen)
        groups = await asyncio.to_thread(group_wordings, wordings)
        keys = [
            tuple(wording.key for wording in group.wordings)
            for group in groups
            if known and any(_holds(wording, known) for wording in group.wordings)
        ]
        return _gaps(replace(chosen, wordings=keys[0] if keys else ()))

    async def count_cited(self, chosen: QuestionFilter) -> list[ChapterCitations]:
        """Count answers by the chapters and sections they cite, most first."""
        chapters: Counter[tuple[str, str]] = Counter()
        sections: Counter[CitedSection] = Counter()
        for together in await self._log.count_citations(chosen):
            places = {(one.book_id, one.chapter) for one in together.sections}
            chapters.update(dict.fromkeys(places, together.answers))
            sections.update(dict.fromkeys(together.sections, together.answers))
        ordered = sorted(sections.items(), key=lambda item: (-item[1], item[0].section))
        return [
            ChapterCitations(
                *place,
                answers,
                tuple(
                    (one.section, n) for one, n in ordered if (one.book_id, one.chapter) == place
                ),
            )
            for place, answers in sorted(chapters.items(), key=lambda item: (-item[1], item[0]))
        ]

    async def scores(self, chosen: QuestionFilter) -> Sequence[ScoreBin]:
        """Return the histogram of the best passages' scores."""
        return await self._log.count_by_score(chosen, BINS)

    async def latency(self, chosen: QuestionFilter) -> Sequence[DayLatency]:
        """Return percentiles of processing times by day."""
        return await self._log.measure_latency(chosen)

    async def page(self, chosen: QuestionFilter, *, most: int, skip: int = 0) -> LoggedPage:
        """Return a page of the questions that a filter selects."""
        return await self._log.list_questions(chosen, most=most, skip=skip)

    async def ask_again(
        self, query_id: UUID, readable: tuple[str, ...] | None
    ) -> AskedAgain | None:
        """Ask a logged question again, of the books as they are now, without logging it."""
        known = await self._log.find_question(query_id)
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
        """Return the books with their last ingest reports, newest first."""
        books = sorted(self.books(readable), key=lambda one: one.published_at, reverse=True)
        return [ReadBook(book, self._report(book.book_id)) for book in books]

    def _report(self, book_id: str) -> IngestReport | None:
        try:
            return self._reports.report(book_id)
        except ByTheBookError:  # one unreadable report must not hide the others
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
                on_scale(one.relevance, QUERY_BOUNDARY),
            )
            for one in found
        )

    async def _list_refused_wordings(self, chosen: QuestionFilter) -> Sequence[Wording]:
        return await self._log.list_wordings(_gaps(replace(chosen, wordings=None)), MOST_WORDINGS)

    async def _by_day(self, chosen: QuestionFilter, period: Period) -> dict[date, Sums]:
        within = replace(chosen, since=period.since, until=period.until)
        days: dict[date, Sums] = {}
        for tally in await self._log.count_by_day(within):
            counted = Sums(
                answered=tally.questions if tally.status == "success" else 0,
                refusals=Counter(
                    {tally.refusal_type: tally.questions} if tally.refusal_type else {}
                ),
                failed=tally.questions if tally.status == "error" else 0,
            )
            days[tally.day] = days.get(tally.day, Sums()) + counted
        for said in await self._log.count_feedback(within):
            words = (said.questions, 0) if said.helpful else (0, said.questions)
            days[said.day] = days.get(said.day, Sums()) + Sums(
                helpful=words[0], not_helpful=words[1]
            )
        return days


def _gaps(chosen: QuestionFilter) -> QuestionFilter:
    return replace(chosen, status="refused", mode="standard_rag")


def _holds(wording: Wording, question: LoggedQuestion) -> bool:
    """Return True if a question has this wording; normalizes as the database does for its keys."""
    return wording.query_id == question.query_id or _normalize(wording.text) == _normalize(
        question.text
    )


def _normalize(text: str) -> str:
    return text.lower().rstrip(" ?!.")
