"""Source -> documents -> chunks -> vectors -> a published generation."""

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
from bythebook.ingest.embed import count_read, missing_vectors
from bythebook.ingest.fill import Filling, Work
from bythebook.ingest.ledger import Ledger
from bythebook.ingest.read import Reading, ahead, in_background, read_documents
from bythebook.ingest.report import OnProgress, Progress, find_broken_links
from bythebook.ports import BookReader, Edition, Embedder, Press, VectorCache


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """The parts an ingest run needs."""

    reader: BookReader
    embedder: Embedder
    cache: VectorCache
    press: Press


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
        """Where the book comes from, told from other folders of the same name."""
        full = self.source if "://" in self.source else os.path.realpath(self.source)
        return full.encode("utf-8", "replace").decode()


async def ingest(order: IngestOrder, ports: IngestPorts, on_progress: OnProgress) -> IngestReport:
    """Make a new generation of a book beside the live one, then switch to it."""
    ports.press.require_id(order.book_id)
    started = time.perf_counter()
    if order.dry_run:
        return await _rehearse(order, ports, on_progress, started)
    generation = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    with ports.press.edition(order.book_id, generation, ports.embedder) as edition:
        source = await _lay_out(order, ports, on_progress)
        live = await asyncio.to_thread(ports.press.live, order.book_id, ports.embedder)
        ledger = Ledger(order.book_id, source, live, ports.embedder)
        ledger.mends = ledger.mends and edition.start_from_live()
        readings = _readings(order, source, live, ports)
        work = await _fill(edition, readings, ledger, ports, on_progress)
        _require_text(order, ledger)
        on_progress(Progress("publishing", 0, 1))
        if ledger.mends:
            edition.drop(ledger.gone())
        report = _report(order, ports, source, ledger, work, started)
        book = _manifest(order, generation, source, report, ports)
        await _to_its_end(lambda: edition.publish(book, ledger.documents, report))
        on_progress(Progress("publishing", 1, 1))
    return replace(report, seconds=time.perf_counter() - started)


async def _rehearse(
    order: IngestOrder, ports: IngestPorts, on_progress: OnProgress, started: float
) -> IngestReport:
    """Say what a run would do, changing nothing."""
    source = await _lay_out(order, ports, on_progress)
    live = ports.press.live(order.book_id, ports.embedder)
    ledger = Ledger(order.book_id, source, live, ports.embedder)
    chunks: list[Chunk] = []
    async with aclosing(ahead(_readings(order, source, live, ports))) as readings:
        async for reading in readings:
            chunks.extend(ledger.enter(reading))
            on_progress(Progress("reading", ledger.entered, ledger.expected))
    _require_text(order, ledger)
    missing = missing_vectors(chunks, ports.embedder, ports.cache)
    work = Work(len(missing), count_read(missing, ports.embedder))
    return _report(order, ports, source, ledger, work, started)


async def _lay_out(order: IngestOrder, ports: IngestPorts, on_progress: OnProgress) -> SourceBook:
    on_progress(Progress("reading", 0, 0))
    source = await in_background(
        lambda: ports.reader.read(order.source, title=order.title, base_url=order.base_url)
    )
    on_progress(Progress("reading", 0, len(source.documents), reader=source.reader))
    if order.strict and source.skipped:
        raise _unreadable(order, source.skipped)
    return source


def _readings(
    order: IngestOrder, source: SourceBook, live: LiveBook, ports: IngestPorts
) -> Iterator[Reading | Skipped]:
    for reading in read_documents(source, live, ports.embedder):
        if order.strict and isinstance(reading, Skipped):
            raise _unreadable(order, [reading])
        yield reading


async def _fill(
    edition: Edition,
    readings: Iterator[Reading | Skipped],
    ledger: Ledger,
    ports: IngestPorts,
    on_progress: OnProgress,
) -> Work:
    """Embed and write what was read while the rest is being read."""
    async with Filling(edition, ports.embedder, ports.cache, on_progress) as filling:
        async with aclosing(ahead(readings)) as coming:
            async for reading in coming:
                filling.take(ledger.enter(reading))
                on_progress(Progress("reading", ledger.entered, ledger.expected))
        return await filling.finish()


async def _to_its_end(step: Callable[[], None]) -> None:
    """Do a step that must not be left half done: whoever breaks the run off now comes too late."""
    task = asyncio.ensure_future(asyncio.to_thread(step))
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def _require_text(order: IngestOrder, ledger: Ledger) -> None:
    if ledger.counts().chunks:
        return
    if ledger.skipped:
        raise _unreadable(order, ledger.skipped)
    raise UnreadableBook(
        f"{order.source} has no text to read.", "Give a book with some words in it."
    )


def _unreadable(order: IngestOrder, skipped: Sequence[Skipped]) -> UnreadableBook:
    more = f" ({len(skipped) - 1} more)" if len(skipped) > 1 else ""
    return UnreadableBook(
        f"{order.source} cannot be read: {skipped[0].name}: {skipped[0].reason}{more}",
        "Nothing was published; put it right and run again.",
    )


def _report(
    order: IngestOrder,
    ports: IngestPorts,
    source: SourceBook,
    ledger: Ledger,
    work: Work,
    started: float,
) -> IngestReport:
    counts = ledger.counts()
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
        documents=ledger.reports(work.seconds),
        skipped=tuple(ledger.skipped),
        broken_links=find_broken_links([cut.document for cut in ledger.documents]),
        warnings=source.warnings,
    )


def _manifest(
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
