"""Ingests a book: source, documents, chunks, vectors, and a published generation."""

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bythebook.domain.books import Book, Chunk, LiveBook, Skipped, SourceBook
from bythebook.domain.reports import IngestReport
from bythebook.errors import UnreadableBook
from bythebook.ingest.embed import count_embedded_tokens, find_missing_vectors
from bythebook.ingest.fill import EmbeddingWork, GenerationFiller
from bythebook.ingest.ledger import Ledger
from bythebook.ingest.read import ReadDocument, iterate_ahead, read_documents, run_in_background
from bythebook.ingest.report import OnProgress, Progress, find_broken_links, find_lost_pictures
from bythebook.ingest.survival import count_survivors, find_recent_citations
from bythebook.ports import (
    BookReader,
    Embedder,
    GenerationDraft,
    IndexWriter,
    RecentCitations,
    VectorCache,
)


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """The parts an ingest run needs."""

    reader: BookReader
    embedder: Embedder
    cache: VectorCache
    index_writer: IndexWriter
    recent_citations: RecentCitations | None = None


@dataclass(frozen=True, slots=True)
class IngestOrder:
    """What to ingest, and as which book."""

    source: str  # a path or an address
    book_id: str
    title: str | None = None
    base_url: str | None = None
    dry_run: bool = False
    strict: bool = False  # nothing is published if any part of the source cannot be read

    @property
    def source_name(self) -> str:
        """The absolute source, which distinguishes folders of the same name."""
        full = self.source if "://" in self.source else os.path.realpath(self.source)
        return full.encode("utf-8", "replace").decode()


async def ingest(order: IngestOrder, ports: IngestPorts, on_progress: OnProgress) -> IngestReport:
    """Build a new generation of a book next to the live one, then switch to it."""
    ports.index_writer.require_id(order.book_id)
    started = time.perf_counter()
    if order.dry_run:
        return await _dry_run(order, ports, on_progress, started)
    generation = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    with ports.index_writer.open_draft(order.book_id, generation, ports.embedder) as draft:
        source = await _open_source(order, ports, on_progress)
        live = await asyncio.to_thread(ports.index_writer.live, order.book_id, ports.embedder)
        ledger = Ledger(order.book_id, source, live, ports.embedder)
        ledger.updates_live = ledger.updates_live and draft.start_from_live()
        readings = _read_all(order, source, live, ports)
        work = await _fill(draft, readings, ledger, ports, on_progress)
        _require_text(order, ledger)
        on_progress(Progress("publishing", 0, 1))
        if ledger.updates_live:
            draft.drop(ledger.find_removed())
        report = _make_report(order, ports, source, ledger, work, started)
        report = await _with_citations(report, order, ports, live, ledger)
        book = _make_manifest(order, generation, source, report, ports)
        await _run_to_completion(
            lambda: draft.publish(book, ledger.documents, report, source.load_picture)
        )
        on_progress(Progress("publishing", 1, 1))
    return replace(report, seconds=time.perf_counter() - started)


async def _dry_run(
    order: IngestOrder, ports: IngestPorts, on_progress: OnProgress, started: float
) -> IngestReport:
    """Report what a run would do, without changing anything."""
    source = await _open_source(order, ports, on_progress)
    live = ports.index_writer.live(order.book_id, ports.embedder)
    ledger = Ledger(order.book_id, source, live, ports.embedder)
    chunks: list[Chunk] = []
    async with aclosing(iterate_ahead(_read_all(order, source, live, ports))) as readings:
        async for reading in readings:
            chunks.extend(ledger.add(reading))
            on_progress(Progress("reading", ledger.done, ledger.total))
    _require_text(order, ledger)
    missing = find_missing_vectors(chunks, ports.embedder, ports.cache)
    work = EmbeddingWork(len(missing), count_embedded_tokens(missing, ports.embedder))
    report = _make_report(order, ports, source, ledger, work, started)
    return await _with_citations(report, order, ports, live, ledger)


async def _with_citations(
    report: IngestReport, order: IngestOrder, ports: IngestPorts, live: LiveBook, ledger: Ledger
) -> IngestReport:
    ids = await find_recent_citations(order.book_id, live, ports.recent_citations)
    documents = [cut.document for cut in ledger.documents]
    survival = await asyncio.to_thread(count_survivors, ids, live, documents)
    return replace(report, citations=survival)


async def _open_source(
    order: IngestOrder, ports: IngestPorts, on_progress: OnProgress
) -> SourceBook:
    on_progress(Progress("reading", 0, 0))
    source = await run_in_background(
        lambda: ports.reader.read(order.source, title=order.title, base_url=order.base_url)
    )
    on_progress(Progress("reading", 0, len(source.documents), reader=source.reader))
    if order.strict and source.skipped:
        raise _make_error(order, source.skipped)
    return source


def _read_all(
    order: IngestOrder, source: SourceBook, live: LiveBook, ports: IngestPorts
) -> Iterator[ReadDocument | Skipped]:
    for reading in read_documents(source, live, ports.embedder):
        if order.strict and isinstance(reading, Skipped):
            raise _make_error(order, [reading])
        yield reading


async def _fill(
    draft: GenerationDraft,
    readings: Iterator[ReadDocument | Skipped],
    ledger: Ledger,
    ports: IngestPorts,
    on_progress: OnProgress,
) -> EmbeddingWork:
    """Embed and write documents while others are still being read."""
    async with GenerationFiller(draft, ports.embedder, ports.cache, on_progress) as filler:
        async with aclosing(iterate_ahead(readings)) as coming:
            async for reading in coming:
                filler.add(ledger.add(reading))
                on_progress(Progress("reading", ledger.done, ledger.total))
        return await filler.finish()


async def _run_to_completion(step: Callable[[], None]) -> None:
    """Run a step to its end, even if the run is cancelled meanwhile."""
    task = asyncio.ensure_future(asyncio.to_thread(step))
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def _require_text(order: IngestOrder, ledger: Ledger) -> None:
    if ledger.count_chunks().chunks:
        return
    if ledger.skipped:
        raise _make_error(order, ledger.skipped)
    raise UnreadableBook(
        f"{order.source} has no text to read.", "Choose a book that contains text."
    )


def _make_error(order: IngestOrder, skipped: Sequence[Skipped]) -> UnreadableBook:
    more = f" ({len(skipped) - 1} more)" if len(skipped) > 1 else ""
    return UnreadableBook(
        f"{order.source} cannot be read: {skipped[0].name}: {skipped[0].reason}{more}",
        "Nothing was published; correct it and run again.",
    )


def _make_report(
    order: IngestOrder,
    ports: IngestPorts,
    source: SourceBook,
    ledger: Ledger,
    work: EmbeddingWork,
    started: float,
) -> IngestReport:
    counts = ledger.count_chunks()
    return IngestReport(
        book_id=order.book_id,
        title=source.title,
        reader=source.reader,
        source=order.source_name,
        chunks=counts.chunks,
        added=counts.added,
        kept=counts.kept,
        removed=counts.removed,
        embedded=work.computed,
        tokens=work.tokens,
        cost_usd=work.tokens * ports.embedder.usd_per_million_tokens / 1e6,
        seconds=time.perf_counter() - started,
        published=not order.dry_run,
        documents=ledger.make_reports(work.seconds),
        skipped=tuple(ledger.skipped),
        broken_links=find_broken_links([cut.document for cut in ledger.documents]),
        lost_pictures=find_lost_pictures([cut.document for cut in ledger.documents]),
        warnings=source.warnings,
    )


def _make_manifest(
    order: IngestOrder,
    generation: str,
    source: SourceBook,
    report: IngestReport,
    ports: IngestPorts,
) -> Book:
    return Book(
        book_id=order.book_id,
        title=source.title,
        generation=generation,
        embedding_model=ports.embedder.model_id,
        documents=len(report.documents),
        chunks=report.chunks,
        characters=report.characters,
        source=order.source_name,
        published_at=datetime.now(UTC).isoformat(timespec="seconds"),
        base_url=source.base_url,
    )
