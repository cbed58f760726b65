"""How the books were last read."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from bythebook.domain.books import Book
from bythebook.domain.reports import DocumentReport, IngestReport
from bythebook.operate.insight import ReadBook

LEAST_COVERED = 10  # pages listed


class SkippedModel(BaseModel):
    """A part of the source that was not read."""

    name: str
    reason: str


class LeftOutModel(BaseModel):
    """Characters that are not in the index, and why."""

    reason: str
    characters: int


class PageCoverage(BaseModel):
    """A page of the book and how much of it is in the index."""

    document_id: str
    title: str
    characters: int
    coverage: float
    chunks: int


class IngestModel(BaseModel):
    """How a book was last read."""

    book_id: str
    title: str
    published_at: str
    documents: int
    chunks: int
    reader: str | None = Field(description="The reader; null if the report is gone.")
    characters: int | None = Field(description="Visible characters, without white space.")
    coverage: float | None = Field(description="Share of these that is in the index.")
    added: int | None = Field(description="Chunks that were new.")
    kept: int | None = Field(description="Chunks that were kept.")
    removed: int | None = Field(description="Chunks that were removed.")
    seconds: float | None = Field(description="How long it took.")
    left_out: list[LeftOutModel]
    skipped: list[SkippedModel]
    broken_links: int
    warnings: list[str]
    least_covered: list[PageCoverage] = Field(description="The ten pages with the lowest coverage.")


class IngestsModel(BaseModel):
    """How the books were last read, newest first."""

    books: list[IngestModel]


def to_ingests(read: Sequence[ReadBook]) -> IngestsModel:
    """Write ingest reports."""
    return IngestsModel(books=[_ingest(one.book, one.report) for one in read])


def _ingest(book: Book, report: IngestReport | None) -> IngestModel:
    return IngestModel(
        book_id=book.book_id,
        title=book.title,
        published_at=book.published_at,
        documents=book.documents,
        chunks=book.chunks,
        reader=report and report.reader,
        characters=report and report.characters,
        coverage=report and report.coverage,
        added=report and report.added,
        kept=report and report.kept,
        removed=report and report.removed,
        seconds=report and report.seconds,
        left_out=[
            LeftOutModel(reason=reason, characters=count)
            for reason, count in (report.left_out if report else {}).items()
        ],
        skipped=[
            SkippedModel(name=one.name, reason=one.reason)
            for one in (report.skipped if report else ())
        ],
        broken_links=len(report.broken_links) if report else 0,
        warnings=list(report.warnings) if report else [],
        least_covered=_least_covered(report.documents if report else ()),
    )


def _least_covered(documents: Sequence[DocumentReport]) -> list[PageCoverage]:
    return [
        PageCoverage(
            document_id=one.document_id,
            title=one.title,
            characters=one.characters,
            coverage=one.coverage,
            chunks=one.chunks,
        )
        for one in sorted(documents, key=lambda one: one.coverage)[:LEAST_COVERED]
        if one.coverage < 1
    ]
