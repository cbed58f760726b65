"""What an author may see -> the lines of a CSV file."""

from collections.abc import AsyncIterator, Iterable, Sequence

from bythebook.domain.insight import LoggedQuestion
from bythebook.http.authors.author import Author
from bythebook.http.authors.csv_export import csv_lines
from bythebook.http.authors.models.queries import ExportQuery, Table
from bythebook.http.authors.models.questions import to_question
from bythebook.http.authors.tables import (
    QUESTION_HEAD,
    Row,
    cited_rows,
    day_rows,
    ingest_rows,
    latency_rows,
    question_row,
    score_rows,
    unanswered_rows,
)

_EXPORTED_GROUPS = 10_000
_PAGE = 2000  # questions that are written at a time


async def exported(author: Author, table: Table, asked: ExportQuery) -> AsyncIterator[str]:
    """Read the first rows now, so that a failure is told as one, and the others while writing."""
    if table != "questions":
        return _whole(csv_lines(await _rows(author, table, asked)))
    pages = author.pages(asked, _PAGE)
    return _question_lines(await anext(pages, ()), pages)


async def _rows(author: Author, table: Table, asked: ExportQuery) -> Iterable[Row]:
    match table:
        case "days":
            return day_rows(await author.overview(asked))
        case "unanswered":
            return unanswered_rows(await author.unanswered(asked, _EXPORTED_GROUPS))
        case "cited":
            return cited_rows(await author.cited(asked))
        case "scores":
            return score_rows((await author.scores(asked)).bins)
        case "latency":
            return latency_rows((await author.latency(asked)).days)
        case _:
            return ingest_rows((await author.ingests()).books)


async def _question_lines(
    first: Sequence[LoggedQuestion], others: AsyncIterator[Sequence[LoggedQuestion]]
) -> AsyncIterator[str]:
    yield csv_lines([QUESTION_HEAD, *map(_question_row, first)])
    async for page in others:
        yield csv_lines(map(_question_row, page))


def _question_row(question: LoggedQuestion) -> Row:
    return question_row(to_question(question))


async def _whole(text: str) -> AsyncIterator[str]:
    yield text
