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
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        counter, latency = self._counter, self._latency
        self._requests = counter(
            "requests", "Requests by route and status.", "method", "route", "status"
        )
        self._request_seconds = latency("request", "Time to answer a request.", "route")
        self._questions = counter(
            "questions", "Questions by what became of them.", "contract", "verdict"
        )
        self._stage_seconds = latency("stage", "Time of a stage of the answer path.", "stage")
        self._refusals = counter("refusals", "Questions refused, by type.", "type")
        self._faults = counter(
            "sentence_faults",
            "Proposed sentences that were not as the book has it, by what was wrong and what became of them.",
            "fault",
            "outcome",
        )
        self._failures = counter("part_failures", "Failures of parts.", "part")
        self._limited = counter("rate_limited", "Requests that met a limit.", "window")
        self._tokens = counter("tokens", "Tokens of language models.")
        self._model_tokens = counter(
            "model_tokens", "Tokens of each language model, read and written.", "model", "kind"
        )
        self._model_usd = counter(
            "model_usd", "Dollars, where the provider names a price.", "model"
        )
        self._model_sentences = counter(
            "model_sentences",
            "Sentences that each language model proposed: shown, or dropped by verification.",
            "model",
            "outcome",
        )
        self._excerpts = counter(
            "model_excerpts",
            "Questions that went on without a language model: it failed, or no line of it stood.",
            "model",
            "reason",
        )
        self._lost = counter("entries_lost", "Questions that were not recorded.")
        self._overloaded = counter("overloaded", "Questions refused because too many were waiting.")
        self._chunks = self._size("chunks", "Chunks of a book.")
        self._documents = self._size("documents", "Documents of a book.")
        self._start_at_zero()

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request to a route, by its template."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def count_question(self, entry: QueryEntry, timings: Mapping[str, float]) -> None:
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

    def count_model_sentence(self, model: str, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed."""
        self._model_sentences.labels(model, "dropped" if dropped else "shown").inc()

    def count_excerpt(self, model: str, *, failed: bool) -> None:
        """Count a question that went on without a language model."""
        self._excerpts.labels(model, "failed" if failed else "nothing stood").inc()

    def count_fault(self, fault: Fault) -> None:
        """Count a proposed sentence that was dropped, or whose quotes had to be put right."""
        self._faults.labels(fault.kind, "dropped" if fault.dropped else "corrected").inc()

    def count_failure(self, part: str) -> None:
        """Count a failure of a part that answers depend on."""
        self._failures.labels(part).inc()

    def count_limited(self, window: WindowName) -> None:
        """Count a request that met a limit."""
        self._limited.labels(window).inc()

    def count_overload(self) -> None:
        """Count a question that was refused because too many were waiting."""
        self._overloaded.inc()

    def count_lost_entry(self) -> None:
        """Count a question that could not be recorded."""
        self._lost.inc()

    def write_page(self, books: Sequence[Book]) -> tuple[bytes, str]:
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

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"bythebook_{name}", text, labels, registry=self._registry)

    def _latency(self, name: str, text: str, label: str) -> Histogram:
        name = f"bythebook_{name}_seconds"
        return Histogram(name, text, (label,), buckets=_SECONDS, registry=self._registry)

    def _size(self, name: str, text: str) -> Gauge:
        return Gauge(f"bythebook_index_{name}", text, ("book",), registry=self._registry)


def _parts(error: type[PartFailed]) -> Iterator[str]:
    """Name every part whose failure has an error of its own."""
    for kind in error.__subclasses__():
        yield kind.part
        yield from _parts(kind)
