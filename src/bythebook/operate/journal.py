"""What became of each question, told to the log, the metrics and the records, off the answer's path."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bythebook.ask.bill import Bill
from bythebook.domain.answers import Fault, Outcome, Passage
from bythebook.domain.records import QueryEntry
from bythebook.errors import InputError, PartFailed
from bythebook.operate.alerts import Alerts
from bythebook.operate.asked import Asked
from bythebook.operate.entry import ended_entry, failed_entry
from bythebook.operate.model_watch import ModelWatch
from bythebook.ports import Metrics, QueryLog

_log = logging.getLogger("bythebook.questions")
MOST_WAITING = 1000  # entries; beyond it the records are too slow to keep up, and entries are lost
MOST_TOGETHER = 100  # entries written in one transaction, which costs little more than one
SETTLE_SECONDS = 5.0
_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(slots=True)
class Note:
    """What is known of a question while it is answered."""

    found: Sequence[Passage] = ()
    outcome: Outcome | None = None
    model: str | None = None  # that writes; none: the book's own words
    shown: int = 0  # of the sentences that it proposed
    dropped: int = 0
    bill: Bill = field(default_factory=Bill)

    def on(self, entry: QueryEntry) -> QueryEntry:
        """Add to an entry what a language model did for it."""
        usage = self.bill.usage
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
    """Keeps entries in the order they came, by one writer that no answer waits for."""

    def __init__(
        self,
        records: QueryLog,
        metrics: Metrics,
        alerts: Alerts | None = None,
        watch: ModelWatch | None = None,
    ) -> None:
        self._records = records
        self._metrics = metrics
        self._alerts = alerts or Alerts(metrics)
        self._watch = watch or ModelWatch()
        self._waiting: asyncio.Queue[QueryEntry | asyncio.Event] = asyncio.Queue(MOST_WAITING)

    @contextmanager
    def noting(self, asked: Asked) -> Iterator[Note]:
        """Note what becomes of a question within a with block, however that is left."""
        note = Note()
        try:
            yield note
        except InputError:
            raise  # the caller's mistake, of which the caller is told
        except (asyncio.CancelledError, GeneratorExit) as error:  # the reader left: before the end?
            self._end(asked, note, error)
            raise
        except BaseException as error:
            self._fail(asked, note, error)
            raise
        else:
            self._end(asked, note, None)

    def fault(self, asked: Asked, fault: Fault) -> None:
        """Count a proposed sentence that the passages did not bear out as it was; never its words."""
        self._metrics.sentence_fault(fault)
        told = {"request_id": str(asked.request_id), "fault": fault.kind, "dropped": fault.dropped}
        _log.info("sentence fault", extra=told)

    def sentence(self, note: Note, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed, if one did."""
        if note.model is None:
            return
        note.dropped += dropped
        note.shown += not dropped
        self._metrics.model_sentence(note.model, dropped=dropped)
        self._watch.sentence(note.model, dropped=dropped)

    async def settled(self, most_seconds: float | None = None) -> None:
        """Wait until what was noted so far is kept, or the records prove too slow."""
        reached = asyncio.Event()
        try:
            self._waiting.put_nowait(reached)
            async with asyncio.timeout(SETTLE_SECONDS if most_seconds is None else most_seconds):
                await reached.wait()
        except (asyncio.QueueFull, TimeoutError):
            return

    async def run(self) -> None:
        """Write until cancelled; what is still waiting then is lost, and said to be."""
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
                    self._lost(left, "the service stopped")

    async def _keep(self, entries: Sequence[QueryEntry]) -> None:
        """Write all together; where that fails each by itself, so that one costs no other."""
        if not entries:
            return
        try:
            await self._records.log(*entries)
        except Exception as error:  # noqa: BLE001 - one entry that breaks must not stop the writer
            if len(entries) == 1 or _is_outage(error):
                for entry in entries:
                    self._failed_to_keep(entry, error)
                return
            for entry in entries:
                await self._keep([entry])

    def _failed_to_keep(self, entry: QueryEntry, error: Exception) -> None:
        if isinstance(error, PartFailed):
            if error.retryable:  # else the records are well, and the entry is not
                self._alerts.failed(error.part, error.what)
            self._lost(entry, error.what)
        else:
            _log.error("a question could not be recorded", exc_info=error)
            self._lost(entry, "a defect of ours")

    def _end(self, asked: Asked, note: Note, error: BaseException | None) -> None:
        if (outcome := note.outcome) is None:
            self._record(note.on(failed_entry(asked)), _NONE, type(error).__name__)
        else:
            self._record(note.on(ended_entry(asked, note.found, outcome)), outcome.timings)

    def _fail(self, asked: Asked, note: Note, error: BaseException) -> None:
        if isinstance(error, PartFailed):
            if error.retryable and error.is_unwell:
                self._alerts.failed(error.part, error.what)
            else:  # does not mend by itself: the watch tells of it, lest any reader could call
                self._metrics.part_failed(error.part)
        self._record(note.on(failed_entry(asked)), _NONE, type(error).__name__)

    def _record(
        self, entry: QueryEntry, timings: Mapping[str, float], error: str | None = None
    ) -> None:
        self._metrics.question(entry, timings)
        _log.info("question", extra=_told(entry, timings, error))
        try:
            self._waiting.put_nowait(entry)
        except asyncio.QueueFull:
            self._lost(entry, "too many are waiting")

    def _lost(self, entry: QueryEntry, reason: str) -> None:
        self._metrics.entry_lost()
        told = {"request_id": str(entry.request_id)}
        _log.warning("a question was not recorded: %s", reason, extra=told)


def _is_outage(error: Exception) -> bool:
    """Whether trying again at once would fail again, whichever entry is tried."""
    return isinstance(error, PartFailed) and error.retryable


def _short(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _told(entry: QueryEntry, timings: Mapping[str, float], error: str | None) -> dict[str, object]:
    """Give what the log says of a question: how it went, not its words."""
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
