"""A service under many requests and many writers: nothing piles up, nothing is locked out."""

import asyncio
import json
import os
import random
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.conftest import SAMPLE
from tests.faults.served import Footprint, Reader, Served, library_of, serve_folder

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.bootstrap import Core
from bythebook.domain.records import Exchange, Message
from bythebook.evaluate.sets import load_questions

QUESTIONS = Path(__file__).resolve().parents[2] / "evals" / "sample-book.jsonl"
READERS = 8
LEAST = 3  # exchanges of each writer, however slow the machine
ROUND = 1000
MORE_MEGABYTES = 12.0  # what the heap of a warm process wavers by
MORE_FILES, MORE_THREADS = 4, 4  # connections and workers that are opened when first needed
SELECTION = "A topic is a named channel through which nodes exchange messages of one type."
Figures = Callable[[str, object], None]


class Sent(NamedTuple):
    """A request, and the status that it must get."""

    method: str
    path: str
    body: object
    expected: int


def mix_requests(seed: int) -> Iterator[Sent]:
    """Give requests of all contracts without end: answered, refused and invalid ones."""
    chance = random.Random(seed)
    questions = [one.question for one in load_questions(QUESTIONS)]
    session = ""
    while True:
        text = chance.choice(questions)
        if not session or chance.random() < 0.2:
            session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        yield chance.choice(_well_formed(text, session))
        if chance.random() < 0.4:
            yield chance.choice(_ill_formed(text, session))


def _well_formed(text: str, session: str) -> tuple[Sent, ...]:
    talk = {"message": text, "session_id": session}
    return (
        Sent("POST", "/api/query", {"query": text, "session_id": session}, 200),
        Sent("POST", "/v1/query", {"query": text, "selected_text": SELECTION}, 200),
        Sent("POST", "/query", {"query": text}, 200),
        Sent("POST", "/query", {"query": "hello"}, 200),
        Sent("POST", "/ask", {"question": text}, 200),
        Sent("POST", "/chat/run", talk, 200),
        Sent("POST", "/chat/run", talk, 200),
        Sent("POST", "/chat/stream", talk, 200),
        Sent("GET", "/health", None, 200),
        Sent("GET", f"/read/{SAMPLE}", None, 200),
    )


def _ill_formed(text: str, session: str) -> tuple[Sent, ...]:
    return (
        Sent("POST", "/api/query", {"query": ""}, 422),
        Sent("POST", "/api/query", {"query": text, "top_k": 21}, 422),
        Sent("POST", "/query", {"query": text, "unknown": 1}, 422),
        Sent("POST", "/ask", b"{broken", 422),
        Sent("POST", "/chat/run", {"message": "x" * 1001, "session_id": session}, 422),
        Sent("POST", "/api/query", {"query": "x" * 300_000}, 413),
        Sent("GET", f"/session/{uuid.UUID(int=7, version=4)}/history", None, 404),
        Sent("GET", "/nowhere", None, 404),
        Sent("GET", "/api/query", None, 405),
    )


def send_round(service: Served, seed: int, requests: int) -> Counter[int]:
    """Send requests by several readers at once, each on a new connection, and see how they end."""

    def read(number: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        share = requests // READERS + (number < requests % READERS)
        with Reader(service.port) as reader:
            for sent in islice(mix_requests(seed * READERS + number), share):
                reply = reader.send(sent.method, sent.path, sent.body)
                assert reply.status == sent.expected, (sent, reply)
                statuses[reply.status] += 1
        return statuses

    with ThreadPoolExecutor(READERS) as pool:
        return sum(pool.map(read, range(READERS)), Counter[int]())


def measure_settled(service: Served) -> Footprint:
    """Read what the service holds once its readers are gone."""
    deadline = time.monotonic() + 60
    while service.connections():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return service.footprint()


def test_nothing_piles_up_over_many_requests(
    sample_core: Core, tmp_path: Path, record_property: Figures
) -> None:
    """REQUESTS says how many; memory is only held to be flat over some thousands."""
    total = int(os.environ.get("REQUESTS", "150"))
    size = min(ROUND, total // 3)
    with serve_folder(library_of(sample_core, tmp_path / "data")) as service:
        seen = [service.footprint()]
        statuses: Counter[int] = Counter()
        for number in range(total // size):
            statuses += send_round(service, number, size)
            seen.append(measure_settled(service))
            _tell(number + 1, size, seen[-1])
    warm, last = seen[max(1, len(seen) // 10)], seen[-1]
    record_property("requests", sum(statuses.values()))
    record_property("statuses", json.dumps(dict(sorted(statuses.items()))))
    record_property("MB warm, last", f"{warm.megabytes:.1f}, {last.megabytes:.1f}")
    record_property("files warm, last", f"{warm.files}, {last.files}")
    record_property("threads warm, last", f"{warm.threads}, {last.threads}")
    record_property("MB each thousand", json.dumps([round(one.megabytes, 1) for one in seen]))
    assert last.files <= warm.files + MORE_FILES
    assert last.threads <= warm.threads + MORE_THREADS
    if total >= 5 * ROUND:
        assert last.megabytes <= warm.megabytes + MORE_MEGABYTES


def _tell(rounds: int, size: int, seen: Footprint) -> None:
    print(  # noqa: T201
        f"{rounds * size:>7} requests: {seen.megabytes:.1f} MB, "
        f"{seen.files} files, {seen.threads} threads",
        flush=True,
    )


def test_thirty_two_writers_of_two_processes_never_find_the_records_locked(
    sample_core: Core, tmp_path: Path, record_property: Figures
) -> None:
    """WRITER_SECONDS says how long at least; half of the writers talk to the service, half keep records next to it."""
    seconds = float(os.environ.get("WRITER_SECONDS", "3"))
    folder = library_of(sample_core, tmp_path / "data")
    with serve_folder(folder) as service:
        end = time.monotonic() + seconds
        with ThreadPoolExecutor(16) as pool:
            talking = [pool.submit(talk, service, end) for _ in range(16)]
            beside = asyncio.run(keep_records(folder, end))
            waits = [wait for future in talking for wait in future.result()]
        said = service.said.read_text("utf-8", "replace")
    assert "locked" not in said
    assert "not recorded" not in said, said[-500:]
    assert count_messages(folder) == 2 * (len(waits) + beside)
    assert count_questions(folder) == len(waits)
    record_property("seconds", seconds)
    record_property("exchanges by the service", len(waits))
    record_property("longest of them, s", round(max(waits), 2))
    record_property("exchanges beside it", beside)


def talk(service: Served, end: float) -> list[float]:
    """Talk with the service till the end, and give the seconds that each exchange took."""
    session, waits = str(uuid.uuid4()), list[float]()
    with Reader(service.port) as reader:
        while (started := time.monotonic()) < end or len(waits) < LEAST:
            body = {"message": "Who won the football cup?", "session_id": session}
            reply = reader.send("POST", "/chat/run", body)
            assert reply.status == 200, reply.body
            waits.append(time.monotonic() - started)
    return waits


async def keep_records(folder: Path, end: float) -> int:
    """Append to conversations from this process by sixteen writers, and count the exchanges."""
    async with Database(records_address("", folder)) as database:
        threads = SqlThreads(database)

        async def write() -> int:
            session, count = uuid.uuid4(), 0
            while time.monotonic() < end or count < LEAST:
                now = datetime.now(UTC)
                said = Exchange(Message("user", "So?", now), Message("assistant", "So.", now))
                await threads.append("another", session, said)
                count += 1
            return count

        return sum(await asyncio.gather(*(write() for _ in range(16))))


def count_messages(folder: Path) -> int:
    return _one(
        folder,
        "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM archived_messages)",
    )


def count_questions(folder: Path) -> int:
    return _one(folder, "SELECT count(*) FROM queries")


def _one(folder: Path, statement: str) -> int:
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return int(connection.execute(statement).fetchone()[0])
