"""A service that is killed while readers talk with it: every exchange it acknowledged is there."""

import http.client
import os
import random
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.served import Reader, Served, library_of, serve_folder

from bythebook.bootstrap import Core

READERS = 6
SHOWN = 25  # exchanges that a history gives, the newest
QUESTIONS = (
    "What is ROS 2?",
    "How do ROS 2 nodes communicate?",
    "Who won the football cup?",
    "What is the capital of France?",
)


@dataclass
class Conversation:
    """What one reader said and was answered, as far as it was acknowledged."""

    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    acknowledged: list[tuple[str, str]] = field(default_factory=list)

    def hold(self, port: int) -> None:
        """Talk until the service is gone."""
        with Reader(port) as reader, suppress(OSError, http.client.HTTPException):
            while True:
                question = QUESTIONS[len(self.acknowledged) % len(QUESTIONS)]
                asked = f"{question} ({len(self.acknowledged)})"
                body = {"message": asked, "session_id": self.session}
                reply = reader.send("POST", "/chat/run", body)
                assert reply.status == 200, reply.body
                self.acknowledged.append((asked, reply.value["response"]))

    def assert_kept(self, service: Served) -> None:
        """See that the history is what was acknowledged; one exchange more may have been kept."""
        reply = service.ask("GET", f"/session/{self.session}/history")
        assert reply.status == 200, (reply.body, len(self.acknowledged))
        messages = reply.value["messages"]
        roles = [message["role"] for message in messages]
        assert roles == ["user", "assistant"] * (len(messages) // 2)
        texts = [message["content"] for message in messages]
        exchanges = list(zip(texts[::2], texts[1::2], strict=True))
        told = [self.acknowledged, [*self.acknowledged, exchanges[-1]]]
        assert exchanges in [whole[-SHOWN:] for whole in told]


def talk_until_killed(service: Served, moment: float) -> list[Conversation]:
    """Let readers talk, kill the service a moment after the first was answered."""
    conversations = [Conversation() for _ in range(READERS)]
    failures: list[BaseException] = []
    threads = [
        threading.Thread(target=_note_errors(failures, one.hold), args=(service.port,))
        for one in conversations
    ]
    for thread in threads:
        thread.start()
    while not any(one.acknowledged for one in conversations) and not failures:
        time.sleep(0.005)
    time.sleep(moment)
    service.kill()
    for thread in threads:
        thread.join(300)
    assert not failures, failures
    return [one for one in conversations if one.acknowledged]


def _note_errors(
    failures: list[BaseException], work: Callable[[int], None]
) -> Callable[[int], None]:
    def run(port: int) -> None:
        try:
            work(port)
        except BaseException as error:  # noqa: BLE001 - reported by the thread that waits
            failures.append(error)

    return run


def assert_sound(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_no_acknowledged_exchange_is_lost_when_the_service_is_killed(
    sample_core: Core, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """KILLS says how often."""
    folder = library_of(sample_core, tmp_path / "data")
    moments = random.Random(13)
    kills = int(os.environ.get("KILLS", "3"))
    spoken: list[Conversation] = []
    acknowledged = 0
    for _ in range(kills):
        with serve_folder(folder) as service:
            for conversation in spoken:
                conversation.assert_kept(service)
            spoken = talk_until_killed(service, moments.uniform(0, 0.6))
        acknowledged += sum(len(one.acknowledged) for one in spoken)
        assert_sound(folder)
    with serve_folder(folder) as service:
        for conversation in spoken:
            conversation.assert_kept(service)
    record_property("kills", kills)
    record_property("acknowledged exchanges", acknowledged)
    record_property("lost", 0)
