"""Source -> documents -> chunks -> vectors -> a published generation."""

import time
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bythebook.domain.books import Book, Chunk, SourceBook
from bythebook.ingest.chunk import cut_document
from bythebook.ingest.embed import BATCH, cached_vectors, embed_missing, missing_vectors
from bythebook.ingest.report import IngestReport, OnProgress, Progress
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

    source: Path
    book_id: str
    title: str | None = None
    base_url: str | None = None
    dry_run: bool = False

    @property
    def source_name(self) -> str:
        """Where the book comes from, told from other folders of the same name."""
        return str(self.source.resolve())


async def ingest(order: IngestOrder, ports: IngestPorts, on_progress: OnProgress) -> IngestReport:
    """Make a new generation of a book beside the live one, then switch to it."""
    started = time.monotonic()
    if order.dry_run:
        source, chunks = _read(order, ports, on_progress)
        missing = missing_vectors(chunks, ports.embedder, ports.cache)
        return _report(order, ports, source, chunks, missing, started)
    generation = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    with ports.press.edition(order.book_id, generation, ports.embedder) as edition:
        source, chunks = _read(order, ports, on_progress)
        missing = missing_vectors(chunks, ports.embedder, ports.cache)
        report = _report(order, ports, source, chunks, missing, started)
        await _embed(missing, ports, on_progress)
        _fill(edition, chunks, ports)
        on_progress(Progress("publishing", 0, 1))
        edition.publish(_manifest(order, generation, source, report, ports), source.documents)
        on_progress(Progress("publishing", 1, 1))
    return replace(report, seconds=time.monotonic() - started)


def _read(
    order: IngestOrder, ports: IngestPorts, on_progress: OnProgress
) -> tuple[SourceBook, list[Chunk]]:
    on_progress(Progress("reading", 0, 0))
    source = ports.reader.read(order.source, title=order.title, base_url=order.base_url)
    chunks: list[Chunk] = []
    for number, document in enumerate(source.documents, 1):
        chunks.extend(cut_document(order.book_id, document, ports.embedder.count_tokens))
        on_progress(Progress("reading", number, len(source.documents)))
    return source, chunks


async def _embed(missing: list[Chunk], ports: IngestPorts, on_progress: OnProgress) -> None:
    done = tokens = 0
    on_progress(Progress("embedding", 0, len(missing)))
    async for batch in embed_missing(missing, ports.embedder, ports.cache):
        done += len(batch)
        tokens += sum(chunk.token_count for chunk in batch)
        on_progress(Progress("embedding", done, len(missing), tokens))


def _fill(edition: Edition, chunks: list[Chunk], ports: IngestPorts) -> None:
    for start in range(0, len(chunks), BATCH * 8):
        batch = chunks[start : start + BATCH * 8]
        edition.add(batch, cached_vectors(batch, ports.embedder, ports.cache))


def _report(
    order: IngestOrder,
    ports: IngestPorts,
    source: SourceBook,
    chunks: list[Chunk],
    missing: list[Chunk],
    started: float,
) -> IngestReport:
    live = ports.press.chunk_ids(order.book_id)
    ids = {chunk.chunk_id for chunk in chunks}
    return IngestReport(
        book_id=order.book_id,
        title=source.title,
        reader=source.reader,
        documents=len(source.documents),
        characters=sum(len(document.text) for document in source.documents),
        chunks=len(chunks),
        added=len(ids - live),
        kept=len(ids & live),
        removed=len(live - ids),
        embedded=len(missing),
        tokens=sum(chunk.token_count for chunk in missing),
        seconds=time.monotonic() - started,
        published=not order.dry_run,
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
        documents=report.documents,
        chunks=report.chunks,
        characters=report.characters,
        source=order.source_name,
        published_at=datetime.now(UTC).isoformat(timespec="seconds"),
        base_url=source.base_url,
    )
