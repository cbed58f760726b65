"""Measures the queries of the author's page over 100,000 questions, on SQLite and PostgreSQL: `make bench-author`.

PostgreSQL is measured if the tests can start a server of their own.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.questions.author_log import SqlAuthorLog
from bythebook.adapters.sql.tables import queries
from bythebook.bootstrap import Core
from bythebook.domain.insight import QuestionFilter
from bythebook.domain.records import OPEN
from bythebook.operate.insight import Insight
from bythebook.settings import Settings

COUNT = 100_000
TRIES = 3
NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
DAYS = 90
TOPICS = "robot node topic arm gait lidar slam urdf".split()


def make_busy_log(count: int) -> list[dict[str, Any]]:
    """Make rows of a busy book: most questions answered, one in five refused."""
    pick = random.Random(7)  # noqa: S311 - the same rows in every run
    words = [f"{topic}{letter}" for topic in TOPICS for letter in "abcdef"]
    rows = []
    for number in range(count):
        is_refused = pick.random() < 0.2
        section = {"book_id": "robots", "chapter": f"C{number % 30}", "section": f"S{number % 200}"}
        rows.append(
            {
                "query_id": uuid.UUID(int=pick.getrandbits(128)),
                "request_id": uuid.UUID(int=pick.getrandbits(128)),
                "contract": "query",
                "mode": "standard_rag",
                "status": "refused" if is_refused else "success",
                "refusal_type": "low_relevance" if is_refused else None,
                "query_text": f"What is {' '.join(pick.sample(words, 3))}?",
                "book_id": "robots",
                "chunks_retrieved": 5,
                "top_chunk_score": pick.random(),
                "borderline": False,
                "cited_sections": [] if is_refused else [section],
                "processing_time_ms": pick.randrange(20, 900),
                "created_at": NOW - pick.random() * (DAYS - 1) * timedelta(days=1),
                "owner": OPEN,
            }
        )
    return rows


async def fill(database: Database, rows: list[dict[str, Any]]) -> None:
    """Insert rows as if the questions had been asked."""
    for start in range(0, len(rows), 10_000):
        async with database.begin_write() as connection:
            await connection.execute(insert(queries), rows[start : start + 10_000])


async def measure(database: Database, seen: Insight) -> dict[str, float]:
    """Measure each query in milliseconds, the best of some tries."""
    log, chosen = SqlAuthorLog(database), QuestionFilter(NOW - timedelta(days=DAYS), NOW)
    newest = (await log.list_questions(replace(chosen, status="refused"), most=1)).questions[0]
    group = await seen.like(chosen, newest.query_id)
    looks: Mapping[str, Callable[[], Awaitable[object]]] = {
        "overview": lambda: seen.overview(chosen, seen.period(DAYS)),
        "unanswered": lambda: seen.group_unanswered(chosen, 50),
        "one group": lambda: log.list_questions(group, most=50),
        "cited": lambda: seen.count_cited(chosen),
        "scores": lambda: seen.scores(chosen),
        "latency": lambda: seen.latency(chosen),
        "newest": lambda: log.list_questions(chosen, most=50),
        "one chapter": lambda: log.list_questions(replace(chosen, chapter="C7"), most=50),
        "far down": lambda: log.list_questions(chosen, most=50, skip=COUNT * 9 // 10),
    }
    return {
        name: min([await _time_look(look) for _ in range(TRIES)]) for name, look in looks.items()
    }


async def _time_look(look: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await look()
    return (time.perf_counter() - started) * 1000


@asynccontextmanager
async def _fill_database(url: str, folder: Path) -> AsyncIterator[tuple[Database, Insight]]:
    core = Core(Settings(data_dir=folder))
    async with Database(records_address(url, folder)) as database:
        await database.migrate()
        await fill(database, make_busy_log(COUNT))
        yield database, Insight(SqlAuthorLog(database), core.ask, core.library, lambda: NOW)
    core.close()


async def _measure_database(url: str, folder: Path) -> dict[str, float]:
    async with _fill_database(url, folder) as (database, seen):
        return await measure(database, seen)


def _start_postgresql(stack: ExitStack) -> str | None:
    """Start a server and return the address of an empty database, or None if none can be started."""
    try:
        from tests.records.conftest import PostgreSql
    except ImportError:
        return None
    # A short path: a socket's may have only about 100 characters.
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="btb")))
    server = PostgreSql(folder / "pg")
    stack.callback(server.server.cleanup)
    return asyncio.run(server.new_database())


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bythebook-bench-")))
        figures = {"SQLite": asyncio.run(_measure_database("", folder))}
        if url := _start_postgresql(stack):
            figures["PostgreSQL"] = asyncio.run(_measure_database(url, folder))
    print(f"{f'{COUNT:,} questions, ms':<26}" + "".join(f"{name:>12}" for name in figures))
    for look in figures["SQLite"]:
        print(f"{look:<26}" + "".join(f"{one[look]:>12.0f}" for one in figures.values()))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
