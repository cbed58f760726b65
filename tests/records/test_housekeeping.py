import asyncio
import uuid
from datetime import timedelta

import pytest
from tests.records.conftest import Place
from tests.records.samples import NOON, exchange, query

from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.domain.records import Purged

pytestmark = pytest.mark.anyio
LATER = NOON + timedelta(days=100)


async def test_of_many_replicas_one_purges(place: Place) -> None:
    replicas = [place.database() for _ in range(5)]
    for _ in range(7):
        await SqlQueryLog(replicas[0]).log(query())
    done = await asyncio.gather(*(SqlHousekeeping(replica).purge(LATER) for replica in replicas))
    assert [purged for purged in done if purged] == [Purged(7, 0, 0)]
    assert done.count(None) == 4
    for replica in replicas:
        await replica.close()


async def test_more_than_a_step_holds_is_purged_in_several(database: Database) -> None:
    for _ in range(7):
        await SqlQueryLog(database).log(query(session_id=uuid.uuid4()))
    assert await SqlHousekeeping(database, step=3).purge(LATER) == Purged(7, 7, 0)


async def test_of_many_replicas_one_archives(place: Place) -> None:
    replicas = [place.database() for _ in range(5)]
    for _ in range(3):
        await SqlThreads(replicas[0]).append("reader", uuid.uuid4(), exchange("Anyone?"))
    tasks = (SqlHousekeeping(replica).archive_idle(LATER) for replica in replicas)
    done = await asyncio.gather(*tasks)
    assert sorted(done, key=lambda count: count or 0) == [None, None, None, None, 3]
    for replica in replicas:
        await replica.close()


async def test_the_next_turn_comes_when_its_time_is_round(database: Database) -> None:
    housekeeping = SqlHousekeeping(database)
    assert await housekeeping.purge(LATER) == Purged(0, 0, 0)
    assert await housekeeping.archive_idle(LATER) == 0  # a turn of its own
    assert await housekeeping.purge(LATER + timedelta(minutes=59)) is None
    assert await housekeeping.purge(LATER + timedelta(minutes=60)) == Purged(0, 0, 0)
    assert await housekeeping.archive_idle(LATER + timedelta(seconds=59)) is None
    assert await housekeeping.archive_idle(LATER + timedelta(seconds=60)) == 0


async def test_a_mark_set_by_a_clock_that_was_wrong_stops_nobody(database: Database) -> None:
    housekeeping = SqlHousekeeping(database)
    await housekeeping.purge(LATER.replace(year=2099))
    assert await housekeeping.purge(LATER) == Purged(0, 0, 0)
    assert await housekeeping.purge(LATER) is None


async def test_a_turn_that_fails_is_left_to_the_next(database: Database) -> None:
    await SqlQueryLog(database).log(query())

    class Broken(SqlHousekeeping):
        async def _delete(self, *_: object) -> int:
            raise RuntimeError("pulled out")

    with pytest.raises(RuntimeError):
        await Broken(database).purge(LATER)
    housekeeping = SqlHousekeeping(database)
    assert await housekeeping.purge(LATER) == Purged(1, 0, 0)


async def test_archived_threads_and_messages_are_never_purged(database: Database) -> None:
    threads = SqlThreads(database)
    session = uuid.uuid4()
    for number in range(26):
        await threads.append("reader", session, exchange(f"question {number}"))
    housekeeping = SqlHousekeeping(database)
    await housekeeping.archive_idle(LATER)
    before = await threads.history("reader", session)
    await housekeeping.purge(LATER)
    assert before is not None
    assert await threads.history("reader", session) == before
