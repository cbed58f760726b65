"""The service with a language model on loopback, and every way to ask it."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr
from tests.adapters.providers.model_stub import KEY
from tests.conftest import free_port, serve_core
from tests.contracts.test_chat_stream import parse_events
from tests.faults.patience import with_policy
from tests.faults.served import library_of
from tests.remembering import remember

from bythebook.adapters.providers.breaker import Breaker
from bythebook.adapters.providers.resilience import MODEL, Policy, Provider
from bythebook.bootstrap import Core
from bythebook.bootstrap.times import ServiceTimes
from bythebook.settings import Settings

PATIENT = Policy(timeout=300.0, first_token=300.0, gap=300.0)  # as MODEL, on the slowest machine
SHORT_GAP = replace(PATIENT, gap=1.0)  # for who cannot wait long for a model that falls silent
MODEL_NAME = "stub/model"
READY_SECONDS = 240.0  # to load the SDK as well, on a busy machine
WAYS = ("A", "B", "C", "D", "stream")
_PATHS = {
    "A": ("/api/query", "query"),
    "B": ("/query", "query"),
    "C": ("/chat/run", "message"),
    "D": ("/ask", "question"),
    "stream": ("/chat/stream", "message"),
}
_KINDS = {
    "OPENROUTER_FAILURE": "model_failed",
    "OPENROUTER_TIMEOUT": "model_timeout",
    "GenerationError": "model_failed",
    "TimeoutError": "model_timeout",
}
NO_MATCH = "The book does not answer this question."


@dataclass(frozen=True)
class ServiceReply:
    """What one way of asking said in the end."""

    way: str
    status: int
    body: str  # all of it, as it was sent
    headers: Mapping[str, str]
    seconds: float
    value: dict[str, Any] = field(default_factory=dict)  # the last event of a stream
    terminals: int = 1  # events that end a stream

    @property
    def verdict(self) -> str:
        """How it ended: answered, refused, or the kind of the failure, whatever a contract calls it."""
        value = self.value
        if self.status != 200 or (self.way == "stream" and "error" in value):
            error = value.get("error_type") or value["error"]
            kind = error["code"] if isinstance(error, dict) else error
            return str(_KINDS.get(kind, kind))
        return "answered" if self._is_answer() else "refused"

    @property
    def sentences(self) -> list[str]:
        """The sentences shown, where that way of asking parts them."""
        value = self.value
        if self.verdict != "answered":
            return []
        shown = (value["answer"] or {}) if self.way == "A" else value
        return list(shown.get("sentences", ()))

    @property
    def quotes(self) -> list[str]:
        """The quotes shown, where that way of asking shows them by themselves."""
        if self.verdict != "answered" or self.way not in {"A", "C", "stream"}:
            return []
        shown = self.value["answer"] if self.way == "A" else self.value
        return [one["referenced_text"] for one in shown["citations"]]

    def _is_answer(self) -> bool:
        value = self.value
        if self.way == "A":
            return bool(value["status"] == "success")
        if self.way == "B":
            return not value["answer"].startswith(NO_MATCH)
        return bool(value["grounded"] if self.way == "D" else value["should_answer"])


class ModelService:
    """A running service whose answers a model writes."""

    def __init__(self, core: Core, url: str, provider: Provider) -> None:
        self.core = core
        self.url = url
        self._provider = provider
        self._policy = provider.policy

    def fresh(self, policy: Policy | None = None) -> None:
        """Forget how the model fared so far, so that no test meets the breaker of another."""
        self._provider.policy = policy or self._policy
        self._provider._breaker = Breaker(self._provider._clock)
        self._provider._last_failure = ""

    def ask(self, way: str, question: str, **more: object) -> ServiceReply:
        """Ask by one contract and read the reply to its end."""
        return ask(self.url, way, question, **more)

    def ask_by_all(self, question: str, **more: object) -> list[ServiceReply]:
        """Ask by all contracts at the same time."""
        with ThreadPoolExecutor(len(WAYS)) as pool:
            return list(pool.map(lambda way: self.ask(way, question, **more), WAYS))


def ask(url: str, way: str, question: str, **more: object) -> ServiceReply:
    """Ask a service by one contract and read the reply to its end."""
    path, name = _PATHS[way]
    began = time.monotonic()
    reply = httpx.post(f"{url}{path}", json={name: question, **more}, timeout=300)
    seconds = time.monotonic() - began
    outcome = ServiceReply(way, reply.status_code, reply.text, reply.headers, seconds)
    if way != "stream" or reply.status_code != 200:
        return ServiceReply(**{**outcome.__dict__, "value": reply.json()})
    events = parse_events(reply.text)
    ends = sum(name in {"done", "error"} for name, _ in events)
    assert events[-1][0] in {"done", "error"}, events
    return ServiceReply(**{**outcome.__dict__, "value": events[-1][1], "terminals": ends})


@contextmanager
def serve_with_model(
    library: Core,
    folder: Path,
    model_url: str,
    policy: Policy = MODEL,
    clock: Callable[[], float] = time.monotonic,
    **settings: Any,
) -> Iterator[ModelService]:
    """Serve a library's books with a model, over real sockets, with records of its own."""
    given = Settings(
        data_dir=library_of(library, folder),
        port=free_port(),
        limit_ip=0,
        limit_session=0,
        llm_base_url=model_url,
        **{"llm_model": MODEL_NAME, "llm_api_key": SecretStr(KEY), **settings},
    )
    # Who counts calls wants none that nobody asked for.
    core = remember(Core(given, ServiceTimes(watch_seconds=3600.0)))
    provider = with_policy(core, policy, clock)
    with serve_core(core) as server:
        yield ModelService(core, server.url, provider)
    core.close()
