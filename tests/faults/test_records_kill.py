"""A process that is killed while it keeps records: what it acknowledged is there."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import islice
from pathlib import Path

from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database

CHILD = """
import asyncio, sys, uuid
from datetime import UTC, datetime
from pathlib import Path
from bythebook.adapters.sql.engine.address import records_address
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.domain.records import Exchange, Message

folder, run = Path(sys.argv[1]), sys.argv[2]

async def write(threads, writer):
    number = 0
    while True:
        text = f"{run}:{writer}:{number}"
        now = datetime.now(UTC)
        said = Exchange(Message("user", text, now), Message("assistant", "to " + text, now))
        await threads.append("reader", uuid.UUID(int=writer % 3), said)
        print(text, flush=True)
        number += 1

async def main():
    async with Database(records_address("", folder)) as database:
        print("opening", flush=True)
        await database.check()
        threads = SqlThreads(database)
        await asyncio.gather(*(write(threads, writer) for writer in range(6)))

asyncio.run(main())
"""
STORED = """
SELECT hex(thread_id), position, role, content FROM
  (SELECT thread_id, position, role, content FROM messages
   UNION ALL SELECT thread_id, position, role, content FROM archived_messages)
ORDER BY 1, 2
"""


def child(folder: Path, run: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(folder), str(run)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> list[str]:
    """Kill it and give the lines that it got out."""
    os.kill(process.pid, signal.SIGKILL)
    out, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return out.split("\n")[:-1]  # the last is empty or cut off


def assert_sound(folder: Path, acknowledged: set[str]) -> None:
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = connection.execute(STORED).fetchall()
        counts = connection.execute("SELECT message_count FROM conversation_threads").fetchall()
    assert acknowledged <= {content for *_, content in rows}
    assert len(rows) == sum(count for (count,) in counts)
    for question, answer in zip(rows[::2], rows[1::2], strict=True):
        assert question[0] == answer[0]
        assert question[1] + 1 == answer[1]
        assert (question[2], answer[2]) == ("user", "assistant")
        assert answer[3] == "to " + question[3]


def test_no_acknowledged_message_is_lost_by_a_kill(tmp_path: Path) -> None:
    """RECORD_KILLS says how often."""
    moments = random.Random(5)
    acknowledged: set[str] = set()
    for run in range(int(os.environ.get("RECORD_KILLS", "6"))):
        writing = child(tmp_path, run)
        assert writing.stdout is not None
        assert writing.stdout.readline() == "opening\n"
        for line in islice(writing.stdout, moments.randrange(1, 40)):
            acknowledged.add(line.strip())
        time.sleep(moments.uniform(0, 0.02))
        acknowledged |= set(kill(writing))
        assert_sound(tmp_path, acknowledged)
    assert len(acknowledged) > 100


def test_a_kill_while_the_tables_are_made_is_made_good_by_the_next_start(tmp_path: Path) -> None:
    moments = random.Random(9)
    for run in range(4):
        folder = tmp_path / str(run)
        starting = child(folder, run)
        assert starting.stdout is not None
        assert starting.stdout.readline() == "opening\n"
        time.sleep(moments.uniform(0, 0.25))
        lines = kill(starting)
        asyncio.run(open_records(folder))
        assert_sound(folder, set(lines))


async def open_records(folder: Path) -> None:
    async with Database(records_address("", folder)) as database:
        await database.check()
