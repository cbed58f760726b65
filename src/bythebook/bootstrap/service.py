"""Core -> service: what answering for many readers needs besides answering."""

import ipaddress
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

import bythebook
from bythebook.adapters.limits_windows import MemoryWindows, RedisWindows
from bythebook.adapters.onnx_embedder import OnnxEmbedder
from bythebook.adapters.prometheus_metrics import PrometheusMetrics
from bythebook.adapters.sql.database import Database
from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.housekeeping import SqlHousekeeping
from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.adapters.sql.query_log import SqlQueryLog
from bythebook.adapters.sql.question_log import SqlQuestionLog
from bythebook.adapters.sql.threads import SqlThreads
from bythebook.adapters.webhook import WebhookAlarm
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve, selection_passage
from bythebook.bootstrap.core import Core
from bythebook.domain.questions import Question
from bythebook.errors import InputError, NoBooks
from bythebook.http.app import Service
from bythebook.http.client_address import Network
from bythebook.http.health import Check
from bythebook.operate.alerts import Alerts, Watch
from bythebook.operate.desk import Desk
from bythebook.operate.gate import Gate, Limits
from bythebook.operate.insight import Insight
from bythebook.operate.journal import Journal
from bythebook.operate.keyring import KeyRing
from bythebook.operate.model_watch import ModelWatch
from bythebook.operate.upkeep import Upkeep
from bythebook.ports import Metrics
from bythebook.settings import Settings

Duty = Callable[[], Coroutine[Any, Any, None]]
# What a check goes through: the index is asked with an embedded question.
_PARTS_OF_CHECKS = {
    "library": ("store",),
    "index": ("store", "embedder"),
    "qdrant": ("store",),
    "keys": ("database",),
}


def build_service(core: Core) -> Service:
    """Build what one process serves, in one event loop."""
    settings, database, metrics = core.settings, core.database(), PrometheusMetrics()
    alerts = Alerts(metrics, _alarm(settings), calm=timedelta(seconds=core.watch_seconds))
    access = core.model_access
    journal = Journal(
        SqlQueryLog(database), metrics, alerts, ModelWatch(access.ladder if access else ())
    )
    upkeep = Upkeep(SqlHousekeeping(database), every_seconds=core.upkeep_seconds)
    shared = _shared_windows(settings)
    gate = _gate(settings, database, shared, metrics)
    checks = _checks(core) | {"keys": gate.ring.check}
    others: dict[str, Check] = {"database": database.check}
    if shared:
        others["limits"] = shared.check
    if core.models is not None:
        others["model"] = core.models.check  # much can be refused without it, and told why it fails
    watch = Watch(alerts, checks | others, _PARTS_OF_CHECKS, every_seconds=core.watch_seconds)

    async def close() -> None:
        if shared:
            await shared.close()
        await database.close()
        core.close()

    return Service(
        desk=Desk(core.ask, journal),
        gate=gate,
        threads=SqlThreads(database),
        feedback=SqlFeedbackStore(database),
        insight=Insight(SqlQuestionLog(database), core.ask, core.library),
        metrics=metrics,
        reader_url=settings.reader_url,
        version=bythebook.__version__,
        models=settings.model_names,
        proxies=_proxies(settings),
        checks=checks,
        other_checks=others,
        duties=(journal.run, alerts.run, watch.run, upkeep.run, *_connections(core)),
        close=close,
    )


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
        await retrieve(make_plan(Question("Is the book ready?")), core)

    async def judge() -> None:
        await core.judge.judge("Is it ready?", (selection_passage("It is ready."),))

    server = {} if core.qdrant is None else {"qdrant": core.qdrant.check}
    return {"library": library, "embedder": embedder, **server, "index": index, "judge": judge}


def _connections(core: Core) -> Sequence[Duty]:
    """Give what keeps connections to providers open for as long as the service runs."""
    return () if isinstance(core.embedder, OnnxEmbedder) else (core.embedder.stay_connected,)


def _gate(
    settings: Settings, database: Database, shared: RedisWindows | None, metrics: Metrics
) -> Gate:
    ring = KeyRing(SqlKeyStore(database), may_be_open=settings.on_loopback)
    limits = Limits(settings.limit_key, settings.limit_session, settings.limit_ip)
    return Gate(ring, shared or MemoryWindows(), limits, metrics)


def _alarm(settings: Settings) -> WebhookAlarm | None:
    url = settings.alert_webhook.get_secret_value()
    return WebhookAlarm(url) if url else None


def _shared_windows(settings: Settings) -> RedisWindows | None:
    url = settings.redis_url.get_secret_value()
    return RedisWindows(url) if url else None


def _proxies(settings: Settings) -> tuple[Network, ...]:
    names = (name.strip() for name in settings.trusted_proxies.split(","))
    try:
        return tuple(ipaddress.ip_network(name, strict=False) for name in names if name)
    except ValueError as error:
        raise InputError(
            f"BYTHEBOOK_TRUSTED_PROXIES has a wrong value: {error}.",
            "Write addresses or networks, as 10.0.0.1 or 10.0.0.0/8, parted by commas.",
        ) from error
