"""The two clients: they share how calls are built and read, and differ in how they send."""

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    Callable,
    Coroutine,
    Generator,
)
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx
from pydantic import SecretStr

from bythebook.client import calls
from bythebook.client.calls import Call
from bythebook.client.events import ChatReader
from bythebook.client.failures import error_from_response, retry_after, translate_errors
from bythebook.client.results import ChatEvent
from bythebook.client.streams import AsyncChatStream, ChatStream

P = ParamSpec("P")
T = TypeVar("T")
Sender = httpx.Client | httpx.AsyncClient
SECONDS = 60.0  # without a byte; a stream sends keep-alive comments more often
_LONGEST_PAUSE = 60  # seconds; longer waits are left to the caller
_WORTH_RETRYING = frozenset({429, 503})


class _ClientSettings:
    """The common settings of both clients: address, key and number of retries."""

    def __init__(self, base_url: str, key: str | None, retries: int) -> None:
        if key is not None and not (key and key.isascii() and key.isprintable()):
            raise ValueError("key must be printable ASCII")  # the message must not contain it
        self._base_url = base_url.rstrip("/")
        self._key = SecretStr(key) if key else None
        self._retries = retries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base_url!r})"

    def _build_request(self, sender: Sender, call: Call[Any]) -> httpx.Request:
        headers = {"Accept": "text/event-stream" if call.streams else "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        if call.request_id is not None:
            headers["X-Request-ID"] = str(call.request_id)
        url = self._base_url + call.path
        return sender.build_request(call.method, url, headers=headers, json=call.body)

    def _choose_pause(self, response: httpx.Response, attempt: int) -> int | None:
        """Return the seconds to wait before a retry; None for no retry."""
        seconds = retry_after(response)
        if response.status_code not in _WORTH_RETRYING or attempt >= self._retries:
            return None
        return seconds if seconds is not None and seconds <= _LONGEST_PAUSE else None


def _make_method(build: Callable[P, Call[T]]) -> Callable[Concatenate["Client", P], T]:
    @wraps(build)
    def method(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client.send(build(*args, **kwargs))

    return method


def _make_stream_method(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["Client", P], ChatStream]:
    @wraps(build)
    def method(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> ChatStream:
        return client.stream(build(*args, **kwargs).as_stream())

    return method


def _make_async_method(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    @wraps(build)
    def method(
        client: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]:
        return client.send(build(*args, **kwargs))

    return method


def _make_async_stream_method(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["AsyncClient", P], AsyncChatStream]:
    @wraps(build)
    def method(client: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncChatStream:
        return client.stream(build(*args, **kwargs).as_stream())

    return method


class Client(_ClientSettings):
    """Calls a service and blocks until the response.

    `retries` is how often a 429 or 503 is retried, after the time in Retry-After.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = SECONDS,
        retries: int = 0,
        http: httpx.Client
        | None = None,  # your own client, which keeps its timeout and is not closed
    ) -> None:
        super().__init__(base_url, key, retries)
        self._sender = http or httpx.Client(timeout=timeout)
        self._owns_sender = http is None

    query = _make_method(calls.query)
    rag = _make_method(calls.rag)
    chat = _make_method(calls.chat)
    chat_stream = _make_stream_method(calls.chat)
    history = _make_method(calls.history)
    delete_session = _make_method(calls.delete_session)
    ask = _make_method(calls.ask)
    search = _make_method(calls.search)
    feedback = _make_method(calls.feedback)
    health = _make_method(calls.health)

    def send(self, call: Call[T]) -> T:
        """Send a call and return its result."""
        with translate_errors():
            return call.read(self._open(call).content)

    def stream(self, call: Call[Any]) -> ChatStream:
        """Send a call when the first event is requested, and yield its events as they arrive."""
        return ChatStream(self._events(call))

    def _events(self, call: Call[Any]) -> Generator[ChatEvent, None, None]:
        with translate_errors():
            response = self._open(call)
            try:
                reader = ChatReader(response.headers.get("X-Request-ID"))
                for piece in response.iter_bytes():
                    yield from reader.feed(piece)
                    if reader.ended:
                        return
                reader.close()
            finally:
                response.close()

    def _open(self, call: Call[Any]) -> httpx.Response:
        attempt = 0
        while True:
            request = self._build_request(self._sender, call)
            response = self._sender.send(request, stream=call.streams)
            if response.is_success:
                return response
            try:
                response.read()
            finally:
                response.close()
            pause = self._choose_pause(response, attempt)
            if pause is None:
                raise error_from_response(response)
            time.sleep(pause)
            attempt += 1

    def close(self) -> None:
        """Close the connections."""
        if self._owns_sender:
            self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_ClientSettings):
    """Calls a service asynchronously; otherwise like Client."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = SECONDS,
        retries: int = 0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(base_url, key, retries)
        self._sender = http or httpx.AsyncClient(timeout=timeout)
        self._owns_sender = http is None

    query = _make_async_method(calls.query)
    rag = _make_async_method(calls.rag)
    chat = _make_async_method(calls.chat)
    chat_stream = _make_async_stream_method(calls.chat)
    history = _make_async_method(calls.history)
    delete_session = _make_async_method(calls.delete_session)
    ask = _make_async_method(calls.ask)
    search = _make_async_method(calls.search)
    feedback = _make_async_method(calls.feedback)
    health = _make_async_method(calls.health)

    async def send(self, call: Call[T]) -> T:
        """Send a call and return its result."""
        with translate_errors():
            return call.read((await self._open(call)).content)

    def stream(self, call: Call[Any]) -> AsyncChatStream:
        """Send a call when the first event is requested, and yield its events as they arrive."""
        return AsyncChatStream(self._events(call))

    async def _events(self, call: Call[Any]) -> AsyncGenerator[ChatEvent, None]:
        with translate_errors():
            response = await self._open(call)
            try:
                reader = ChatReader(response.headers.get("X-Request-ID"))
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event
                    if reader.ended:
                        return
                reader.close()
            finally:
                await response.aclose()

    async def _open(self, call: Call[Any]) -> httpx.Response:
        attempt = 0
        while True:
            request = self._build_request(self._sender, call)
            response = await self._sender.send(request, stream=call.streams)
            if response.is_success:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
            pause = self._choose_pause(response, attempt)
            if pause is None:
                raise error_from_response(response)
            await asyncio.sleep(pause)
            attempt += 1

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owns_sender:
            await self._sender.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
