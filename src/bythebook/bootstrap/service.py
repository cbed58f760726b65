"""Core -> service: what answering for many readers needs in addition."""

import asyncio
import ipaddress
import logging
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import bythebook
from bythebook.adapters.models.onnx_embedder import OnnxEmbedder
from bythebook.adapters.operations.limits_windows import MemoryWindows, RedisWindows
from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.adapters.operations.webhook import WebhookAlarm
from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.adapters.sql.questions.author_log import SqlAuthorLog
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.ask import find_passages, make_plan, selection_passage
from bythebook.bootstrap.core import Core
from bythebook.domain.questions import Question
from bythebook.errors import InputError, NoBooks
from bythebook.http.access.client_address import Network
from bythebook.http.app import Service
from bythebook.http.contracts.health import Check
from bythebook.http.pages.machines.listing import Listing
from bythebook.operate.access.gate import Gate, RequestLimits
from bythebook.operate.access.keyring import KeyRing
from bythebook.operate.alerts import Alerts, Watch
from bythebook.operate.answer_queue import AnswerQueue
from bythebook.operate.answerer import Answerer
from bythebook.operate.insight import Insight
from bythebook.operate.journal import Journal
from bythebook.operate.model_watch import ModelWatch
from bythebook.operate.soundness import Soundness
from bythebook.operate.upkeep import Upkeep
from bythebook.ports import Metrics
from bythebook.settings import Settings

_WITH_MODEL_AT_ONCE = 32
_log = logging.getLogger("bythebook.serve")
Duty = Callable[[], Coroutine[Any, Any, None]]
# What a check goes through: the index is asked with an embedded question.
_PARTS_OF_CHECKS = {
    "library": ("store",),
    "books": ("store",),
    "index": ("store", "embedder"),
    "qdrant": ("store",),
    "keys": ("database",),
}


def build_service(core: Core) -> Service:
    """Build what one process serves, in one event loop."""
    settings, database, metrics = core.settings, core.database(), PrometheusMetrics()
    alerts = Alerts(metrics, _alarm(settings), calm=timedelta(seconds=core.times.watch_seconds))
    access = core.model_access
    journal = Journal(
        SqlQueryLog(database), metrics, alerts, ModelWatch(access.ladder if access else ())
    )
    upkeep = Upkeep(SqlHousekeeping(database), every_seconds=core.times.upkeep_seconds)
    shared = _open_redis_windows(core)
    gate = _gate(core, database, shared, metrics)
    checks = _checks(core) | {"keys": gate.ring.check}
    soundness = Soundness(core.library, every_seconds=core.times.watch_seconds)
    others: dict[str, Check] = {"books": soundness.check, "database": database.check}
    if shared:
        others["limits"] = shared.check
    if core.models is not None:
        others["model"] = core.models.check  # questions that need no model are answered without it
    watch = Watch(alerts, checks | others, _PARTS_OF_CHECKS, every_seconds=core.times.watch_seconds)

    async def close() -> None:
        if shared:
            await shared.close()
        await database.close()
        core.close()

    return Service(
        answerer=Answerer(core.ask, journal, _queue(core, metrics)),
        gate=gate,
        threads=SqlThreads(database),
        feedback=SqlFeedbackStore(database),
        insight=Insight(SqlAuthorLog(database), core.ask, core.library),
        metrics=metrics,
        reader_url=settings.reader_url,
        version=bythebook.__version__,
        models=settings.model_names,
        listing=Listing(settings.listed_books),
        suggestions=core.suggestions,
        proxies=_proxies(settings),
        checks=checks,
        other_checks=others,
        duties=(
            journal.run,
            alerts.run,
            watch.run,
            upkeep.run,
            partial(_announce, core),
            *_connections(core),
        ),
        close=close,
    )


async def _announce(core: Core) -> None:
    """Let commands over the same data folder know where this service is; links alone need it."""
    try:
        with core.service_address.announce(core.settings.reader_url):
            await asyncio.Event().wait()
    except OSError as error:
        _log.warning("commands will not know the address of this service: %s", error.strerror)


def _checks(core: Core) -> dict[str, Check]:
    async def library() -> None:
        if not core.library.books():
            raise NoBooks("There is no book to ask yet.", "Ingest one: `bythebook ingest PATH`.")

    async def embedder() -> None:
        if isinstance(core.embedder, OnnxEmbedder):
            await core.embedder.embed_query("ready?")
        else:  # which is paid for, and would answer from memory
            await core.embedder.check()

    async def index() -> None:
        await find_passages(make_plan(Question("Is the book ready?")), core)

    async def judge() -> None:
        await core.judge.judge("Is it ready?", (selection_passage("It is ready."),))

    server = {} if core.qdrant is None else {"qdrant": core.qdrant.check}
    return {"library": library, "embedder": embedder, **server, "index": index, "judge": judge}


def _connections(core: Core) -> Sequence[Duty]:
    """Return the duties that keep connections to providers open while the service runs."""
    return () if isinstance(core.embedder, OnnxEmbedder) else (core.embedder.stay_connected,)


def _gate(core: Core, database: Database, shared: RedisWindows | None, metrics: Metrics) -> Gate:
    settings = core.settings
    ring = KeyRing(SqlKeyStore(database), may_be_open=settings.on_loopback, times=core.times.keys)
    limits = RequestLimits(settings.limit_key, settings.limit_session, settings.limit_ip)
    return Gate(ring, shared or MemoryWindows(), limits, metrics)


def _queue(core: Core, metrics: Metrics) -> AnswerQueue:
    """Make the queue: one answer per core, more with a language model, which mostly waits for its provider."""
    settings = core.settings
    usual = settings.threads if core.models is None else _WITH_MODEL_AT_ONCE
    at_once = settings.answers_at_once or usual
    return AnswerQueue(at_once, settings.max_wait_seconds, metrics)


def _alarm(settings: Settings) -> WebhookAlarm | None:
    url = settings.alert_webhook.get_secret_value()
    return WebhookAlarm(url) if url else None


def _open_redis_windows(core: Core) -> RedisWindows | None:
    url = core.settings.redis_url.get_secret_value()
    return RedisWindows(url, patience_seconds=core.times.redis_seconds) if url else None


def _proxies(settings: Settings) -> tuple[Network, ...]:
    names = (name.strip() for name in settings.trusted_proxies.split(","))
    try:
        return tuple(ipaddress.ip_network(name, strict=False) for name in names if name)
    except ValueError as error:
        raise InputError(
            f"BYTHEBOOK_TRUSTED_PROXIES has a wrong value: {error}.",
            "Write addresses or networks, as 10.0.0.1 or 10.0.0.0/8, separated by commas.",
        ) from error
