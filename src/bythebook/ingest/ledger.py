"""Tracks a run: which chunks are new, kept and removed, and the result for every document."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bythebook.domain.books import Chunk, CutDocument, LiveBook, Skipped, SourceBook
from bythebook.domain.reports import DocumentReport
from bythebook.ingest.duplicates import DuplicateFilter
from bythebook.ingest.read import ReadDocument, compute_cut_hash
from bythebook.ingest.report import report_document
from bythebook.ports import Embedder

# With a smaller share of unchanged chunks, the index is rebuilt instead of updated.
MIN_UNCHANGED_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """Numbers of chunks compared with the live generation."""

    chunks: int
    added: int
    kept: int
    removed: int


class Ledger:
    """Compares a book, document by document, with its live generation."""

    def __init__(
        self, book_id: str, source: SourceBook, live: LiveBook, embedder: Embedder
    ) -> None:
        self._book_id = book_id
        self._live = live
        marks = {compute_cut_hash(document, embedder) for document in source.documents}
        changed = [cut for mark, cut in live.documents.items() if mark not in marks]
        self._old_chunks: dict[str, Chunk] = {}
        for cut in changed:
            for chunk in cut.chunks(book_id):
                self._old_chunks.setdefault(
                    chunk.chunk_id, chunk
                )  # the first of equal chunks is indexed
        kept = sum(len(cut.cuts) for mark, cut in live.documents.items() if mark in marks)
        self.updates_live = bool(live.chunk_ids) and kept >= MIN_UNCHANGED_SHARE * len(
            live.chunk_ids
        )
        self.done, self.total = 0, len(source.documents)
        self._duplicate_filter = DuplicateFilter()
        self._ids: set[str] = set()
        self.documents: list[CutDocument] = []
        self.skipped: list[Skipped] = list(source.skipped)
        self._reports: list[DocumentReport] = []

    def add(self, reading: ReadDocument | Skipped) -> list[Chunk]:
        """Add a document; return the chunks to write into the new generation."""
        self.done += 1
        if isinstance(reading, Skipped):
            self.skipped.append(reading)
            return []
        chunks = reading.cut.chunks(self._book_id)
        indexed, left_out = self._duplicate_filter.split(chunks)
        self.documents.append(reading.cut)
        self._reports.append(
            report_document(
                reading.cut.document, indexed, left_out, seconds=reading.seconds, kept=reading.kept
            )
        )
        self._ids.update(chunk.chunk_id for chunk in indexed)
        self._old_chunks.update((chunk.chunk_id, chunk) for chunk, _ in left_out if reading.kept)
        if not self.updates_live:
            return indexed
        return [chunk for chunk in indexed if not self._is_in_place(chunk, kept=reading.kept)]

    def find_removed(self) -> list[Chunk]:
        """Return the chunks of the live generation that the new one does not have."""
        return [self._old_chunks[name] for name in self._live.chunk_ids - self._ids]

    def count_chunks(self) -> ChunkCounts:
        """Compare the new generation with the live one."""
        live, ids = self._live.chunk_ids, self._ids
        return ChunkCounts(len(ids), len(ids - live), len(ids & live), len(live - ids))

    def make_reports(self, embedding_seconds: Mapping[str, float]) -> tuple[DocumentReport, ...]:
        """Return the report of every document, with its share of the embedding time."""
        return tuple(
            replace(report, seconds=report.seconds + embedding_seconds.get(report.document_id, 0))
            for report in self._reports
        )

    def _is_in_place(self, chunk: Chunk, *, kept: bool) -> bool:
        """Return True if the live generation has the same chunk at the same offsets."""
        return chunk.chunk_id in self._live.chunk_ids and (
            kept or self._old_chunks.get(chunk.chunk_id) == chunk
        )
