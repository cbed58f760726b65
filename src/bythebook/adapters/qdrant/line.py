"""The line to a Qdrant server: one client in an event loop of its own, open to every thread and loop."""

import asyncio
import json
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import UnexpectedResponse

from bythebook.adapters.providers.connection import is_here
from bythebook.adapters.providers.resilience import STORE, Policy, Provider
from bythebook.adapters.providers.vendor_errors import Vendor, failure, told_as_ours
from bythebook.errors import InputError, StoreFailed

_log = logging.getLogger("bythebook.qdrant")
_KEPT_CONNECTIONS = 16
_ANY = "bythebook"  # a name to ask about; no collection of ours has it
_VENDOR = Vendor(
    "The Qdrant server",
    StoreFailed,
    key_setting="BYTHEBOOK_QDRANT_API_KEY",
    url_setting="BYTHEBOOK_QDRANT_URL",
)
T = TypeVar("T")


class MissingCollection(StoreFailed):
    """The server is well and has no such collection."""

    retryable = False


class QdrantLine:
    """Carries requests to one server; opened by the first of them, and again after it was closed.

    Ingest asks from threads and every command from a loop of its own, but connections and the
    breaker belong to one loop: so there is one, in a thread that does nothing else.
    """

    def __init__(
        self, connect: Callable[[], AsyncQdrantClient], provider: Provider | None = None
    ) -> None:
        self._connect = connect
        self._provider = provider or Provider(_VENDOR.name, StoreFailed, STORE)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: AsyncQdrantClient | None = None

    @classmethod
    def to(cls, url: str, api_key: str = "", policy: Policy = STORE) -> "QdrantLine":
        """Lay a line to an address; nothing is looked up before the first request."""
        _require_address(url)
        if api_key and _travels_openly(url):
            _log.warning("the key of the Qdrant server travels unencrypted: use https")

        def connect() -> AsyncQdrantClient:
            return AsyncQdrantClient(
                url=url,
                prefer_grpc=False,
                check_compatibility=False,  # would ask the server in a thread, unasked
                timeout=math.ceil(policy.timeout) + 1,  # the policy's own comes first
                headers={"api-key": api_key} if api_key else None,
                limits=httpx.Limits(max_keepalive_connections=_KEPT_CONNECTIONS),
                trust_env=not is_here(url),  # what is on this machine is reached by no proxy
            )

        return cls(connect, Provider(_VENDOR.name, StoreFailed, policy))

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work on the line, for a caller in any event loop."""
        return await asyncio.wrap_future(self._begin(work))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work on the line, for a caller in any thread."""
        return self._begin(work).result()

    async def ask(self, what: str, request: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        """Make a request, again if the policy says so; called by work on the line.

        `what` completes "was asked to ...".
        """
        if self._client is None:
            self._client = self._connect()
        client = self._client

        async def attempt() -> T:
            with _told_as_ours():
                return await request(client)

        return await self._provider.call(what, attempt)

    async def check(self) -> None:
        """Raise StoreFailed if the server does not answer, or not to this key."""
        await self.run(self.ask("say what it has", lambda it: it.collection_exists(_ANY)))

    def close(self) -> None:
        """Close every connection, and end the thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._hang_up(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="qdrant", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _hang_up(self) -> None:
        client, self._client = self._client, None
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if client is not None:
            await client.close()


@contextmanager
def _told_as_ours() -> Iterator[None]:
    """Turn what the client raises into our errors, first what only Qdrant says."""
    with told_as_ours(_VENDOR):
        try:
            yield
        except ResourceExhaustedResponse as error:
            raise failure(_VENDOR, "rate", status=429, wait=error.retry_after_s) from None
        except UnexpectedResponse as error:
            if told := _qdrants_own(error):
                raise told from None
            raise


def _qdrants_own(error: UnexpectedResponse) -> StoreFailed | None:
    """Tell a server's "no such collection" from an address where there is no Qdrant at all."""
    if error.status_code == 404 and _is_of_qdrant(error.content):
        return MissingCollection("The Qdrant server has no such collection.")
    if error.status_code in {400, 422}:
        told = StoreFailed(
            f"The Qdrant server does not take the request (HTTP {error.status_code}).",
            "See its log; ByTheBook needs Qdrant 1.10 or newer.",
        )
        told.retryable = False
        return told
    return None


def _is_of_qdrant(body: bytes) -> bool:
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and {"status", "time"} <= answer.keys()


def _require_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return
    except ValueError:
        pass
    raise InputError(
        "The address of the Qdrant server is no web address.",
        "Write BYTHEBOOK_QDRANT_URL as http://host:6333 or https://host:6333, or unset it.",
    ) from None


def _travels_openly(url: str) -> bool:
    return urlsplit(url).scheme == "http" and not is_here(url)
