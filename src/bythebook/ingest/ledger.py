"""What a run keeps account of: which chunks are new, kept and gone, and what became of every document."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bythebook.domain.books import Chunk, CutDocument, LiveBook, Skipped, SourceBook
from bythebook.domain.reports import DocumentReport
from bythebook.ingest.distinct import Distinct
from bythebook.ingest.read import Reading, cut_mark
from bythebook.ingest.report import report_document
from bythebook.ports import Embedder

# Below this share of unchanged chunks an index is made anew rather than mended.
WORTH_MENDING = 0.8


@dataclass(frozen=True, slots=True)
class Counts:
    """Chunks, compared with the live generation."""

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
        marks = {cut_mark(document, embedder) for document in source.documents}
        changed = [cut for mark, cut in live.documents.items() if mark not in marks]
        self._old: dict[str, Chunk] = {}
        for cut in changed:
            for chunk in cut.chunks(book_id):
                self._old.setdefault(chunk.chunk_id, chunk)  # of equal ones the first is indexed
        kept = sum(len(cut.cuts) for mark, cut in live.documents.items() if mark in marks)
        self.mends = bool(live.chunk_ids) and kept >= WORTH_MENDING * len(live.chunk_ids)
        self.entered, self.expected = 0, len(source.documents)
        self._distinct = Distinct()
        self._ids: set[str] = set()
        self.documents: list[CutDocument] = []
        self.skipped: list[Skipped] = list(source.skipped)
        self._reports: list[DocumentReport] = []

    def enter(self, reading: Reading | Skipped) -> list[Chunk]:
        """Enter a document; gives the chunks that must be put into the new generation."""
        self.entered += 1
        if isinstance(reading, Skipped):
            self.skipped.append(reading)
            return []
        chunks = reading.cut.chunks(self._book_id)
        indexed, left_out = self._distinct.sort(chunks)
        self.documents.append(reading.cut)
        self._reports.append(
            report_document(
                reading.cut.document, indexed, left_out, seconds=reading.seconds, kept=reading.kept
            )
        )
        self._ids.update(chunk.chunk_id for chunk in indexed)
        self._old.update((chunk.chunk_id, chunk) for chunk, _ in left_out if reading.kept)
        if not self.mends:
            return indexed
        return [chunk for chunk in indexed if not self._is_in_place(chunk, kept=reading.kept)]

    def gone(self) -> list[Chunk]:
        """Give the chunks of the live generation that the new one does not have."""
        return [self._old[name] for name in self._live.chunk_ids - self._ids]

    def counts(self) -> Counts:
        """Compare the new generation with the live one."""
        live, ids = self._live.chunk_ids, self._ids
        return Counts(len(ids), len(ids - live), len(ids & live), len(live - ids))

    def reports(self, embedding_seconds: Mapping[str, float]) -> tuple[DocumentReport, ...]:
        """Account for every document, with its share of the time that embedding took."""
        return tuple(
            replace(report, seconds=report.seconds + embedding_seconds.get(report.document_id, 0))
            for report in self._reports
        )

    def _is_in_place(self, chunk: Chunk, *, kept: bool) -> bool:
        """Say whether the live generation has a chunk just so: an edit above it moves its offsets."""
        return chunk.chunk_id in self._live.chunk_ids and (
            kept or self._old.get(chunk.chunk_id) == chunk
        )
