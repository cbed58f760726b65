"""Calls to operators: one when a part fails, one when it works again, and no answer waits for any."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.adapters.operations.webhook import WebhookAlarm
from bythebook.domain.incidents import Incident
from bythebook.errors import EmbedderFailed, InputError, PartFailed, RecordsFailed, StoreFailed
from bythebook.operate.alerts import Alerts, Watch

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
BEGAN = Incident("store", "The index is gone.", NOON)
ENDED = Incident("store", "The index is gone.", NOON, NOON + timedelta(minutes=5))


@dataclass
class Heard:
    """An operator, and a clock to set."""

    calls: list[Incident] = field(default_factory=list)
    now: datetime = NOON
    failure: Exception | None = None
    called: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, incident: Incident) -> None:
        self.calls.append(incident)
        self.called.set()
        if self.failure:
            raise self.failure

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(one.part, "recovered" if one.ended_at else "failed") for one in self.calls]


@pytest.fixture
def heard() -> Heard:
    return Heard()


def alerts_to(heard: Heard) -> Alerts:
    return Alerts(PrometheusMetrics(), heard, clock=lambda: heard.now)


async def deliver(alerts: Alerts) -> None:
    """Let the calls be made that are waiting."""
    with suppress(TimeoutError):
        await asyncio.wait_for(alerts.run(), 0.05)


def test_an_incident_is_two_calls_however_many_requests_fail(heard: Heard) -> None:
    async def scenario() -> None:
        alerts = alerts_to(heard)
        for _ in range(50):
            alerts.report_failure("store", "The index is gone.")
            heard.later(1)
        heard.later(30)
        for _ in range(5):
            alerts.report_recovery("store")
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.told == [("store", "failed"), ("store", "recovered")]
    began, ended = heard.calls
    assert (began.message, began.began_at, began.ended_at) == ("The index is gone.", NOON, None)
    assert (ended.began_at, ended.ended_at) == (NOON, heard.now)


def test_each_part_has_incidents_of_its_own(heard: Heard) -> None:
    async def scenario() -> None:
        alerts = alerts_to(heard)
        alerts.report_failure("store", "gone")
        alerts.report_failure("embedder", "slow")
        heard.later(60)
        alerts.report_recovery("store")
        alerts.report_failure("embedder", "slow")
        heard.later(60)
        alerts.report_failure("store", "gone again")
        alerts.report_recovery("embedder")
        assert alerts.failing == {"store"}
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.told == [
        ("store", "failed"),
        ("embedder", "failed"),
        ("store", "recovered"),
        ("store", "failed"),
        ("embedder", "recovered"),
    ]


def test_a_part_that_fails_between_sound_checks_is_still_one_incident(heard: Heard) -> None:
    async def scenario() -> None:
        alerts = alerts_to(heard)
        for _ in range(10):
            alerts.report_failure("store", "now and then")
            heard.later(20)
            alerts.report_recovery("store")
            heard.later(5)
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.told == [("store", "failed")]


def test_what_never_failed_does_not_recover(heard: Heard) -> None:
    async def scenario() -> None:
        alerts = alerts_to(heard)
        alerts.report_recovery("store")
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.calls == []


def test_a_call_that_breaks_does_not_stop_the_next(
    heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        alerts = alerts_to(heard)
        heard.failure = RuntimeError("no line")
        alerts.report_failure("store", "gone")
        alerts.report_failure("embedder", "gone")
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.told == [("store", "failed"), ("embedder", "failed")]
    assert "could not be called" in caplog.text


def test_failures_are_counted_each(heard: Heard) -> None:
    metrics = PrometheusMetrics()
    alerts = Alerts(metrics)
    for _ in range(3):
        alerts.report_failure("store", "gone")
    assert b'bythebook_part_failures_total{part="store"} 3.0' in metrics.write_page([])[0]


# The watch

PARTS = {"library": ("store",), "index": ("store", "embedder")}


@dataclass
class Parts:
    """Checks that fail as given."""

    failures: dict[str, Exception] = field(default_factory=dict)

    def check(self, name: str) -> Callable[[], Any]:
        async def check() -> None:
            if name in self.failures:
                raise self.failures[name]

        return check

    def watch(self, alerts: Alerts, **options: Any) -> Watch:
        names = ("library", "embedder", "index", "database", "limits")
        return Watch(alerts, {name: self.check(name) for name in names}, PARTS, **options)


def test_the_watch_finds_failure_and_recovery_without_a_question(heard: Heard) -> None:
    async def scenario() -> None:
        alerts, parts = alerts_to(heard), Parts()
        watch = parts.watch(alerts)
        await watch.look()
        parts.failures["database"] = RecordsFailed("down")
        for _ in range(3):
            await watch.look()
            heard.later(30)
        parts.failures.clear()
        await watch.look()
        await watch.look()
        await deliver(alerts)

    asyncio.run(scenario())
    assert heard.told == [("database", "failed"), ("database", "recovered")]


def test_a_part_recovers_only_when_every_check_that_goes_through_it_is_sound(heard: Heard) -> None:
    """The check of the index stops at the embedder, and says nothing of the index then."""

    async def scenario() -> None:
        alerts, parts = alerts_to(heard), Parts()
        watch = parts.watch(alerts)
        alerts.report_failure("store", "gone")
        heard.later(60)
        parts.failures = {"index": EmbedderFailed("broken"), "embedder": EmbedderFailed("broken")}
        await watch.look()
        assert alerts.failing == {"store", "embedder"}
        heard.later(60)
        parts.failures = {"index": StoreFailed("still gone")}
        await watch.look()
        assert alerts.failing == {"store", "embedder"}
        heard.later(60)
        parts.failures = {"database": RecordsFailed("down")}  # nobody else's business
        await watch.look()
        assert alerts.failing == {"database"}

    asyncio.run(scenario())


def test_a_check_that_breaks_or_hangs_is_a_failure_of_its_part(heard: Heard) -> None:
    async def hangs() -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        alerts, parts = alerts_to(heard), Parts()
        parts.failures = {"library": KeyError("?"), "limits": PartFailed("no Redis")}
        await parts.watch(alerts).look()
        await Watch(alerts, {"embedder": hangs}, {}, check_seconds=0.01).look()
        await deliver(alerts)

    asyncio.run(scenario())
    assert {part for part, _ in heard.told} == {"store", "limits", "embedder"}
    messages = {one.part: one.message for one in heard.calls}
    assert "the log says more" in messages["store"]
    assert "No answer within" in messages["embedder"]


def test_the_watch_looks_again_and_again(heard: Heard) -> None:
    async def scenario() -> None:
        alerts = Alerts(PrometheusMetrics(), heard, calm=timedelta(0))
        parts = Parts({"database": RecordsFailed("down")})
        duties = asyncio.gather(parts.watch(alerts, every_seconds=0.01).run(), alerts.run())
        await asyncio.wait_for(heard.called.wait(), 60)
        heard.called.clear()
        parts.failures.clear()
        await asyncio.wait_for(heard.called.wait(), 60)
        duties.cancel()

    asyncio.run(scenario())
    assert heard.told == [("database", "failed"), ("database", "recovered")]


# The webhook


class Receiver(ThreadingHTTPServer):
    """A real server that an alarm posts to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: list[int] = []  # of the next replies; then 204
        self.bodies: list[dict[str, Any]] = []
        self.types: list[str] = []
        self.let_go = threading.Event()
        self.let_go.set()

    @property
    def url(self) -> str:
        return f"http://ada:s3cr3t@127.0.0.1:{self.server_address[1]}/hook/letmein"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(json.loads(body))
        self.server.types.append(self.headers["Content-Type"])
        self.server.let_go.wait(60)
        status = self.server.statuses.pop(0) if self.server.statuses else 204
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.let_go.set()
        server.shutdown()
        thread.join()


def test_a_call_says_what_failed_and_since_when(receiver: Receiver) -> None:
    async def scenario() -> None:
        alarm = WebhookAlarm(receiver.url)
        await alarm.send(BEGAN)
        await alarm.send(ENDED)

    asyncio.run(scenario())
    common = {
        "service": "bythebook",
        "part": "store",
        "message": "The index is gone.",
        "began_at": "2026-03-14T12:00:00+00:00",
    }
    assert receiver.bodies == [
        common | {"status": "failed", "ended_at": None},
        common | {"status": "recovered", "ended_at": "2026-03-14T12:05:00+00:00"},
    ]
    assert receiver.types == ["application/json"] * 2


def test_a_call_that_fails_is_tried_twice_more(receiver: Receiver) -> None:
    receiver.statuses = [500, 503]
    asyncio.run(WebhookAlarm(receiver.url, waits=(0.01, 0.01)).send(BEGAN))
    assert len(receiver.bodies) == 3


@pytest.mark.parametrize("problem", ["status", "timeout", "nobody"])
def test_a_call_that_cannot_be_made_is_logged_without_its_address(
    receiver: Receiver, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "bythebook")
    receiver.statuses = [404] * 3
    if problem == "timeout":
        receiver.let_go.clear()
    url = "http://s3cr3t@127.0.0.1:9/letmein" if problem == "nobody" else receiver.url
    asyncio.run(WebhookAlarm(url, timeout=0.1, waits=(0.01, 0.01)).send(BEGAN))
    (record,) = [one for one in caplog.records if one.name.startswith("bythebook")]
    assert "could not be called" in record.getMessage()
    shown = record.getMessage() + repr(record.__dict__)
    assert not [word for word in ("s3cr3t", "letmein", "127.0.0.1") if word in shown]


def test_failures_are_noted_at_once_while_the_webhook_hangs(receiver: Receiver) -> None:
    receiver.let_go.clear()
    through: list[Incident] = []

    class Noted(WebhookAlarm):
        async def send(self, incident: Incident) -> None:
            await super().send(incident)
            through.append(incident)

    async def scenario() -> None:
        alerts = Alerts(PrometheusMetrics(), Noted(receiver.url, timeout=60, waits=()))
        duty = asyncio.create_task(alerts.run())
        async with asyncio.timeout(30):
            alerts.report_failure("store", "gone")
            while not receiver.bodies:  # noqa: ASYNC110 - it lives in a thread
                await asyncio.sleep(0.01)
            for _ in range(100):
                alerts.report_failure("store", "gone")
                alerts.report_failure("database", "gone")
                await asyncio.sleep(0)
        assert alerts.failing == {"store", "database"}
        assert (len(receiver.bodies), through) == (1, [])  # the first call is still under way
        receiver.let_go.set()
        while len(through) < 2:  # noqa: ASYNC110 - it is nobody's event
            await asyncio.sleep(0.01)
        duty.cancel()

    asyncio.run(scenario())


def test_what_calls_are_made_with_is_made_once_and_off_the_loop(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[threading.Thread] = []

    class Client(httpx.AsyncClient):
        def __init__(self, **options: Any) -> None:
            made.append(threading.current_thread())
            super().__init__(**options)

    monkeypatch.setattr(httpx, "AsyncClient", Client)

    async def scenario() -> None:
        alarm = WebhookAlarm(receiver.url)
        for incident in (BEGAN, ENDED, BEGAN):
            await alarm.send(incident)

    asyncio.run(scenario())
    assert len(receiver.bodies) == 3
    assert len(made) == 1
    assert made[0] is not threading.main_thread()


@pytest.mark.parametrize("wrong", ["hooks.example/s3cr3t", "ftp://s3cr3t@host", "https://[s3cr3t"])
def test_what_is_no_web_address_is_refused_at_the_start_and_not_told(wrong: str) -> None:
    with pytest.raises(InputError, match="BYTHEBOOK_ALERT_WEBHOOK") as caught:
        WebhookAlarm(wrong)
    assert "s3cr3t" not in str(caught.value) + caught.value.help_message
