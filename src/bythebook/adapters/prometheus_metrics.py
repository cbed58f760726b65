"""Numbers for Prometheus."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bythebook.domain.access import WindowName
from bythebook.domain.answers import Fault, FaultKind, RefusalType
from bythebook.domain.books import Book
from bythebook.domain.records import ContractName, QueryEntry, QueryStatus
from bythebook.errors import PartFailed

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STAGES = ("retrieve", "judge", "compose")


class PrometheusMetrics:
    """Counts in a registry of its own, so that several services may live in one process."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # twice the page, for nobody
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "bythebook_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._request_seconds = _latency(
            "bythebook_request_seconds", "Time to answer a request.", "route", registry
        )
        self._questions = Counter(
            "bythebook_questions",
            "Questions by what became of them.",
            ("contract", "verdict"),
            registry=registry,
        )
        self._stage_seconds = _latency(
            "bythebook_stage_seconds", "Time of a stage of the answer path.", "stage", registry
        )
        self._refusals = _counter("refusals", "Questions refused, by type.", "type", registry)
        self._faults = Counter(
            "bythebook_sentence_faults",
            "Proposed sentences that were not as the book has it, by what was wrong and what became of them.",
            ("fault", "outcome"),
            registry=registry,
        )
        self._failures = _counter("part_failures", "Failures of parts.", "part", registry)
        self._limited = _counter("rate_limited", "Requests that met a limit.", "window", registry)
        self._tokens = Counter("bythebook_tokens", "Tokens of language models.", registry=registry)
        self._model_tokens = Counter(
            "bythebook_model_tokens",
            "Tokens of each language model, read and written.",
            ("model", "kind"),
            registry=registry,
        )
        self._model_usd = _counter(
            "model_usd", "Dollars, where the provider names a price.", "model", registry
        )
        self._model_sentences = Counter(
            "bythebook_model_sentences",
            "Sentences that each language model proposed: shown, or dropped by verification.",
            ("model", "outcome"),
            registry=registry,
        )
        self._lost = Counter(
            "bythebook_entries_lost", "Questions that were not recorded.", registry=registry
        )
        self._chunks = Gauge(
            "bythebook_index_chunks", "Chunks of a book.", ("book",), registry=registry
        )
        self._documents = Gauge(
            "bythebook_index_documents", "Documents of a book.", ("book",), registry=registry
        )
        self._start_at_zero()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request to a route, by its template."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def question(self, entry: QueryEntry, timings: Mapping[str, float]) -> None:
        """Count a question with its verdict, the milliseconds of its stages and what it cost."""
        self._questions.labels(entry.contract, entry.status).inc()
        if entry.refusal_type:
            self._refusals.labels(entry.refusal_type).inc()
        for stage, milliseconds in timings.items():
            self._stage_seconds.labels(stage).observe(milliseconds / 1000)
        self._tokens.inc(entry.tokens)
        if entry.model is not None:
            self._model_tokens.labels(entry.model, "prompt").inc(entry.prompt_tokens)
            self._model_tokens.labels(entry.model, "completion").inc(entry.completion_tokens)
            self._model_usd.labels(entry.model).inc(entry.usd or 0.0)

    def model_sentence(self, model: str, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed."""
        self._model_sentences.labels(model, "dropped" if dropped else "shown").inc()

    def sentence_fault(self, fault: Fault) -> None:
        """Count a proposed sentence that was dropped, or whose quotes had to be put right."""
        self._faults.labels(fault.kind, "dropped" if fault.dropped else "corrected").inc()

    def part_failed(self, part: str) -> None:
        """Count a failure of a part that answers depend on."""
        self._failures.labels(part).inc()

    def limited(self, window: WindowName) -> None:
        """Count a request that met a limit."""
        self._limited.labels(window).inc()

    def entry_lost(self) -> None:
        """Count a question that could not be recorded."""
        self._lost.inc()

    def page(self, books: Sequence[Book]) -> tuple[bytes, str]:
        """Write all numbers, the size of the books among them, and name their media type."""
        self._chunks.clear()  # a book that was removed leaves no number behind
        self._documents.clear()
        for book in books:
            self._chunks.labels(book.book_id).set(book.chunks)
            self._documents.labels(book.book_id).set(book.documents)
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def _start_at_zero(self) -> None:
        """Show what can be counted before it is: the first failure must be seen as a rise from 0."""
        for contract in get_args(ContractName):
            for verdict in get_args(QueryStatus):
                self._questions.labels(contract, verdict)
        for kind in get_args(FaultKind):
            for outcome in ("dropped", "corrected"):
                self._faults.labels(kind, outcome)
        known: tuple[tuple[Counter | Histogram, Sequence[str]], ...] = (
            (self._refusals, get_args(RefusalType)),
            (self._failures, sorted(set(_parts(PartFailed)))),
            (self._limited, get_args(WindowName)),
            (self._stage_seconds, _STAGES),
        )
        for metric, names in known:
            for name in names:
                metric.labels(name)


def _counter(name: str, text: str, label: str, registry: CollectorRegistry) -> Counter:
    return Counter(f"bythebook_{name}", text, (label,), registry=registry)


def _latency(name: str, text: str, label: str, registry: CollectorRegistry) -> Histogram:
    return Histogram(name, text, (label,), buckets=_SECONDS, registry=registry)


def _parts(error: type[PartFailed]) -> Iterator[str]:
    """Name every part whose failure has an error of its own."""
    for kind in error.__subclasses__():
        yield kind.part
        yield from _parts(kind)
