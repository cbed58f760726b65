"""How each question ended, for the log, the metrics and the records, outside the answer path."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bythebook.ask import UsageMeter
from bythebook.domain.answers import Fault, Outcome, Passage
from bythebook.domain.records import QueryEntry
from bythebook.errors import InputError, Overloaded, PartFailed
from bythebook.operate.alerts import Alerts
from bythebook.operate.entry import entry_of_failure, entry_of_outcome
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.operate.model_watch import ModelWatch
from bythebook.ports import Metrics, QueryLog

_log = logging.getLogger("bythebook.questions")
MOST_WAITING = 1000  # entries; beyond it the records are too slow to keep up, and entries are lost
MOST_TOGETHER = 100  # entries written in one transaction, which costs little more than one
_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(slots=True)
class QuestionRecord:
    """What is known of a question while it is answered."""

    found: Sequence[Passage] = ()
    outcome: Outcome | None = None
    model: str | None = None  # that writes; None: the book's own sentences
    shown: int = 0  # of the sentences that it proposed
    dropped: int = 0
    usage: UsageMeter = field(default_factory=UsageMeter)

    def add_to(self, entry: QueryEntry) -> QueryEntry:
        """Add a language model's usage and faults to an entry."""
        usage = self.usage.total
        return replace(
            entry,
            model=self.model,
            sentences_shown=self.shown,
            sentences_dropped=self.dropped,
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            usd=usage.usd,
        )


class Journal:
    """Stores entries in order, by one writer that no answer waits for."""

    def __init__(
        self,
        records: QueryLog,
        metrics: Metrics,
        alerts: Alerts | None = None,
        watch: ModelWatch | None = None,
        *,
        settle_seconds: float = 5.0,
    ) -> None:
        self._records = records
        self._metrics = metrics
        self._alerts = alerts or Alerts(metrics)
        self._watch = watch or ModelWatch()
        self._settle_seconds = settle_seconds
        self._waiting: asyncio.Queue[QueryEntry | asyncio.Event] = asyncio.Queue(MOST_WAITING)

    @contextmanager
    def open_record(self, incoming: IncomingQuestion) -> Iterator[QuestionRecord]:
        """Record how a question ends within a with block, also if it raises."""
        record = QuestionRecord()
        try:
            yield record
        except (InputError, Overloaded):
            raise  # the caller's mistake, or one question too many, which metrics count
        except (
            asyncio.CancelledError,
            GeneratorExit,
        ) as error:  # the reader left, perhaps before the end
            self._end(incoming, record, error)
            raise
        except BaseException as error:
            self._fail(incoming, record, error)
            raise
        else:
            self._end(incoming, record, None)

    def count_fault(self, incoming: IncomingQuestion, fault: Fault) -> None:
        """Count a proposed sentence that the passages do not support as it was; never its words."""
        self._metrics.count_fault(fault)
        fields = {
            "request_id": str(incoming.request_id),
            "fault": fault.kind,
            "dropped": fault.dropped,
        }
        _log.info("sentence fault", extra=fields)

    def count_sentence(self, record: QuestionRecord, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed, if one did."""
        if record.model is None:
            return
        record.dropped += dropped
        record.shown += not dropped
        self._metrics.count_model_sentence(record.model, dropped=dropped)
        self._watch.sentence(record.model, dropped=dropped)

    def count_excerpt(self, record: QuestionRecord, failure: PartFailed | None) -> None:
        """Count a question that went on without its model, which failed, or no line of which stood."""
        self._metrics.count_excerpt(record.model or "", failed=failure is not None)
        if failure is not None:
            self._count_failure(failure)

    async def settle(self, most_seconds: float | None = None) -> None:
        """Wait until what was recorded so far is written, or the database proves too slow."""
        reached = asyncio.Event()
        try:
            self._waiting.put_nowait(reached)
            async with asyncio.timeout(
                self._settle_seconds if most_seconds is None else most_seconds
            ):
                await reached.wait()
        except (asyncio.QueueFull, TimeoutError):
            return

    async def run(self) -> None:
        """Write until cancelled; what is still waiting then is lost, and logged as lost."""
        try:
            while True:
                taken = [await self._waiting.get()]
                while len(taken) < MOST_TOGETHER and not self._waiting.empty():
                    taken.append(self._waiting.get_nowait())
                await self._keep([one for one in taken if isinstance(one, QueryEntry)])
                for one in taken:
                    if isinstance(one, asyncio.Event):
                        one.set()
        finally:
            while not self._waiting.empty():
                left = self._waiting.get_nowait()
                if isinstance(left, QueryEntry):
                    self._log_loss(left, "the service stopped")

    async def _keep(self, entries: Sequence[QueryEntry]) -> None:
        """Write all entries together; if that fails, one by one, so that a bad entry costs no other."""
        if not entries:
            return
        try:
            await self._records.log(*entries)
        except Exception as error:  # noqa: BLE001 - one entry that breaks must not stop the writer
            if len(entries) == 1 or _is_outage(error):
                for entry in entries:
                    self._report_failure(entry, error)
                return
            for entry in entries:
                await self._keep([entry])

    def _report_failure(self, entry: QueryEntry, error: Exception) -> None:
        if isinstance(error, PartFailed):
            if error.retryable:  # otherwise the records work and the entry is bad
                self._alerts.report_failure(error.part, error.what)
            self._log_loss(entry, error.what)
        else:
            _log.error("a question could not be recorded", exc_info=error)
            self._log_loss(entry, "an error in the program")

    def _end(
        self, incoming: IncomingQuestion, record: QuestionRecord, error: BaseException | None
    ) -> None:
        if (outcome := record.outcome) is None:
            self._record(record.add_to(entry_of_failure(incoming)), _NONE, type(error).__name__)
        else:
            entry = entry_of_outcome(incoming, record.found, outcome)
            self._record(record.add_to(entry), outcome.timings)

    def _fail(
        self, incoming: IncomingQuestion, record: QuestionRecord, error: BaseException
    ) -> None:
        if isinstance(error, PartFailed):
            self._count_failure(error)
        self._record(record.add_to(entry_of_failure(incoming)), _NONE, type(error).__name__)

    def _count_failure(self, error: PartFailed) -> None:
        if error.retryable and error.is_unwell:
            self._alerts.report_failure(error.part, error.what)
        else:  # the watch reports what does not recover by itself, so that readers cannot trigger alerts
            self._metrics.count_failure(error.part)

    def _record(
        self, entry: QueryEntry, timings: Mapping[str, float], error: str | None = None
    ) -> None:
        self._metrics.count_question(entry, timings)
        _log.info("question", extra=_log_fields(entry, timings, error))
        try:
            self._waiting.put_nowait(entry)
        except asyncio.QueueFull:
            self._log_loss(entry, "too many are waiting")

    def _log_loss(self, entry: QueryEntry, reason: str) -> None:
        self._metrics.count_lost_entry()
        fields = {"request_id": str(entry.request_id)}
        _log.warning("a question was not recorded: %s", reason, extra=fields)


def _is_outage(error: Exception) -> bool:
    """Return True if another try right now would fail for any entry."""
    return isinstance(error, PartFailed) and error.retryable


def _short(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _log_fields(
    entry: QueryEntry, timings: Mapping[str, float], error: str | None
) -> dict[str, object]:
    """Return the log fields of a question: how it ended, not its words."""
    of_model = {"model": entry.model, "dropped": entry.sentences_dropped, "usd": entry.usd}
    return (of_model if entry.model else {}) | {
        "request_id": str(entry.request_id),
        "session_id": str(entry.session_id) if entry.session_id else None,
        "contract": entry.contract,
        "book": entry.book_id,
        "mode": entry.mode,
        "verdict": entry.refusal_type or entry.status,
        "error": error,
        "score": _short(entry.top_chunk_score),
        "cosine": _short(entry.raw_cosine),
        "borderline": entry.borderline,
        "chunks": entry.chunks_retrieved,
        "timings_ms": {stage: round(value, 1) for stage, value in timings.items()},
        "tokens": entry.tokens,
        "processing_ms": entry.processing_time_ms,
    }
