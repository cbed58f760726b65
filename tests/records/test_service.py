"""A running service over its records: outages of the database, and what comes due with time."""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import func, select
from tests.conftest import SAMPLE, eventually, free_port, serve_core
from tests.records.conftest import Place, PostgreSql
from tests.records.samples import exchange, query
from tests.unit.operate.test_alerts import Receiver

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.tables import conversation_threads, queries
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.bootstrap import Core
from bythebook.bootstrap.times import ServiceTimes
from bythebook.settings import Settings

ASK = {"query": "How do ROS 2 nodes communicate?", "book": SAMPLE}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def core_over(library: Path, url: str, webhook: str = "") -> Core:
    settings = Settings(
        data_dir=library,
        database_url=SecretStr(url),
        alert_webhook=SecretStr(webhook),
        limit_ip=0,
        limit_session=0,
        port=free_port(),
    )
    return Core(settings)


def on(address: Any, work: Callable[[Database], Any]) -> Any:
    """Do work on the records from outside the service."""

    async def run() -> Any:
        async with Database(address) as database:
            return await work(database)

    return asyncio.run(run())


def test_answers_go_on_while_the_database_is_down_and_are_recorded_again_when_it_is_back(
    own_server: PostgreSql, sample_core: Core, receiver: Receiver
) -> None:
    asyncio.run(own_server.execute("CREATE DATABASE books"))
    address = records_address(own_server.url("books"), Path())
    on(address, lambda database: database.migrate())
    core = core_over(sample_core.settings.data_dir, own_server.url("books"), receiver.url)
    core.times = ServiceTimes(watch_seconds=0.5)
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=60) as client:

        def ask(_: object = None) -> uuid.UUID:
            reply = client.post("/api/query", json=ASK)
            assert (reply.status_code, reply.json()["status"]) == (200, "success")
            return uuid.UUID(reply.headers["x-request-id"])

        def is_recorded(request: uuid.UUID) -> bool:
            async def count(database: Database) -> int | None:
                async with database.begin_read() as connection:
                    found = select(func.count()).where(queries.c.request_id == request)
                    return await connection.scalar(found)

            return bool(on(address, count))

        before = ask()
        eventually(lambda: is_recorded(before))
        assert client.get("/health").json()["status"] == "ok"

        own_server.server.stop()
        with ThreadPoolExecutor(4) as readers:
            lost = list(readers.map(ask, range(20)))
        eventually(lambda: client.get("/health").json()["status"] == "degraded")
        parts = client.get("/health").json()["dependencies"]
        assert parts["database"]["status"] == "failed"
        assert client.get("/readyz").status_code == 200
        word = {"request_id": str(before), "helpful": True}
        assert client.post("/feedback", json=word).status_code == 503
        eventually(lambda: "entries_lost_total 0.0" not in client.get("/metrics").text)

        own_server.server.start()
        again: list[uuid.UUID] = []

        def is_recorded_again() -> bool:
            again.append(ask())
            return any(map(is_recorded, again))

        eventually(is_recorded_again)
        eventually(lambda: client.get("/health").json()["status"] == "ok")
        assert client.post("/feedback", json=word).status_code == 204
        eventually(lambda: len(receiver.bodies) >= 2)
        time.sleep(1.2)  # two more looks, which find nothing new
    statuses = [(body["part"], body["status"]) for body in receiver.bodies]
    assert statuses == [("database", "failed"), ("database", "recovered")]
    assert not any(map(is_recorded, lost))


def test_conversations_meet_a_database_that_stops_and_starts_with_503_and_lose_nothing(
    own_server: PostgreSql, sample_core: Core
) -> None:
    asyncio.run(own_server.execute("CREATE DATABASE talks"))
    url = own_server.url("talks")
    on(records_address(url, Path()), lambda database: database.migrate())
    core = core_over(sample_core.settings.data_dir, url)
    stop, sessions = threading.Event(), [str(uuid.uuid4()) for _ in range(4)]
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        statuses: list[int] = []

        def say(session: str) -> int:
            said = {"message": "What is URDF?", "session_id": session}
            status = client.post("/chat/run", json=said).status_code
            statuses.append(status)
            return status

        def talk(session: str) -> list[int]:
            statuses = []
            while not stop.is_set():
                statuses.append(say(session))
            return statuses

        with ThreadPoolExecutor(len(sessions)) as readers:
            talks = [readers.submit(talk, session) for session in sessions]
            try:
                eventually(lambda: statuses.count(200) > 3)
                own_server.server.stop()
                eventually(lambda: 503 in statuses)
                own_server.server.start()
                eventually(lambda: say(str(uuid.uuid4())) == 200)
            finally:
                stop.set()
        for session, talked in zip(sessions, talks, strict=True):
            statuses = talked.result()
            assert set(statuses) <= {200, 503}
            roles = [
                one["role"] for one in client.get(f"/session/{session}/history").json()["messages"]
            ]
            assert roles == ["user", "assistant"] * (len(roles) // 2)
            assert len(roles) >= min(2 * statuses.count(200), 50)


def test_two_services_on_one_database_do_what_is_due_once(place: Place) -> None:
    now = datetime.now(UTC)
    old, idle = now - timedelta(days=91), now - timedelta(hours=2)

    async def fill(database: Database) -> None:
        log, threads = SqlQueryLog(database), SqlThreads(database)
        for at in (old, old, now - timedelta(days=89)):
            await log.log(query(created_at=at, session_id=uuid.uuid4()))
        for at in (idle, now):
            await threads.append("reader", uuid.uuid4(), exchange("Anyone?", at=at))

    on(place.address, fill)
    with ExitStack() as stack:
        for _ in range(2):
            core = core_over(place.folder, place.url)
            core.times = ServiceTimes(upkeep_seconds=0.05)
            stack.enter_context(serve_core(core))
        eventually(lambda: on(place.address, count_kept) == (1, ["active", "archived"]))
        on(place.address, lambda database: SqlQueryLog(database).log(query(created_at=old)))
        time.sleep(0.5)  # some ten offers of each
        assert on(place.address, count_kept)[0] == 2  # purged again in an hour, not before


async def count_kept(database: Database) -> tuple[int | None, list[str]]:
    async with database.begin_read() as connection:
        count = await connection.scalar(select(func.count()).select_from(queries))
        states = await connection.scalars(select(conversation_threads.c.state))
        return count, sorted(states)
