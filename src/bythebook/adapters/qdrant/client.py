"""One client of a Qdrant server, in its own event loop, shared by all threads and loops."""

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

from bythebook.adapters.providers.connection import is_this_machine
from bythebook.adapters.providers.resilience import STORE, Policy, Provider
from bythebook.adapters.providers.vendor_errors import Vendor, make_error, translate_errors
from bythebook.errors import InputError, StoreFailed

_log = logging.getLogger("bythebook.qdrant")
_KEPT_CONNECTIONS = 16
_PROBE_NAME = "bythebook"  # for health checks; no collection of ours has this name
_VENDOR = Vendor(
    "The Qdrant server",
    StoreFailed,
    key_setting="BYTHEBOOK_QDRANT_API_KEY",
    url_setting="BYTHEBOOK_QDRANT_URL",
)
T = TypeVar("T")


class MissingCollection(StoreFailed):
    """The server works but has no such collection."""

    retryable = False


class SharedQdrantClient:
    """Sends requests to one server; connects on the first request, and again after `close`.

    Ingest calls from threads and each command from its own loop, but connections and the breaker
    belong to a single loop, so that loop runs in a dedicated thread.
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
    def for_url(cls, url: str, api_key: str = "", policy: Policy = STORE) -> "SharedQdrantClient":
        """Make a client for an address; nothing is sent before the first request."""
        _require_address(url)
        if api_key and _is_unencrypted(url):
            _log.warning("the key of the Qdrant server is sent unencrypted: use https")

        def connect() -> AsyncQdrantClient:
            return AsyncQdrantClient(
                url=url,
                prefer_grpc=False,
                check_compatibility=False,  # it would call the server from a thread
                timeout=math.ceil(policy.timeout) + 1,  # so that the policy's timeout comes first
                headers={"api-key": api_key} if api_key else None,
                limits=httpx.Limits(max_keepalive_connections=_KEPT_CONNECTIONS),
                trust_env=not is_this_machine(url),  # no proxy for this machine
            )

        return cls(connect, Provider(_VENDOR.name, StoreFailed, policy))

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work in the client's loop, for a caller in any event loop."""
        return await asyncio.wrap_future(self._begin(work))

    def run_blocking(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work in the client's loop, for a caller in any thread."""
        return self._begin(work).result()

    async def request(self, what: str, send: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        """Make a request, with retries by the policy; only call it inside the client's loop.

        `what` completes "was asked to ...".
        """
        if self._client is None:
            self._client = self._connect()
        client = self._client

        async def attempt() -> T:
            with _translate_errors():
                return await send(client)

        return await self._provider.call(what, attempt)

    async def check(self) -> None:
        """Raise StoreFailed if the server does not answer or rejects the key."""
        await self.run(
            self.request("say what it has", lambda client: client.collection_exists(_PROBE_NAME))
        )

    def close(self) -> None:
        """Close all connections and stop the thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._close_client(), loop).result()
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

    async def _close_client(self) -> None:
        client, self._client = self._client, None
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if client is not None:
            await client.close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn vendor errors into ours, those specific to Qdrant first."""
    with translate_errors(_VENDOR):
        try:
            yield
        except ResourceExhaustedResponse as error:
            raise make_error(_VENDOR, "rate", status=429, wait=error.retry_after_s) from None
        except UnexpectedResponse as error:
            if known := _read_qdrant_error(error):
                raise known from None
            raise


def _read_qdrant_error(error: UnexpectedResponse) -> StoreFailed | None:
    """Recognize errors of Qdrant itself; a 404 may also come from a server that is not Qdrant."""
    if error.status_code == 404 and _is_qdrant_body(error.content):
        return MissingCollection("The Qdrant server has no such collection.")
    if error.status_code in {400, 422}:
        rejected = StoreFailed(
            f"The Qdrant server rejects the request (HTTP {error.status_code}).",
            "See its log; ByTheBook needs Qdrant 1.10 or newer.",
        )
        rejected.retryable = False
        return rejected
    return None


def _is_qdrant_body(body: bytes) -> bool:
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
        "The address of the Qdrant server is not a web address.",
        "Write BYTHEBOOK_QDRANT_URL as http://host:6333 or https://host:6333, or unset it.",
    ) from None


def _is_unencrypted(url: str) -> bool:
    return urlsplit(url).scheme == "http" and not is_this_machine(url)
