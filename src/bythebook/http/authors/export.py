"""A table of the author's page -> the lines of a CSV file."""

from collections.abc import AsyncIterator, Iterable, Sequence

from bythebook.domain.insight import LoggedQuestion
from bythebook.http.authors.author import Author
from bythebook.http.authors.csv_export import csv_lines
from bythebook.http.authors.models.queries import ExportQuery, Table
from bythebook.http.authors.models.questions import to_question
from bythebook.http.authors.tables import (
    QUESTION_HEAD,
    Row,
    write_cited_rows,
    write_day_rows,
    write_ingest_rows,
    write_latency_rows,
    write_question_row,
    write_score_rows,
    write_unanswered_rows,
)

_EXPORTED_GROUPS = 10_000
_PAGE = 2000  # questions per read


async def export_table(author: Author, table: Table, asked: ExportQuery) -> AsyncIterator[str]:
    """Return CSV lines; the first rows are read now, so that a failure still gets its status."""
    if table != "questions":
        return _whole(csv_lines(await _rows(author, table, asked)))
    pages = author.pages(asked, _PAGE)
    first = await anext(pages, None)  # Python 3.11 fails on a tuple as the default
    return _question_lines(first or (), pages)


async def _rows(author: Author, table: Table, asked: ExportQuery) -> Iterable[Row]:
    match table:
        case "days":
            return write_day_rows(await author.overview(asked))
        case "unanswered":
            return write_unanswered_rows(await author.group_unanswered(asked, _EXPORTED_GROUPS))
        case "cited":
            return write_cited_rows(await author.count_cited(asked))
        case "scores":
            return write_score_rows((await author.scores(asked)).bins)
        case "latency":
            return write_latency_rows((await author.latency(asked)).days)
        case _:
            return write_ingest_rows((await author.ingests()).books)


async def _question_lines(
    first: Sequence[LoggedQuestion], others: AsyncIterator[Sequence[LoggedQuestion]]
) -> AsyncIterator[str]:
    yield csv_lines([QUESTION_HEAD, *map(_question_row, first)])
    async for page in others:
        yield csv_lines(map(_question_row, page))


def _question_row(question: LoggedQuestion) -> Row:
    return write_question_row(to_question(question))


async def _whole(text: str) -> AsyncIterator[str]:
    yield text
