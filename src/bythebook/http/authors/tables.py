"""Data of the author's page -> rows of a table, headings first."""

from collections.abc import Iterable, Iterator

from bythebook.http.authors.csv_export import Cell
from bythebook.http.authors.models.figures import BinModel, CitedModel, LatencyDay
from bythebook.http.authors.models.ingests import IngestModel
from bythebook.http.authors.models.overview import OverviewModel
from bythebook.http.authors.models.questions import QuestionModel
from bythebook.http.authors.models.sections import NearModel
from bythebook.http.authors.models.unanswered import UnansweredModel

Row = tuple[Cell, ...]
QUESTION_HEAD: Row = (
    "asked_at",
    "question",
    "book",
    "contract",
    "mode",
    "status",
    "refusal_type",
    "score",
    "took_ms",
    "cited",
    "nearest_chapter",
    "nearest_section",
    "nearest_url",
    "helpful",
    "reason",
)


def write_day_rows(overview: OverviewModel) -> Iterator[Row]:
    """Write one row per day."""
    yield (
        "day", "questions", "answered", "refused", "empty_retrieval", "low_relevance",
        "insufficient_grounding", "selected_text_missing", "failed", "helpful", "not_helpful",
    )  # fmt: skip
    for one in overview.days:
        kinds = one.refusals
        yield (
            one.day.isoformat(), one.questions, one.answered, one.refused, kinds.empty_retrieval,
            kinds.low_relevance, kinds.insufficient_grounding, kinds.selected_text_missing,
            one.failed, one.helpful, one.not_helpful,
        )  # fmt: skip


def write_unanswered_rows(found: UnansweredModel) -> Iterator[Row]:
    """Write one row per group."""
    yield (
        "question", "times", "last_asked", "wordings", "nearest_book", "nearest_chapter",
        "nearest_section", "nearest_url",
    )  # fmt: skip
    for group in found.groups:
        book = group.nearest.book_id if group.nearest else None
        near = (book, *_nearest_cells(group.nearest))
        wordings = " | ".join(group.wordings)
        yield (group.question, group.times, group.last_asked.isoformat(), wordings, *near)


def write_cited_rows(cited: CitedModel) -> Iterator[Row]:
    """Write one row per chapter, and one per section of it."""
    yield ("book", "chapter", "section", "answers")
    for chapter in cited.chapters:
        yield (chapter.book_id, chapter.chapter, None, chapter.answers)
        for one in chapter.sections:
            yield (chapter.book_id, chapter.chapter, one.section, one.answers)


def write_score_rows(bins: Iterable[BinModel]) -> Iterator[Row]:
    """Write one row per bin."""
    yield ("score_from", "score_to", "answered", "refused")
    for one in bins:
        yield (one.score_from, one.score_to, one.answered, one.refused)


def write_latency_rows(days: Iterable[LatencyDay]) -> Iterator[Row]:
    """Write one row per day."""
    yield ("day", "questions", "p50_ms", "p90_ms", "p99_ms")
    for one in days:
        yield (one.day.isoformat(), one.questions, one.p50, one.p90, one.p99)


def write_ingest_rows(books: Iterable[IngestModel]) -> Iterator[Row]:
    """Write one row per book."""
    yield (
        "book", "title", "published_at", "reader", "documents", "chunks", "added", "kept",
        "removed", "characters", "coverage", "skipped", "broken_links", "seconds",
    )  # fmt: skip
    for one in books:
        yield (
            one.book_id, one.title, one.published_at, one.reader, one.documents, one.chunks,
            one.added, one.kept, one.removed, one.characters, one.coverage, len(one.skipped),
            one.broken_links, one.seconds,
        )  # fmt: skip


def write_question_row(one: QuestionModel) -> Row:
    """Write the row of a question."""
    cited = " | ".join(f"{place.chapter} > {place.section}" for place in one.cited)
    said = None if one.helpful is None else ("yes" if one.helpful else "no")
    return (
        one.asked_at.isoformat(), one.question, one.book_id, one.contract, one.mode, one.status,
        one.refusal_type, one.score, one.took_ms, cited, *_nearest_cells(one.nearest), said, one.reason,
    )  # fmt: skip


def _nearest_cells(nearest: NearModel | None) -> tuple[Cell, Cell, Cell]:
    return (nearest.chapter, nearest.section, nearest.url) if nearest else (None, None, None)
